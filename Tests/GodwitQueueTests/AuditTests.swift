import GRDB
import GodwitStore
import GodwitTestKit
import Synchronization
import Testing

@testable import GodwitQueue

/// The auditor finds what is wrong, and mends it.
@Suite struct AuditTests {
    private typealias Damage = @Sendable (PushQueue, OperationNumber) async throws -> Void

    /// Damages a queue with one operation that is held, and expects that it runs in the end.
    private func expectRepair(_ texts: String..., damage: Damage) async throws {
        let bench = try Workbench()
        let queue = try bench.queue()
        try await queue.running {
            queue.suspend("the test looks")
            let id = try await bench.enqueue("a")[0]
            let sound = try await queue.audit()
            #expect(sound.isSound && sound.operationCount == 1, "\(sound.problems)")
            let number = try await bench.operation(id).number
            try await damage(queue, number)
            let audit = try await queue.audit()
            #expect(Set(audit.problems.map(\.text)) == Set(texts))
            #expect(audit.problems.allSatisfy { $0.operation == number || $0.operation == nil })
            queue.resume("the test looks")
            await bench.cloud.starts()
            bench.cloud.answer("a")
            #expect(try await queue.result(of: id) == .completed)
            let after = try await queue.audit()
            #expect(after.isSound, "\(after.problems)")
        }
        try await bench.expectEmpty()
    }

    @Test func `an empty queue is sound, and no operation was looked at`() async throws {
        let bench = try Workbench()
        let queue = try bench.queue()
        try await queue.running {
            let audit = try await queue.audit()
            #expect(audit.isSound && audit.operationCount == 0)
        }
    }

    @Test func `an operation that memory has lost`() async throws {
        try await expectRepair("is stored, and not in line") { queue, number in
            queue.state.withLock { $0.machine.finish(number) }
        }
    }

    @Test func `an operation that is marked as running, and that no process runs`() async throws {
        try await expectRepair("is marked as running, and waits") { queue, number in
            try await queue.store.write { transaction in
                try transaction.database.execute(
                    sql: "UPDATE godwit_operation SET state = 'running', epoch = 1"
                )
            }
        }
        try await expectRepair("is marked as running, and no process runs it") { queue, number in
            try await queue.store.write { transaction in
                try transaction.database.execute(
                    sql: "UPDATE godwit_operation SET state = 'running', epoch = 1"
                )
            }
            queue.state.withLock { $0.machine.adoptRunning(number) }
        }
    }

    @Test func `an operation that memory takes for running`() async throws {
        try await expectRepair("waits, and is taken for running") { queue, number in
            queue.state.withLock { $0.machine.adoptRunning(number) }
        }
    }

    @Test func `an operation that memory takes for a dead letter`() async throws {
        try await expectRepair("is waiting, and taken for another thing") { queue, number in
            queue.state.withLock { $0.machine.park(number) }
        }
    }

    @Test func `a need that nobody has`() async throws {
        try await expectRepair("waits for others than it should") { queue, number in
            queue.state.withLock { state in
                let ghost = OperationNumber(rawValue: 99)
                let lane = state.machine.lanes.count - 1
                state.machine.insert([.init(number: ghost, commit: ghost.commit, lane: lane)])
                state.machine.modify(number, priority: nil, needs: [ghost])
            }
        }
    }

    @Test(arguments: [nil, 1, .max] as [Int64?])
    func `a hold that memory has lost is a problem until its date`(until: Int64?) async throws {
        let bench = try Workbench()
        let queue = try bench.queue()
        try await queue.running {
            queue.suspend("the test looks")
            let id = try await bench.enqueue("a")[0]
            let number = try await bench.operation(id).number
            let sound = try await queue.audit()
            #expect(sound.isSound, "\(sound.problems)")
            try await bench.store.write { transaction in
                try transaction.database.execute(
                    sql:
                        "INSERT INTO godwit_hold (operation, context, until) VALUES (?, 'mine', ?)",
                    arguments: [number.rawValue, until]
                )
            }
            let audit = try await queue.audit()
            let isOver = until == 1
            #expect(
                audit.problems.map(\.text)
                    == (isOver ? [] : ["is held by 'mine', which memory has lost"])
            )
            // The repair reads the queue anew; the next audit waits for that.
            _ = try await queue.audit()
            #expect(try await queue.status(of: id).reasons.count == (isOver ? 1 : 2))
        }
    }

    @Test func `what runs and what is held by a failed try is no problem`() async throws {
        let bench = try Workbench()
        let queue = try bench.queue(order: .flat)
        try await queue.running {
            let ids = try await bench.enqueue("runs", "fails", "conflicts", "refused")
            await bench.cloud.starts(4)
            bench.cloud.answer("fails", .retry(reason: "later"))
            bench.cloud.answer("conflicts", .conflict(reason: "newer"))
            bench.cloud.answer("refused", .refused(reason: "no"))
            try await queue.statuses(of: ids[3]).reaches { $0 == .deadLetter }
            try await queue.statuses(of: ids[2]).reaches { $0 == .conflict }
            try await queue.statuses(of: ids[1]).reaches { !$0.reasons.isEmpty }
            let audit = try await queue.audit()
            #expect(audit.isSound, "\(audit.problems)")
            #expect(audit.operationCount == 4)
        }
    }
}
