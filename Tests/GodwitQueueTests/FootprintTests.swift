import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

@testable import GodwitQueue

/// What touches the same has an order, and nothing else waits.
@Suite struct FootprintTests {
    @Test func `the seed's example: delete, create, rename, create inside`() async throws {
        let needs = try await Workbench.needs(
            .deleteTree("/foo"),
            .makeFolder("/foo"),
            .move("/foo", to: "/moo"),
            .put("/moo/cow", content: 1)
        )
        #expect(needs == [[], [0], [1], [2]])
    }

    @Test func `a descendant waits for its ancestor, and a stranger for nobody`() async throws {
        let needs = try await Workbench.needs(
            .makeFolder("/foo"),
            .makeFolder("/foo/bar"),
            .put("/foo/bar/buzz", content: 1),
            .put("/quack", content: 2)
        )
        #expect(needs == [[], [0], [1], []])
    }

    @Test func `a row of renames is done in a row`() async throws {
        let needs = try await Workbench.needs(.move("/a", to: "/b"), .move("/b", to: "/c"))
        #expect(needs == [[], [0]])
    }

    @Test func `what was moved out of a folder is out before the folder is deleted`()
        async throws
    {
        let needs = try await Workbench.needs(
            .put("/f/x", content: 1),
            .put("/f/y", content: 2),
            .move("/f/x", to: "/x"),
            .deleteTree("/f")
        )
        #expect(needs == [[], [], [0], [1, 2]])
    }

    @Test func `names that are left and taken again are left before they are taken`() async throws {
        let edited = try await Workbench.needs(
            .put("/a", content: 1),
            .move("/a", to: "/b"),
            .put("/b", content: 2)
        )
        #expect(edited == [[], [0], [1]])
        let vacated = try await Workbench.needs(.move("/x", to: "/z"), .move("/y", to: "/x"))
        #expect(vacated == [[], [0]])
        let reused = try await Workbench.needs(
            .move("/a", to: "/b"),
            .move("/b", to: "/c"),
            .put("/b", content: 1)
        )
        #expect(reused == [[], [0], [1]])
        let swapped = try await Workbench.needs(
            .move("/a", to: "/t"),
            .move("/b", to: "/a"),
            .move("/t", to: "/b")
        )
        #expect(swapped == [[], [0], [1]])
        let deleted = try await Workbench.needs(.delete("/f/x"), .delete("/f"), .makeFolder("/f"))
        #expect(deleted == [[], [0], [1]])
    }

    @Test func `a thousand edits of one file are a chain, each waiting for the one before it`()
        async throws
    {
        let bench = try Workbench()
        _ = try bench.queue(order: .flat)
        for content in 0..<1_000 {
            try await bench.store.write {
                try $0.enqueue(ChangeTree(change: .put("/a", content: content)))
            }
        }
        let edges = try await bench.store.read { try $0.rowCount(of: "godwit_dependency") }
        #expect(edges == 999)
    }

    @Test func `when one steps out of the chain, the next one waits for the one before it`()
        async throws
    {
        let bench = try Workbench()
        _ = try bench.queue(order: .flat)
        let ids = try await bench.store.write { transaction in
            try (0..<3).map { content in
                try transaction.enqueue(ChangeTree(change: .put("/a", content: content)))
            }
        }
        try await bench.store.write { try $0.skipOperation(ids[1]) }
        let after = try await bench.store.write { transaction in
            try transaction.enqueue(ChangeTree(change: .put("/a", content: 3)))
        }
        let found = try await bench.store.read { transaction in
            [try transaction.dependencies(of: ids[2]), try transaction.dependencies(of: after)]
        }
        #expect(found == [[ids[0]], [ids[2]]])
        try await bench.store.write { transaction in
            _ = try transaction.skipOperations { _ in true }
        }
        #expect(try await bench.store.footprintsAreForgotten)
    }

    /// Touches as many things as it says.
    private struct Batch: PushOperation {
        static let kind = "batch"
        let count: Int
        var footprint: Footprint {
            var footprint = Footprint()
            for number in 0..<count { footprint.touch("\(number)", .write) }
            return footprint
        }
    }

    @Test func `an operation that touches very much leaves in a time that grows with it`()
        async throws
    {
        let bench = try Workbench()
        _ = try bench.queue(order: .flat)
        let first = try await bench.store.write { try $0.enqueue(Batch(count: 8_000)) }
        var seconds: [Int: Double] = [:]
        for count in [2_000, 8_000, 2_000, 8_000] {
            let id = try await bench.store.write { try $0.enqueue(Batch(count: count)) }
            let taken = try await bench.store.write { transaction in
                try CostRatio.cpuSeconds { try transaction.skipOperation(id) }
            }
            seconds[count] = min(taken, seconds[count] ?? .infinity)
        }
        let (small, large) = (seconds[2_000] ?? 0, seconds[8_000] ?? 0)
        #expect(large < CostRatio.fourfoldMax * small, "\(small) and \(large) s")
        let after = try await bench.store.write { try $0.enqueue(Batch(count: 1)) }
        #expect(try await bench.store.read { try $0.dependencies(of: after) } == [first])
    }

