import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

@testable import GodwitQueue

/// The order that footprints give operations of several pipelines, in commit order and without.
@Suite(.timeLimit(.minutes(Soak.minutesMax))) struct FootprintOrderTests {
    private struct Put: PushOperation {
        static let kind = "put"
        var path = "/a"
        var isTree = false
        var footprint: Footprint {
            isTree ? .deleteTree(RemotePath(path)) : .put(RemotePath(path))
        }
    }

    private static let ordered = "ordered"
    private static let flat = "flat"

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func pipelines(_ order: Pipeline.Order = .commit) -> [Pipeline] {
        [Pipeline(Self.ordered, order: order), Pipeline(Self.flat, order: .flat)]
    }

    private func enqueue(
        _ pipeline: String,
        _ path: String = "/a",
        after dependencies: [Dependency] = [],
        in store: Store
    ) async throws -> OperationID {
        try await store.write { transaction in
            let placement = Placement(pipeline: pipeline, dependencies: dependencies)
            return try transaction.enqueue(Put(path: path), placement)
        }
    }

    private func reach(_ id: OperationID, in store: Store) async throws -> Set<OperationID> {
        Set(try await store.read { try $0.recursiveDependencies(of: id) })
    }

    private func needs(_ id: OperationID, in store: Store) async throws -> Set<OperationID> {
        Set(try await store.read { try $0.dependencies(of: id) })
    }

    // MARK: Several pipelines

    @Test(arguments: ["skipped", "changed", "refused"], [false, true])
    func `in commit order, one that leaves passes on what it waited for elsewhere`(
        way: String,
        isForgotten: Bool
    ) async throws {
        let store = try Store(.memory)
        let queue = try PushQueue(store, pipelines: pipelines())
        let first = try await enqueue(Self.flat, in: store)
        let cause = try await enqueue(Self.flat, "/cause", in: store)
        let middle = try await enqueue(
            Self.ordered,
            after: [.on(cause, otherwise: .fail)],
            in: store
        )
        if isForgotten { try await store.write { $0.footprints().forget() } }
        let last = try await enqueue(Self.ordered, in: store)
        try await store.write { transaction in
            switch way {
            case "skipped": try transaction.skipOperation(middle)
            case "changed":
                _ = try transaction.modifyOperation(middle) {
                    try $0.replace(with: Put(path: "/b"))
                }
            default: _ = try transaction.skipOperation(cause)
            }
        }
        #expect(try await reach(last, in: store).contains(first))
        withExtendedLifetime(queue) {}
    }

    @Test func `a request that fails leaves what commit order alone keeps apart`() async throws {
        struct Refusal: Error {}
        let store = try Store(.memory)
        let queue = try PushQueue(store, pipelines: pipelines())
        let first = try await enqueue(Self.ordered, in: store)
        let middle = try await enqueue(Self.ordered, in: store)
        let last = try await enqueue(Self.flat, in: store)
        await #expect(throws: Refusal.self) {
            try await store.write { transaction in
                try transaction.skipOperation(middle)
                throw Refusal()
            }
        }
        _ = try await store.write { try $0.skipOperation(middle) }
        #expect(try await needs(last, in: store) == [first])
        withExtendedLifetime(queue) {}
    }

    @Test func `whatever happens in two pipelines, what touches one path is done in a row`()
        async throws
    {
        struct Refusal: Error {}
        for seed in 0..<UInt64(150 * Soak.factor) {
            var random = Seeded(seed: seed)
            let store = try Store(.memory)
            let queue = try PushQueue(store, pipelines: pipelines())
            var known: [(id: OperationID, pipeline: String, path: String)] = []
            for _ in 0..<14 {
                let path = random.happens(0.5) ? "/a" : "/b"
                let place = known.indices.randomElement(using: &random)
                switch Int.random(in: 0..<7, using: &random) {
                case 0 where place != nil:
                    let id = known.remove(at: place ?? 0).id
                    _ = try await store.write { try $0.skipOperation(id) }
                case 1 where place != nil:
                    let id = known[place ?? 0].id
                    known[place ?? 0].path = path
                    try await store.write { transaction in
                        _ = try transaction.modifyOperation(id) {
                            try $0.replace(with: Put(path: path))
                        }
                    }
                case 2 where place != nil:
                    let id = known[place ?? 0].id
                    let isSkipped = random.happens(0.5)
                    await #expect(throws: Refusal.self) {
                        try await store.write { transaction in
                            try transaction.enqueue(Put(path: path))
                            if isSkipped {
                                _ = try transaction.skipOperation(id)
                            } else {
                                _ = try transaction.modifyOperation(id) {
                                    try $0.replace(with: Put(path: path))
                                }
                            }
                            throw Refusal()
                        }
                    }
                case 3 where random.happens(0.3):
                    try await store.write { $0.footprints().forget() }
                default:
                    let pipeline = random.happens(0.6) ? Self.ordered : Self.flat
                    known.append((try await enqueue(pipeline, path, in: store), pipeline, path))
                }
                try await check(known, "seed \(seed)", in: store)
            }
            withExtendedLifetime(queue) {}
        }
    }

    /// Expects a way from each operation to each earlier one on its path; commits make ways, too.
    private func check(
        _ known: [(id: OperationID, pipeline: String, path: String)],
        _ comment: Comment,
        in store: Store
    ) async throws {
        var reach: [Set<OperationID>] = []
        for (place, own) in known.enumerated() {
            var before = try await needs(own.id, in: store)
            if own.pipeline == Self.ordered {
                before.formUnion(known[..<place].filter { $0.pipeline == own.pipeline }.map(\.id))
            }
            var all = before
            for (earlier, other) in known[..<place].enumerated() where before.contains(other.id) {
                all.formUnion(reach[earlier])
            }
            reach.append(all)
            for (earlier, other) in known[..<place].enumerated() where other.path == own.path {
                let isThere = all.contains(other.id)
                #expect(isThere, "\(comment): \(place) does not come after \(earlier)")
            }
        }
    }

    // MARK: Another order in the next version

    @Test func `what waits for a later commit in flat order ends in commit order, too`()
        async throws
    {
        let path = folder.path("store.sqlite")
        var store = try Store(.file(path))
        var queue = try PushQueue(store, pipelines: pipelines(.flat))
        let first = try await enqueue(Self.ordered, "/1", in: store)
        let other = try await enqueue(Self.flat, "/2", in: store)
        let last = try await enqueue(Self.ordered, "/3", in: store)
        try await store.write { transaction in
            _ = try transaction.modifyOperation(other) { $0.addDependency(.on(last)) }
            _ = try transaction.modifyOperation(first) { $0.addDependency(.on(other)) }
        }
        try store.close()
        store = try Store(.file(path))
        let new = pipelines().map { $0.on(Put.self) { _, _ in .completed } }
        queue = try PushQueue(store, pipelines: new)
        try await queue.running {
            for id in [first, other, last] {
                let result = try await queue.result(of: id)
                #expect(result == .completed)
            }
        }
        try store.close()
    }

    @Test func `what came after two that change places in commit order still does`() async throws {
        let path = folder.path("store.sqlite")
        var store = try Store(.file(path))
        var queue = try PushQueue(store, pipelines: pipelines(.flat))
        let first = try await enqueue(Self.ordered, "/1", in: store)
        let second = try await enqueue(Self.ordered, "/a", in: store)
        // It is to come after the second one from now on: that runs, for instance.
        try await store.write { transaction in
            let numbers = try [first, second].map { id in
                let number = try OperationTable.number(of: id, in: transaction.connection)
                return try #require(number)
            }
            try transaction.connect(numbers[0], to: numbers[1], .wait, origin: .footprint)
        }
        let last = try await enqueue(Self.flat, "/1", in: store)
        #expect(try await reach(last, in: store) == [first, second])
        try store.close()
        store = try Store(.file(path))
        queue = try PushQueue(store, pipelines: pipelines())
        try await queue.running {
            try await queue.statuses(of: last).reaches { !$0.reasons.isEmpty }
            #expect(try await needs(first, in: store) == [])
            #expect(try await needs(last, in: store) == [first, second])
        }
        try store.close()
    }

    @Test func `one that keeps an earlier version's order has one with a new operation`()
        async throws
    {
        let path = folder.path("store.sqlite")
        var store = try Store(.file(path))
        var queue = try PushQueue(store, pipelines: pipelines(.commit))
        let old = try await enqueue(Self.ordered, "/a", in: store)
        try store.close()
        store = try Store(.file(path))
        queue = try PushQueue(store, pipelines: pipelines(.flat))
        try await queue.running {
            // It has the lease as soon as it says why the operation waits.
            try await queue.statuses(of: old).reaches { !$0.reasons.contains(.none) }
            let new = try await enqueue(Self.ordered, "/b", in: store)
            try await store.write { transaction in
                _ = try transaction.modifyOperation(old) { try $0.replace(with: Put(path: "/b")) }
            }
            let reaches = (try await needs(old, in: store), try await needs(new, in: store))
            #expect(reaches.0 == [new] || reaches.1 == [old])
        }
        try store.close()
    }

    // MARK: Dead letters

    @Test(arguments: [false, true])
    func `what the app lets run beside a dead letter does not hide it from others`(
        isRefusedBefore: Bool
    ) async throws {
        let store = try Store(.memory)
        let queue = try PushQueue(store, pipelines: pipelines())
        let dead = try await enqueue(Self.flat, in: store)
        func refuse() async throws {
            try await store.write { transaction in
                let number = try OperationTable.number(of: dead, in: transaction.connection)
                try transaction.refuse(try #require(number), reason: "no")
            }
        }
        if isRefusedBefore { try await refuse() }
        let beside = try await enqueue(
            Self.flat,
            after: [.on(dead, otherwise: .ignore)],
            in: store
        )
        if !isRefusedBefore { try await refuse() }
        #expect(try await needs(beside, in: store) == [], "it runs all the same")
        for isForgotten in [false, true] {
            if isForgotten { try await store.write { $0.footprints().forget() } }
            let later = try await enqueue(Self.flat, in: store)
            #expect(try await reach(later, in: store).isSuperset(of: [dead, beside]))
        }
        // A dependency that comes later frees one that waits for the dead letter.
        let waiting = try await enqueue(Self.flat, in: store)
        try await store.write { transaction in
            _ = try transaction.modifyOperation(waiting) {
                $0.addDependency(.on(dead, otherwise: .ignore))
            }
        }
        #expect(try await !needs(waiting, in: store).contains(dead))
        withExtendedLifetime(queue) {}
    }

    // MARK: What runs

    @Test func `a change of one that runs leaves its attempt alone on its path`() async throws {
        let store = try Store(.memory)
        let (starts, start) = AsyncStream.makeStream(of: Void.self)
        let pipeline = Pipeline(order: .flat).on(Put.self) { _, _ in
            start.finish()
            // Until it is cancelled.
            for await _ in AsyncStream.makeStream(of: Never.self).stream {}
            throw CancellationError()
        }
        let queue = try PushQueue(store, pipelines: [pipeline])
        try await queue.running {
            let running = try await store.write { try $0.enqueue(Put(path: "/a")) }
            for await _ in starts {}
            try await store.write { transaction in
                _ = try transaction.modifyOperation(running) {
                    try $0.replace(with: Put(path: "/b"))
                }
            }
            for path in ["/a", "/b"] {
                let next = try await store.write { try $0.enqueue(Put(path: path)) }
                #expect(try await needs(next, in: store) == [running], "\(path)")
            }
        }
    }

    // MARK: Costs

    @Test func `skipping many costs as much for each as skipping few`() async throws {
        func notes(_ count: Int) async throws -> Int {
            let store = try Store(.memory)
            let queue = try PushQueue(store, pipelines: pipelines())
            try await store.write { transaction in
                let placement = Placement(pipeline: Self.flat)
                try transaction.enqueue(Put(path: "/f"), placement)
                for number in 0..<count {
                    try transaction.enqueue(Put(path: "/f/\(number)"), placement)
                }
                try transaction.enqueue(Put(path: "/f", isTree: true), placement)
            }
            let noted = try await store.write { transaction in
                try transaction.skipOperations { operation in
                    try operation.decoded(as: Put.self).path.hasPrefix("/f/")
                }
                return try transaction.journal().update(in: transaction) { draft in
                    draft.entry.changes.reduce(0) { sum, change in
                        guard case .needsChanged(_, let needs) = change else { return sum }
                        return sum + needs.count
                    } + draft.heirs.count
                }
            }
            withExtendedLifetime(queue) {}
            return noted
        }
        let (few, many) = (try await notes(10), try await notes(100))
        #expect(many <= 20 * few, "\(few), \(many)")
        #expect(many <= 200)
    }

    // MARK: Names

    @Test func `paths are as equal as the order of what touches them says`() async throws {
        let (composed, decomposed) = (RemotePath("/caf\u{e9}"), RemotePath("/cafe\u{301}"))
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed, RemotePath("/caf\u{e9}")]).count == 2)
        let move = Footprint.move(decomposed, to: composed)
        #expect(move.rows(for: nil).count == 3, "both paths, and their folder")
    }

    // MARK: Commits

    @Test func `a commit of which only a dead letter is left is not joined`() async throws {
        let store = try Store(.memory)
        let queue = try PushQueue(store, pipelines: pipelines())
        let (dead, commit) = try await store.write { transaction in
            let id = try transaction.enqueue(Put(), Placement(pipeline: Self.ordered))
            return (id, transaction.commit)
        }
        try await store.write { transaction in
            let number = try OperationTable.number(of: dead, in: transaction.connection)
            try transaction.refuse(try #require(number), reason: "no")
        }
        let next = try await enqueue(Self.ordered, in: store)
        let joining = try await store.write { transaction in
            var placement = Placement(pipeline: Self.ordered)
            placement.commit = commit
            return try transaction.enqueue(Put(), placement)
        }
        let commits = try await store.read { transaction in
            try [next, joining].map { try transaction.operation($0)?.commit }
        }
        let (nextCommit, joiningCommit) = (try #require(commits[0]), try #require(commits[1]))
        #expect(nextCommit < joiningCommit)
        withExtendedLifetime(queue) {}
    }
}
