import GodwitQueue
import GodwitStore
import GodwitTree
import Testing

/// Operations that follow from what transactions change.
@Suite struct AutomaticOperationsTests {
    @Test func `what a transaction changes is pushed by itself, and what was pulled is not`()
        async throws
    {
        let (store, things) = (try Store(.memory), Store.Collection<Int>("things"))
        let others = Store.Collection<Int>("others")
        let queue = try PushQueue(store, pipelines: [Pipeline(), Pipeline("low")])
        let push = AutomaticOperations(
            of: things,
            placement: { _ in Placement(pipeline: "low") }
        ) { change in
            [
                Upload(
                    name: "\(change.kind == .removed ? "-" : "+")\(change.key.key.text)",
                    pushes: [change.key.key.text]
                )
            ]
        }
        try store.addHook(push, named: "push things")
        let names = {
            try await store.read { transaction in
                try transaction.operations(in: "low").map { try $0.decoded(as: Upload.self).name }
            }
        }
        try await store.write { transaction in
            try transaction.set(1, for: "a", in: things)
            try transaction.set(2, for: "a", in: things)
            try transaction.set(1, for: "b", in: others)
        }
        #expect(try await names() == ["+a"])
        let changes = try await store.read { transaction in
            try transaction.recordedChanges(of: transaction.operations()[0].id)
        }
        #expect(changes.map(\.new) == [2] && changes.map(\.old) == [nil])
        try await store.write { transaction in
            try transaction.skipAutomaticOperations()
            try transaction.set(3, for: "a", in: things)
        }
        #expect(try await names() == ["+a"])
        try await store.write { try $0.remove("a", in: things) }
        #expect(try await names() == ["+a", "-a"])
        _ = queue
    }

    @Test func `a hook that changes an object again, and metadata, enqueue nothing more`()
        async throws
    {
        struct Stamp: TransactionHook {
            func willCommit(
                _ changes: [ObjectChange],
                in transaction: borrowing WriteTransaction
            ) throws {
                for change in changes where try change.newValue() != 9 {
                    try transaction.setValue(9, of: change.key)
                }
            }
        }
        let (store, things) = (try Store(.memory), Store.Collection<Int>("things"))
        let queue = try PushQueue(store, pipelines: [Pipeline()])
        try store.addHook(pushing(things), named: "push things")
        try store.addHook(Stamp(), named: "stamp")
        try await store.write { try $0.set(1, for: "a", in: things) }
        try await store.write { try $0.replaceMetadata("etag", of: "a", in: things) }
        let names = try await store.read { transaction in
            try transaction.operations().map { try $0.decoded(as: Upload.self).name }
        }
        #expect(names == ["a"])
        _ = queue
    }

    @Test func `what a retention removes is not removed from the cloud`() async throws {
        let things = Store.Collection<Int>("things")
        var options = Store.Options()
        options.collections = [CollectionRules(things, retention: .count(2))]
        let store = try Store(.memory, options: options)
        let queue = try PushQueue(store, pipelines: [Pipeline()])
        try store.addHook(pushing(things), named: "push things")
        for key in ["a", "b", "c"] { try await store.write { try $0.set(1, for: key, in: things) } }
        try await store.write { try $0.remove("b", in: things) }
        let (keys, names) = try await store.read { transaction in
            (
                try transaction.keys(in: things),
                try transaction.operations().map { try $0.decoded(as: Upload.self).name }
            )
        }
        #expect(keys == ["c"] && names == ["a", "b", "c", "-b"])
        _ = queue
    }

    @Test func `the object of a resolved conflict is pushed by the operation that was in conflict`()
        async throws
    {
        let (store, things) = (try Store(.memory), Store.Collection<[String: Int]>("things"))
        let pipeline = Pipeline().on(Upload.self) { _, run in
            run.operation.attempts == 0
                ? .conflict(theirs: ["x": 1, "y": 2], reason: "412") : .completed
        }
        let queue = try PushQueue(store, pipelines: [pipeline])
        try await store.write { try $0.set(["x": 1], for: "a", in: things) }
        try store.addHook(pushing(things), named: "push things")
        let commit = try await store.write { transaction in
            try transaction.set(["x": 5], for: "a", in: things)
            return transaction.commit
        }
        let events = queue.events()
        try await queue.running { try await queue.finish(through: commit) }
        var count = 0
        for await event in events {
            if case .enqueued = event { count += 1 }
            if case .finished = event { break }
        }
        #expect(count == 0, "it was enqueued before, and once")
        #expect(try await store.read { try $0.operations().isEmpty })
        #expect(try await store.read { try $0.get("a", in: things) } == ["x": 5, "y": 2])
    }

    private func pushing<Object>(_ things: Store.Collection<Object>) -> AutomaticOperations {
        AutomaticOperations(of: things) { change in
            let key = change.key.key.text
            return [Upload(name: (change.kind == .removed ? "-" : "") + key, pushes: [key])]
        }
    }

    @Test func `to skip automatic operations is no commit by itself`() async throws {
        let store = try Store(.memory)
        let queue = try PushQueue(store, pipelines: [Pipeline()])
        let result = try await store.writeLater { try $0.skipAutomaticOperations() }.finish()
        #expect(result.commit == nil)
        _ = queue
    }
}