    @Test func `a rule of the app's gives an order that no footprint has`() async throws {
        struct Charge: PushOperation {
            static let kind = "charge"
            let account: String
        }
        let bench = try Workbench()
        var pipeline = bench.cloud.pipeline(order: .flat)
        pipeline.rules = [
            DependencyRule(for: Charge.self) { .resource($0.account) },
            DependencyRule { _, operation in
                operation.userInfo == .bool(true) ? .resource("audit") : .none
            },
        ]
        _ = try bench.queue([pipeline])
        let ids = try await bench.store.write { transaction in
            [
                try transaction.enqueue(Charge(account: "ann")),
                try transaction.enqueue(Charge(account: "bob"), Placement(userInfo: .bool(true))),
                try transaction.enqueue(Charge(account: "ann")),
                try transaction.enqueue(Upload(name: "a"), Placement(userInfo: .bool(true))),
                try transaction.enqueue(Upload(name: "b")),
            ]
        }
        let needs = try await bench.store.read { transaction in
            try ids.map { try transaction.dependencies(of: $0) }
        }
        #expect(needs == [[], [], [ids[0]], [ids[1]], []])
        // A changed operation falls under its rules anew.
        try await bench.store.write { transaction in
            try transaction.modifyOperation(ids[2]) { try $0.replace(with: Charge(account: "bob")) }
        }
        let changed = try await bench.store.read { try $0.dependencies(of: ids[2]) }
        #expect(changed == [ids[1]])
    }

    @Test func `what the app has asked for besides does not weaken what both touch`()
        async throws
    {
        let bench = try Workbench()
        _ = try bench.queue(order: .flat)
        let put = ChangeTree(change: .put("/x", content: 1))
        let ids = try await bench.store.write { transaction in
            let first = try transaction.enqueue(put)
            let second = try transaction.enqueue(put)
            let third = try transaction.enqueue(put, after: [second])
            return [first, second, third]
        }
        try await bench.store.write { try $0.modifyOperation(ids[2]) { $0.dependencies = [] } }
        let still = try await bench.store.read { try $0.dependencies(of: ids[2]) }
        #expect(still == [ids[1]], "the file is still written in a row")
        try await bench.store.write { transaction in
            try transaction.modifyOperation(ids[2]) { $0.dependencies = [.on(ids[1])] }
            try transaction.skipOperation(ids[1])
        }
        let passed = try await bench.store.read { try $0.dependencies(of: ids[2]) }
        #expect(passed == [ids[0]])
    }

    @Test func `any order that the dependencies allow leaves the tree that serial order leaves`()
        async throws
    {
        for seed in 0..<UInt64(300 * Soak.factor) {
            var random = Seeded(seed: seed)
            let changes = (0..<10).map { _ in TreeChange.random(using: &random) }
            let work = changes.map(ChangeTree.init)
            let skipped = random.happens(0.3) ? 4 : nil
            let needs = try await graph(of: work, skipping: skipped)
            if skipped == nil { #expect(Self.isReduced(needs), "seed \(seed): \(needs)") }
            var expected = PathCloud()
            for (place, change) in changes.enumerated() where needs[place] != nil {
                expected.apply(change)
            }
            for _ in 0..<10 {
                var cloud = PathCloud()
                for place in Self.order(needs, using: &random) { cloud.apply(changes[place]) }
                #expect(cloud == expected, "seed \(seed): \(changes)")
            }
        }
    }

    /// Who waits for whom, by place; one that was skipped is not there.
    private func graph(
        of work: [some PushOperation],
        skipping skipped: Int?
    ) async throws -> [Int: Set<Int>] {
        let bench = try Workbench()
        _ = try bench.queue(order: .flat)
        let ids = try await bench.store.write { transaction in
            try work.map { try transaction.enqueue($0) }
        }
        if let skipped { try await bench.store.write { try $0.skipOperation(ids[skipped]) } }
        let found = try await bench.store.read { transaction in
            try ids.map { try transaction.dependencies(of: $0) }
        }
        try bench.store.close()
        var needs: [Int: Set<Int>] = [:]
        for place in work.indices where place != skipped {
            needs[place] = Set(found[place].compactMap { ids.firstIndex(of: $0) })
        }
        return needs
    }

    @Test func `the same holds for a cloud whose things keep their identity`() async throws {
        for seed in 0..<UInt64(300 * Soak.factor) {
            var random = Seeded(seed: seed)
            var expected = IdentityCloud()
            var changes: [NodeChange] = []
            while changes.count < 12 {
                let change = expected.randomChange(changes.count, using: &random)
                if expected.apply(change) { changes.append(change) }
            }
            let needs = try await graph(of: changes.map(ChangeNode.init), skipping: nil)
            #expect(Self.isReduced(needs), "seed \(seed): \(needs)")
            for _ in 0..<10 {
                var cloud = IdentityCloud()
                for place in Self.order(needs, using: &random) {
                    let isDone = cloud.apply(changes[place])
                    #expect(isDone, "seed \(seed): \(changes[place]) of \(changes)")
                }
                #expect(cloud == expected, "seed \(seed): \(changes)")
            }
        }
    }

    /// Whether no edge follows from others.
    private static func isReduced(_ graph: [Int: Set<Int>]) -> Bool {
        func reach(_ place: Int) -> Set<Int> {
            (graph[place] ?? []).reduce(into: []) { $0.formUnion(reach($1).union([$1])) }
        }
        return graph.values.allSatisfy { needs in
            needs.allSatisfy { need in !needs.contains { reach($0).contains(need) } }
        }
    }

    private static func order(_ graph: [Int: Set<Int>], using random: inout Seeded) -> [Int] {
        var (left, order) = (graph, [Int]())
        while !left.isEmpty {
            let ready = left.keys.filter { place in
                left[place]?.allSatisfy { left[$0] == nil } ?? false
            }.sorted()
            guard let next = ready.randomElement(using: &random) else { break }
            order.append(next)
            left[next] = nil
        }
        return order
    }
}
