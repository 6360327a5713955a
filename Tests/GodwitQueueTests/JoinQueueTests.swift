import GRDB
import GodwitQueue
import GodwitStore
import GodwitTestKit
import Testing

/// Operations in transactions that the app begins itself.
@Suite struct JoinQueueTests {
    private struct Refusal: Error {}

    @Test func `an operation of the app's own transaction starts after its commit, never before`()
        async throws
    {
        let database = try DatabaseQueue()
        let cloud = HandCloud()
        let store = try Store(adopting: database)
        let queue = try PushQueue(store, clock: ManualClock(), pipelines: [cloud.pipeline()])
        try await queue.running {
            await #expect(throws: Refusal.self) {
                try await database.write { database -> Void in
                    try store.write(in: database) { try $0.enqueue(Upload(name: "never")) }
                    throw Refusal()
                }
            }
            try await database.write { database -> Void in
                try store.write(in: database) { try $0.enqueue(Upload(name: "first")) }
                #expect(cloud.started == [])
            }
            await cloud.starts()
            #expect(cloud.started == ["first"])
            cloud.answer("first")
            let second = try await database.write { database in
                try store.write(in: database) { try $0.enqueue(Upload(name: "second")) }
            }
            await cloud.starts()
            cloud.answer("second")
            #expect(try await queue.result(of: second) == .completed)
        }
        #expect(cloud.started == ["first", "second"])
    }

    @Test func `what a rolled back savepoint took along is read from the database`() async throws {
        let database = try DatabaseQueue()
        let cloud = HandCloud()
        let store = try Store(adopting: database)
        let queue = try PushQueue(store, clock: ManualClock(), pipelines: [cloud.pipeline()])
        try await queue.running {
            try await database.write { database -> Void in
                try store.write(in: database) { try $0.enqueue(Upload(name: "kept")) }
                try database.inSavepoint {
                    try store.write(in: database) { try $0.enqueue(Upload(name: "gone")) }
                    return .rollback
                }
            }
            await cloud.starts()
            cloud.answer("kept")
            let commit = try await store.read { $0.lastCommit }
            try await queue.finish(through: commit)
        }
        #expect(cloud.started == ["kept"])
        #expect(queue.summary.unfinished == 0)
    }
}
