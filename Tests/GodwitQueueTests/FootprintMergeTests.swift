import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

@testable import GodwitQueue

/// Operations whose numbers say another order than the one in which they come.
@Suite(.timeLimit(.minutes(Soak.minutesMax))) struct FootprintMergeTests {
    /// Writes a thing at a path, and takes in a later write of it.
    private struct Writing: PushOperation {
        static let kind = "writing"
        let path: String
        var footprint: Footprint { .put(RemotePath(path)) }
        var effect: Effect? { .write("thing", of: "things") }
    }

    private struct Touching: PushOperation {
        static let kind = "touching"
        let resources: [String]
        let intents: [Int64]
        var footprint: Footprint {
            let touches = zip(resources, intents).compactMap { resource, number in
                Footprint.Intent(rawValue: number).map {
                    Footprint.Touch(resource: resource, intent: $0)
                }
            }
            return Footprint(Set(touches))
        }

        init(_ touches: (String, Footprint.Intent)...) {
            (resources, intents) = (touches.map(\.0), touches.map(\.1.rawValue))
        }
    }

    @Test(arguments: [Pipeline.Order.flat, .commit])
    func `what takes in a later operation comes after one that lies between`(
        order: Pipeline.Order
    ) async throws {
        let store = try Store(.memory)
        let queue = try PushQueue(store, pipelines: [Pipeline(order: order)])
        let (merged, between) = try await store.write { transaction in
            let merged = try transaction.enqueue(Writing(path: "/y"), after: [.number(7)])
            let other = Touching(("/x", .write))
            return (merged, try transaction.enqueue(other, Placement(id: .number(7))))
        }
        try await store.write { try $0.enqueue(Writing(path: "/x")) }
        #expect(try await store.read { try $0.rowCount(of: "godwit_operation") } == 2)
        let found = try await store.read { transaction in
            [
                try transaction.dependencies(of: merged),
                try transaction.dependencies(of: between),
            ]
        }
        #expect(found == [[between], []])
        let last = try await store.write { transaction in
            transaction.footprints().forget()
            return try transaction.enqueue(Touching(("/x", .write)))
        }
        let reach = try await store.read { try $0.recursiveDependencies(of: last) }
        // In commit order an operation of a later commit waits without an edge.
        #expect(Set(reach) == (order == .flat ? [merged, between] : []))
        withExtendedLifetime(queue) {}
    }

    @Test func `to join the commit of the transaction keeps no later merge apart`() async throws {
        let store = try Store(.memory)
        let queue = try PushQueue(store, pipelines: [Pipeline()])
        try await store.write { try $0.enqueue(Writing(path: "/x")) }
        try await store.write { transaction in
            var placement = Placement()
            placement.commit = transaction.commit
            try transaction.enqueue(Touching(("other", .write)), placement)
            try transaction.enqueue(Writing(path: "/x"))
        }
        #expect(try await store.read { try $0.rowCount(of: "godwit_operation") } == 2)
        withExtendedLifetime(queue) {}
    }

    @Test func `memory knows which operation gave way to a changed one`() async throws {
        let store = try Store(.memory)
        let queue = try PushQueue(store, pipelines: [Pipeline(order: .flat)])
        try await queue.running {
            let ids = try await store.write { transaction in
                try transaction.suspendPipeline(reason: "test")
                return [
                    try transaction.enqueue(Touching(("r", .behind), ("/p", .write))),
                    try transaction.enqueue(Touching(("/p", .write))),
                    try transaction.enqueue(Touching(("r", .ahead))),
                ]
            }
            try await store.write { transaction in
                _ = try transaction.modifyOperation(ids[2]) {
                    try $0.replace(with: Touching(("r", .ahead), ("/p", .write)))
                }
            }
            let found = try await store.read { transaction in
                try ids.map { try transaction.recursiveDependencies(of: $0) }
            }
            #expect(found.map { Set($0) } == [[], [ids[0]], [ids[0], ids[1]]])
            #expect(try await queue.audit().problems == [])
        }
    }

    @Test func `a circle through a dependency of the app's is refused, and leaves it`() async throws
    {
        let store = try Store(.memory)
        let queue = try PushQueue(store, pipelines: [Pipeline(order: .flat)])
        let (first, last) = try await store.write { transaction in
            let behind = Touching(("r", .behind), ("/p", .write))
            let first = try transaction.enqueue(behind, after: [.number(9)])
            try transaction.enqueue(Touching(("/p", .write)))
            let ahead = Touching(("r", .ahead))
            return (first, try transaction.enqueue(ahead, Placement(id: .number(9))))
        }
        await #expect(throws: QueueError.self) {
            try await store.write { transaction in
                _ = try transaction.modifyOperation(last) {
                    try $0.replace(with: Touching(("r", .ahead), ("/p", .write)))
                }
            }
        }
        #expect(try await store.read { try $0.dependencies(of: first) } == [last])
        withExtendedLifetime(queue) {}
    }

    @Test func `the order of commits counts until the queue has noted another one`() async throws {
        let folder = try TemporaryFolder()
        let file = Store.Location.file(folder.path("app.sqlite"))
        let write = Touching(("/a", .write))
        let before = try Store(file)
        let ordered = try PushQueue(before, pipelines: [Pipeline(order: .commit)])
        let first = try await before.write { try $0.enqueue(write) }
        let second = try await before.write { try $0.enqueue(write) }
        withExtendedLifetime(ordered) {}
        try before.close()
        let store = try Store(file)
        let pipelines = [Pipeline(order: .flat), Pipeline("other", order: .flat)]
        let queue = try PushQueue(store, pipelines: pipelines)
        let last = try await store.write { transaction in
            try transaction.enqueue(Touching())
            return try transaction.enqueue(write, Placement(pipeline: "other"))
        }
        #expect(try await store.read { try $0.dependencies(of: last) } == [second])
        try await store.write { _ = try $0.skipOperation(second) }
        #expect(try await store.read { try $0.dependencies(of: last) } == [first])
        withExtendedLifetime(queue) {}
    }

    @Test func `a path is what is between its slashes`() {
        for text in ["/a/b", "a/b", "//a//b/", "/a/b/"] {
            #expect(RemotePath(text).description == "/a/b", "\(text)")
            #expect(RemotePath(text).components == ["a", "b"], "\(text)")
        }
        for text in ["", "/", "//"] {
            let root = RemotePath(text)
            #expect(root.isRoot && root.description == "/" && root.parent == root, "\(text)")
        }
        let path = RemotePath(components: ["a", "", "b/c"])
        #expect(path.ancestors.map(\.description) == ["/a/b", "/a", "/"])
        #expect(path.parent == "/a/b" && path.components.count == 3)
    }
}
