import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

@testable import GodwitQueue

/// Pipelines that have another order than the one that their operations were enqueued in.
@Suite(.timeLimit(.minutes(Soak.minutesMax))) struct CommitOrderTests: TwoPipelineSuite {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test func `a queue that comes with an order counts for what was enqueued before it`()
        async throws
    {
        let store = try Store(.memory)
        let first = try await enqueue(Self.flat, in: store)
        let middle = try await enqueue(Self.ordered, in: store)
        let queue = try PushQueue(store, pipelines: pipelines())
        let last = try await enqueue(Self.ordered, in: store)
        _ = try await store.write { try $0.skipOperation(middle) }
        #expect(try await reach(last, in: store).contains(first))
        withExtendedLifetime(queue) {}
    }

    private struct Touching: PushOperation {
        static let kind = "touching"
        let paths: [String]
        var ahead: [String] = []
        var behind: [String] = []
        var footprint: Footprint {
            var footprint = paths.map { Footprint.resource($0) }.reduce(.none, +)
            for name in ahead { footprint.touch(name, .ahead) }
            for name in behind { footprint.touch(name, .behind) }
            return footprint
        }
    }

    @Test func `what came after two through one of their own pipeline still does`() async throws {
        let path = folder.path("store.sqlite")
        var store = try Store(.file(path))
        var queue = try PushQueue(store, pipelines: pipelines(.flat))
        func enqueue(_ work: Touching, _ pipeline: String) async throws -> OperationID {
            try await store.write { try $0.enqueue(work, Placement(pipeline: pipeline)) }
        }
        _ = try await enqueue(Touching(paths: ["f"]), Self.flat)
        _ = try await enqueue(Touching(paths: ["o"], behind: ["u"]), Self.ordered)
        _ = try await enqueue(Touching(paths: ["o", "h"]), Self.ordered)
        let ahead = try await enqueue(Touching(paths: ["n"], ahead: ["u"]), Self.ordered)
        let last = try await enqueue(Touching(paths: ["f", "h", "n"]), Self.flat)
        #expect(try await reach(last, in: store).contains(ahead))
        try store.close()
        store = try Store(.file(path))
        queue = try PushQueue(store, pipelines: pipelines())
        try await queue.running {
            try await queue.statuses(of: last).reaches { !$0.reasons.isEmpty }
            #expect(try await reach(last, in: store).contains(ahead))
        }
        try store.close()
    }

    @Test func `two that wait for one against the order keep their place, whatever else is`()
        async throws
    {
        let path = folder.path("store.sqlite")
        var store = try Store(.file(path))
        var queue = try PushQueue(store, pipelines: pipelines(.flat))
        func enqueue(
            _ paths: [String],
            joining commit: CommitNumber? = nil
        ) async throws -> (OperationID, CommitNumber) {
            try await store.write { transaction in
                var placement = Placement(pipeline: Self.ordered)
                placement.commit = commit
                let id = try transaction.enqueue(Touching(paths: paths), placement)
                return (id, transaction.commit)
            }
        }
        let (_, firstCommit) = try await enqueue(["z"])
        let (second, secondCommit) = try await enqueue(["x"])
        _ = try await enqueue(["y"])
        _ = try await enqueue(["x"], joining: firstCommit)
        let (last, _) = try await enqueue(["x", "y"], joining: secondCommit)
        #expect(try await reach(last, in: store).contains(second))
        try store.close()
        store = try Store(.file(path))
        queue = try PushQueue(store, pipelines: pipelines())
        try await queue.running {
            try await queue.statuses(of: last).reaches { !$0.reasons.isEmpty }
            #expect(try await needs(last, in: store).contains(second))
        }
        try store.close()
    }

    @Test func `a dead letter is not in a circle when its turn comes again`() async throws {
        let path = folder.path("store.sqlite")
        var store = try Store(.file(path))
        var queue = try PushQueue(store, pipelines: pipelines(.flat))
        let first = try await enqueue(Self.ordered, "/1", in: store)
        let between = try await enqueue(Self.flat, "/2", in: store)
        let dead = try await enqueue(Self.ordered, "/3", in: store)
        try await store.write { transaction in
            _ = try transaction.modifyOperation(between) { $0.addDependency(.on(dead)) }
            _ = try transaction.modifyOperation(first) { $0.addDependency(.on(between)) }
            let number = try OperationTable.number(of: dead, in: transaction.connection)
            try transaction.refuse(try #require(number), reason: "no")
        }
        try store.close()
        store = try Store(.file(path))
        queue = try PushQueue(
            store,
            pipelines: pipelines().map { $0.on(Put.self) { _, _ in .completed } }
        )
        try await queue.running {
            let result = try await queue.result(of: first)
            #expect(result == .completed)
            try await store.write { try $0.retryOperation(dead) }
            for id in [dead, between] {
                let result = try await queue.result(of: id)
                #expect(result == .completed)
            }
        }
        try store.close()
    }

    @Test func `what is taken out of a circle keeps its place for those behind it`() async throws {
        let path = folder.path("store.sqlite")
        var store = try Store(.file(path))
        var queue = try PushQueue(store, pipelines: pipelines(.flat))
        func enqueue(_ work: Touching, _ pipeline: String) async throws -> OperationID {
            try await store.write { try $0.enqueue(work, Placement(pipeline: pipeline)) }
        }
        let first = try await enqueue(Touching(paths: ["b"], behind: ["u"]), Self.ordered)
        let other = try await enqueue(Touching(paths: ["b"], ahead: ["u"]), Self.flat)
        let last = try await enqueue(Touching(paths: ["x"]), Self.ordered)
        try await store.write { transaction in
            _ = try transaction.modifyOperation(other) { $0.addDependency(.on(last)) }
        }
        let behind = try await enqueue(Touching(paths: ["b"]), Self.flat)
        #expect(try await reach(behind, in: store).isSuperset(of: [first, other]))
        try store.close()
        store = try Store(.file(path))
        queue = try PushQueue(store, pipelines: pipelines())
        try await queue.running {
            try await queue.statuses(of: behind).reaches { !$0.reasons.isEmpty }
            #expect(try await reach(behind, in: store).isSuperset(of: [first, other]))
            #expect(try await !reach(first, in: store).contains(other))
        }
        try store.close()
    }

    @Test func `two pipelines that become one leave no circle`() async throws {
        let path = folder.path("store.sqlite")
        var store = try Store(.file(path))
        let old = ["a", "b"].map { Pipeline($0) } + [Pipeline("c", order: .flat)]
        var queue = try PushQueue(store, pipelines: old)
        let first = try await enqueue("a", "/1", in: store)
        let last = try await enqueue("b", "/2", in: store)
        let between = try await enqueue("c", "/3", in: store)
        try await store.write { transaction in
            _ = try transaction.modifyOperation(between) { $0.addDependency(.on(last)) }
            _ = try transaction.modifyOperation(first) { $0.addDependency(.on(between)) }
        }
        try store.close()
        store = try Store(.file(path))
        var merged = Pipeline("sync", order: .flat)
        merged.previousNames = ["a", "b"]
        let new = [merged, Pipeline("c", order: .flat)].map { pipeline in
            pipeline.on(Put.self) { _, _ in .completed }
        }
        queue = try PushQueue(store, pipelines: new)
        try await queue.running {
            for id in [first, between, last] {
                let result = try await queue.result(of: id)
                #expect(result == .completed)
            }
        }
        try store.close()
    }

    @Test func `the order of many operations of several pipelines is restored in linear time`()
        async throws
    {
        func store(_ count: Int) async throws -> Store {
            let store = try Store(.memory)
            for pipeline in [Self.flat, Self.ordered] {
                for number in 0..<count {
                    _ = try await enqueue(pipeline, "/\(number)", in: store)
                }
            }
            return store
        }
        func seconds(_ store: Store) async throws -> Double {
            try await store.write { transaction in
                try CostRatio.cpuSeconds {
                    var order = CommitOrder(
                        database: transaction.connection,
                        ordered: [Self.ordered]
                    )
                    try order.restore(in: [Self.ordered])
                    #expect(order.changed.isEmpty)
                }
            }
        }
        let (small, large) = (try await store(400), try await store(1_600))
        var (least, leastLarge) = (Double.infinity, Double.infinity)
        for _ in 0..<3 {
            least = min(least, try await seconds(small))
            leastLarge = min(leastLarge, try await seconds(large))
        }
        #expect(leastLarge / least < CostRatio.fourfoldMax)
    }

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
}
