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
        #expect(order == .commit || Set(reach) == [merged, between])
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
}
