import GRDB
import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

@testable import GodwitQueue

/// Operations that ran when the process ended: which of them is to blame.
@Suite struct SuspectTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Opens the store after a crash in which some operations ran, and runs the queue.
    ///
    /// - Returns: The operations that started without an answer, in any order.
    private func launch(
        after running: [OperationID],
        starting count: Int,
        _ body: (Workbench) async throws -> Void = { _ in }
    ) async throws -> Set<String> {
        let bench = try Workbench(.file(folder.path("store.sqlite")))
        try await bench.store.write { transaction in
            for id in running {
                try transaction.database.execute(
                    sql:
                        "UPDATE godwit_operation SET state = 'running', epoch = 0 WHERE number = ?",
                    arguments: [try transaction.number(of: id).rawValue]
                )
            }
        }
        let queue = try bench.queue(order: .flat)
        var started: Set<String> = []
        try await queue.running {
            started = await bench.cloud.starts(count)
            try await body(bench)
        }
        try bench.store.close()
        return started
    }

    @Test(.timeLimit(.minutes(Soak.minutesMax)))
    func
        `of operations that ran together when the process ended, only the one that ends it alone is blamed`()
        async throws
    {
        let bench = try Workbench(.file(folder.path("store.sqlite")))
        _ = try bench.queue(order: .flat)
        let ids = try await bench.enqueue("bystander", "crasher", "third")
        try bench.store.close()

        let second = try await launch(after: ids, starting: 3)
        #expect(second == ["bystander", "crasher", "third"], "once is no reason for suspicion")
        let third = try await launch(after: ids, starting: 1) { bench in
            bench.cloud.answer("bystander")
            #expect(await bench.cloud.starts() == ["crasher"], "one after the other")
        }
        #expect(third == ["bystander"])
        for _ in 1..<Pipeline().interruptionsMax {
            #expect(try await launch(after: [ids[1]], starting: 1) == ["crasher"])
        }
        let last = try await launch(after: [ids[1]], starting: 1) { bench in
            bench.cloud.answer("third")
            try await bench.queues[0].summaries().reaches { $0.unfinished == 1 }
        }
        #expect(last == ["third"], "the crasher is set aside, and the next one runs")
        let store = try Store(.file(folder.path("store.sqlite")))
        let left = try await store.read { try $0.operations() }
        #expect(left.map(\.state) == [.deadLetter])
        #expect(left.map(\.mayHaveRun) == [true], "the cloud may have done it")
        _ = try await store.write { try $0.retryOperation(ids[1]) }
        let attempts = try await store.read { try $0.attempts(of: ids[1]) }
        #expect(attempts.isEmpty, "a retry forgives")
        try store.close()
    }

    @Test func `an operation that is refused because it was interrupted may have run`() async throws
    {
        let bench = try Workbench()
        var pipeline = bench.cloud.pipeline()
        pipeline.interruptionsMax = 1
        let queue = try bench.queue([pipeline])
        let id = try await bench.enqueue("a")[0]
        try await bench.store.write { transaction in
            try transaction.database.execute(
                sql: "UPDATE godwit_operation SET state = 'running', epoch = 0"
            )
        }
        try await queue.running { try await queue.statuses(of: id).reaches { $0 == .deadLetter } }
        #expect(bench.cloud.started == [])
        #expect(try await bench.operation(id).mayHaveRun)
    }
}
