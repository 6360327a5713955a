import GRDB
import GodwitQueue
import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

/// A queue whose disk is full, and then is not.
@Suite(.timeLimit(.minutes(Soak.minutesMax))) struct FullDiskTests {
    @Test func `a full disk takes no new operation, loses none, and the queue goes on by itself`()
        async throws
    {
        let folder = try TemporaryFolder()
        let bench = try Workbench(.file(folder.path("store.sqlite")))
        let queue = try bench.queue(order: .flat)
        let blob = Value.bytes(Array(repeating: 7, count: 20_000))
        try await queue.running {
            var ids = try await bench.enqueue("first")
            await bench.cloud.starts()
            try await limitPages(of: bench.store, isFull: true)
            var refusal: (any Error)?
            for number in 0..<200 where refusal == nil {
                do {
                    let placement = Placement(userInfo: blob)
                    ids += try await bench.enqueue("\(number)", placement: placement)
                } catch {
                    refusal = error
                }
            }
            #expect(refusal as? StoreError == .diskFull)
            let stored = try await bench.store.read { try $0.operations().map(\.id) }
            #expect(stored == ids, "what was acknowledged is there, and nothing else")
            // What runs ends meanwhile; as that cannot be written down, it is tried again.
            bench.cloud.answer(
                "first",
                .completed { transaction in
                    try transaction.setTag(
                        .bytes(Array(repeating: 1, count: 200_000)),
                        for: "large"
                    )
                }
            )
            try await queue.statuses(of: ids[0]).reaches { !$0.reasons.isEmpty }
            try await limitPages(of: bench.store, isFull: false)
            ids += try await bench.enqueue("last")
            for name in try await bench.names() + ["first"] { bench.cloud.answer(name) }
            // Each that could not be written down is tried again after a while of its own.
            for id in ids {
                while try await queue.status(of: id) != .finished(.completed) {
                    bench.clock.advance(by: .seconds(1))
                    await Task.yield()
                }
            }
            let audit = try await queue.audit()
            #expect(audit.isSound, "\(audit.problems)")
        }
        try await bench.expectEmpty()
    }

    @Test func `an outcome that cannot be written is asked for again when it can`() async throws {
        let folder = try TemporaryFolder()
        let bench = try Workbench(.file(folder.path("store.sqlite")))
        let queue = try bench.queue()
        try await queue.running {
            let id = try await bench.enqueue("a")[0]
            await bench.cloud.starts()
            try await allowWriting(false, in: bench.store)
            bench.cloud.answer("a")
            try await queue.statuses(of: id).reaches { !$0.reasons.isEmpty }
            try await allowWriting(true, in: bench.store)
            bench.cloud.answer("a")
            while try await queue.status(of: id) != .finished(.completed) {
                bench.clock.advance(by: .seconds(1))
                await Task.yield()
            }
            #expect(bench.cloud.started == ["a", "a"])
            #expect(bench.cloud.operation("a")?.mayHaveRun == true, "the cloud may have done it")
        }
        try await bench.expectEmpty()
    }

    private func allowWriting(_ isAllowed: Bool, in store: Store) async throws {
        try await store.betweenCommits { database in
            try database.execute(sql: "PRAGMA query_only = \(isAllowed ? 0 : 1)")
        }
    }

    /// Has SQLite behave as on a disk without room for another page.
    private func limitPages(of store: Store, isFull: Bool) async throws {
        try await store.write { transaction in
            let database = transaction.database
            let count = try Int.fetchOne(database, sql: "PRAGMA page_count") ?? 0
            let limit = isFull ? count + 8 : 1 << 30
            _ = try Int.fetchOne(database, sql: "PRAGMA max_page_count = \(limit)")
        }
    }
}
