import Foundation
import GRDB
import GodwitStore
import GodwitTestKit
import Synchronization
import Testing

@testable import GodwitQueue

/// Several processes on one database: one runs, the others know what it does.
///
/// Each process is a store of its own on the same file, with a launch of its own; they have only
/// the file in common. What never happens is found by the limit of time alone: how often somebody
/// can look meanwhile depends on what else the machine does.
@Suite(.timeLimit(.minutes(Soak.minutesMax))) struct SharedQueueTests {
    let folder: TemporaryFolder
    private let clock = ManualClock()
    private let leases = ManualLeases()

    init() throws { folder = try TemporaryFolder() }

    private func process(_ order: Pipeline.Order = .commit) throws -> SharedProcess {
        try SharedProcess(folder.path("store.sqlite"), clock, leases.clock, order)
    }

    @Test func `what one process enqueues, the other one runs`() async throws {
        let (app, share) = (try process(), try process())
        try await app.queue.running {
            let id = try await share.enqueue("a")
            try await clock.lookUntil { app.cloud.started == ["a"] }
            app.cloud.answer("a")
            try await share.queue.following {
                let statuses = share.queue.statuses(of: id)
                let last = Mutex<OperationStatus?>(nil)
                let watching = Task {
                    for await status in statuses { last.withLock { $0 = status } }
                }
                // A queue that follows sees at its next look what the other process has done.
                try await clock.lookUntil { last.withLock { $0 } == .finished(.completed) }
                await watching.value
                #expect(try await share.queue.status(of: id) == .finished(.completed))
            }
        }
        #expect(share.cloud.started == [])
        try app.store.close()
        try share.store.close()
    }

    @Test func `the process that runs the queue audits it, and no other one`() async throws {
        let (app, share) = (try process(), try process())
        try await app.queue.running {
            _ = try await share.enqueue("a")
            try await clock.lookUntil { app.cloud.started == ["a"] }
            let audit = try await app.queue.audit()
            #expect(audit.isSound && audit.operationCount == 1)
            await #expect(throws: QueueError.notTheRunner) { try await share.queue.audit() }
            app.cloud.answer("a")
        }
        try app.store.close()
        try share.store.close()
    }

    @Test func `while one process runs the queue, the other one waits for its turn`() async throws {
        let (first, second) = (try process(), try process())
        let running = Task { try await first.queue.run() }
        _ = try await first.enqueue("a")
        await first.cloud.starts()
        let standby = Task { try await second.queue.run() }
        #expect(second.cloud.started == [])
        first.cloud.answer("a")
        let id = try await second.enqueue("b")
        try await clock.lookUntil { first.cloud.started == ["a", "b"] }
        // The first one ends in good order; what it has begun is done again by the second.
        running.cancel()
        _ = await running.result
        try await clock.lookUntil { second.cloud.started == ["b"] }
        #expect(second.cloud.operation("b")?.mayHaveRun == true)
        second.cloud.answer("b")
        #expect(try await second.queue.result(of: id) == .completed)
        standby.cancel()
        _ = await standby.result
        try first.store.close()
        try second.store.close()
    }

    /// Which one of two moments comes first is not in the test's hands, so it is done some times.
    @Test(arguments: 0..<16)
    func `a process that waits for its turn ends when it is cancelled while another one writes`(
        _ round: Int
    ) async throws {
        let (first, second) = (try process(), try process())
        let running = Task { try await first.queue.run() }
        _ = try await first.enqueue("a")
        await first.cloud.starts()
        let standby = Task { try await second.queue.run() }
        try await clock.lookUntil { second.queue.summary.running == 1 }
        let waiting = Task {
            try await second.queue.finish(through: CommitNumber(rawValue: .max))
        }
        while !second.queue.state.withLock({ $0.waiters.isWaitedFor }) { await Task.yield() }
        let (entered, gate) = (AsyncStream.makeStream(of: Void.self), DispatchSemaphore(value: 0))
        let writing = Task {
            try await first.store.write { transaction in
                try transaction.enqueue(Upload(name: "b"))
                entered.continuation.finish()
                gate.wait()
            }
        }
        for await _ in entered.stream {}
        // The second one asks for the lease, and waits for the other one's commit, which comes when it
        // follows no more.
        clock.advance(by: .seconds(5))
        for _ in 0..<1_000 { await Task.yield() }
        standby.cancel()
        _ = await waiting.result
        gate.signal()
        try await writing.value
        await #expect(throws: CancellationError.self) { try await standby.value }
        running.cancel()
        _ = await running.result
        try first.store.close()
        try second.store.close()
    }

    @Test func `a process that does not answer any more is replaced, and its answers do not count`()
        async throws
    {
        let (first, second) = (try process(), try process())
        let running = Task { try await first.queue.run() }
        let id = try await first.enqueue("a")
        await first.cloud.starts()
        // The first process is stopped for longer than its lease: it neither renews nor answers.
        await first.store.suspend()
        leases.pass(milliseconds: 20_000)
        let standby = Task { try await second.queue.run() }
        try await clock.lookUntil { second.cloud.started == ["a"] }
        #expect(second.cloud.operation("a")?.mayHaveRun == true)
        #expect(
            second.cloud.operation("a")?.idempotencyKey
                == first.cloud.operation("a")?.idempotencyKey
        )
        // It goes on: its answer to the cloud's is not taken, and it starts nothing more.
        first.cloud.answer("a", .refused(reason: "the late answer"))
        first.store.resume()
        _ = try await first.enqueue("b")
        second.cloud.answer("a")
        try await clock.lookUntil { second.cloud.started == ["a", "b"] }
        #expect(try await second.queue.result(of: id) == .completed)
        #expect(first.cloud.started == ["a"])
        second.cloud.answer("b")
        for task in [running, standby] {
            task.cancel()
            _ = await task.result
        }
        try first.store.close()
        try second.store.close()
    }

    @Test func `an idle process that has lost its lease takes its turn again`() async throws {
        let (first, second) = (try process(), try process())
        let running = Task { try await first.queue.run() }
        let done = try await first.enqueue("a")
        await first.cloud.starts()
        first.cloud.answer("a")
        #expect(try await first.queue.result(of: done) == .completed)
        await first.store.suspend()
        leases.pass(milliseconds: 20_000)
        let standby = Task { try await second.queue.run() }
        _ = try await second.enqueue("b")
        try await clock.lookUntil { second.cloud.started == ["b"] }
        first.store.resume()
        second.cloud.answer("b")
        // It hears of it when it renews its lease.
        for _ in 0..<500 {
            clock.advance(by: .milliseconds(50))
            _ = try await first.store.read { $0.lastCommit }
        }
        standby.cancel()
        _ = await standby.result
        let id = try await second.enqueue("c")
        try await clock.lookUntil { first.cloud.started == ["a", "c"] }
        first.cloud.answer("c")
        #expect(try await first.queue.result(of: id) == .completed)
        running.cancel()
        _ = await running.result
        try first.store.close()
        try second.store.close()
    }

    @Test func `a process that cannot renew its lease for longer than it lasts takes it again`()
        async throws
    {
        let app = try process()
        try await app.queue.running {
            let done = try await app.enqueue("a")
            await app.cloud.starts()
            app.cloud.answer("a")
            #expect(try await app.queue.result(of: done) == .completed)
            try await app.execute(
                """
                CREATE TRIGGER broken BEFORE UPDATE ON godwit_runner
                BEGIN SELECT RAISE(ABORT, 'the disk is full'); END
                """
            )
            leases.pass(milliseconds: 20_000)
            for _ in 0..<500 {
                clock.advance(by: .milliseconds(50))
                _ = try await app.store.read { $0.lastCommit }
            }
            try await app.execute("DROP TRIGGER broken")
            let id = try await app.enqueue("b")
            try await clock.lookUntil { app.cloud.started == ["a", "b"] }
            app.cloud.answer("b")
            #expect(try await app.queue.result(of: id) == .completed)
        }
        try app.store.close()
    }

    @Test func `a decision of another process counts at once: hold, release, skip, suspend`()
        async throws
    {
        let (app, tool) = (try process(), try process())
        try await app.queue.running {
            try await tool.store.write { try $0.suspendPipeline(reason: "by the tool") }
            let held = try await tool.store.write { transaction in
                let id = try transaction.enqueue(Upload(name: "held"))
                try transaction.holdOperation(id, until: nil, context: "tool")
                return id
            }
            let skipped = try await tool.enqueue("skipped")
            try await tool.store.write { try $0.skipOperation(skipped) }
            try await clock.lookUntil {
                try await app.queue.status(of: held)
                    == .waiting([
                        .held(context: "tool", until: nil), .suspended(reason: "by the tool"),
                    ])
            }
            try await clock.lookUntil {
                try await app.queue.status(of: skipped) == .finished(.skipped(reason: nil))
            }
            try await tool.store.write { try $0.resumePipeline(reason: "by the tool") }
            try await tool.store.write { try $0.releaseOperation(held, context: "tool") }
            try await clock.lookUntil { app.cloud.started == ["held"] }
            // And one that runs is cancelled when the other process skips it.
            try await tool.store.write { try $0.skipOperation(held) }
            try await clock.lookUntil { try await app.queue.status(of: held).isFinal }
            #expect(await app.cloud.cancellation() == "held")
        }
        try app.store.close()
        try tool.store.close()
    }

    @Test func `who follows sees what stops running, too, and has nothing to audit`() async throws {
        let (app, share) = (try process(), try process())
        try await app.queue.running {
            try await share.queue.following {
                let id = try await app.enqueue("a")
                await app.cloud.starts()
                try await clock.lookUntil {
                    try await share.queue.status(of: id) == .running(progress: nil)
                }
                await #expect(throws: QueueError.notTheRunner) { try await share.queue.audit() }
                app.cloud.answer("a", .retry(after: .seconds(100_000), reason: "much later"))
                try await clock.lookUntil {
                    !(try await share.queue.status(of: id).reasons.isEmpty)
                }
                #expect(share.queue.summary.running == 0)
            }
        }
        try app.store.close()
        try share.store.close()
    }

    @Test func `the lease is given back by the last queue of a process`() async throws {
        let (first, second) = (try process(), try process())
        var options = PushQueue.Options()
        options.clock = clock
        options.leaseClock = leases.clock
        let photos = try PushQueue(
            first.store,
            options: options,
            pipelines: [first.cloud.pipeline("photos")]
        )
        let (running, other) = (
            Task { try await first.queue.run() }, Task { try await photos.run() }
        )
        _ = try await first.store.write {
            try $0.enqueue(Upload(name: "photo"), Placement(pipeline: "photos"))
        }
        try await clock.lookUntil { first.cloud.started == ["photo"] }
        let standby = Task { try await second.queue.run() }
        running.cancel()
        _ = await running.result
        let id = try await second.enqueue("a")
        // Nobody runs this pipeline any more, but the process has not let go of the queue.
        for _ in 0..<500 {
            clock.advance(by: .milliseconds(50))
            _ = try await second.store.read { $0.lastCommit }
        }
        #expect(second.cloud.started == [])
        other.cancel()
        _ = await other.result
        try await clock.lookUntil { second.cloud.started == ["a"] }
        second.cloud.answer("a")
        #expect(try await second.queue.result(of: id) == .completed)
        standby.cancel()
        _ = await standby.result
        try first.store.close()
        try second.store.close()
    }

    @Test func `who has missed too much reads everything`() async throws {
        let (app, share) = (try process(), try process())
        try await app.queue.running {
            _ = try await share.enqueue("a")
            try await share.store.write { transaction in
                try transaction.database.execute(sql: "DELETE FROM godwit_change")
                try transaction.database.execute(sql: "DELETE FROM godwit_queue_change")
            }
            try await clock.lookUntil { app.cloud.started == ["a"] }
            app.cloud.answer("a")
        }
        try app.store.close()
        try share.store.close()
    }

    @Test func `three processes take turns, and what is done again is known to have been tried`()
        async throws
    {
        let processes = try (0..<3).map { _ in try process(.flat) }
        let done = Mutex<[String: [(key: String, mayHaveRun: Bool)]]>([:])
        let queues = try processes.map { process in
            var options = PushQueue.Options()
            options.leaseClock = leases.clock
            options.clock = clock
            return try PushQueue(
                process.store,
                options: options,
                pipelines: [
                    Pipeline("work", order: .flat).on(Upload.self) { upload, run in
                        let key = run.operation.idempotencyKey
                        let mayHaveRun = run.operation.mayHaveRun
                        done.withLock { $0[upload.name, default: []].append((key, mayHaveRun)) }
                        return .completed
                    }
                ]
            )
        }
        let tasks = queues.map { queue in Task { try await queue.run() } }
        for number in 0..<90 {
            _ = try await processes[number % 3].store.write {
                try $0.enqueue(Upload(name: "\(number)"), Placement(pipeline: "work"))
            }
            if number == 30 || number == 60 { tasks[number / 30 - 1].cancel() }
        }
        try await clock.lookUntil {
            try await processes[0].store.read { try $0.operations().isEmpty }
        }
        for task in tasks {
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        // A queue that is gone takes its pipeline along, and what is enqueued there goes elsewhere.
        withExtendedLifetime(queues) {}
        let runs = done.withLock { $0 }
        #expect(runs.count == 90)
        // One that is cancelled between its work and its record is done again: at least once is
        // the promise, and the key makes once of it.
        for (name, runs) in runs {
            #expect(Set(runs.map(\.key)).count == 1, "\(name) has one key")
            let isKnown = runs.dropFirst().allSatisfy { $0.mayHaveRun }
            #expect(isKnown, "\(name) is known to have run")
        }
        for process in processes { try process.store.close() }
    }

    /// Moves the clock on until something has happened.
}
