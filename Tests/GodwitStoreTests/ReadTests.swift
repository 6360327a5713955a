import Foundation
import GRDB
import GodwitTestKit
import GodwitTree
import Synchronization
import Testing

@testable import GodwitStore

/// Reads beside those that close the store, or lose interest.
@Suite struct ReadTests {
    private let folder: TemporaryFolder
    private let numbers = Store.Collection<Int>("numbers")

    init() throws {
        folder = try TemporaryFolder()
    }

    /// The pool of a small machine has a single thread, or all others are taken.
    @Test func `a store closes on the only thread for tasks while a read is under way`() throws {
        let store = try Store(.file(folder.path("store.sqlite")))
        let thread = OnlyThread()
        let (began, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let (read, closed) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        Task(executorPreference: thread) {
            try await store.read { _ in
                began.signal()
                goOn.wait()
            }
            read.signal()
        }
        began.wait()
        Task(executorPreference: thread) {
            goOn.signal()
            try store.close()
            closed.signal()
        }
        #expect(closed.wait(timeout: .now() + 60) == .success)
        #expect(read.wait(timeout: .now() + 60) == .success)
    }

    @Test(.timeLimit(.minutes(Soak.minutesMax)))
    func `a task that is cancelled ends its read`() async throws {
        let store = try Store(.file(folder.path("store.sqlite")))
        let isKnown = DispatchSemaphore(value: 0)
        let reading = Mutex<Task<Int?, any Error>?>(nil)
        // The statement itself says when, so that it is under way on a machine of any speed.
        let cancel = DatabaseFunction("cancel_reading", argumentCount: 0) { _ in
            isKnown.wait()
            reading.withLock { $0?.cancel() }
            return 1
        }
        let task = Task {
            try await store.read { transaction in
                transaction.database.add(function: cancel)
                let sql = """
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000000)
                    SELECT SUM(CASE WHEN i = 1000 THEN cancel_reading() ELSE 1 END) FROM n
                    """
                return try Int.fetchOne(transaction.database, sql: sql)
            }
        }
        reading.withLock { $0 = task }
        isKnown.signal()
        await #expect(throws: CancellationError.self) { try await task.value }
        // The connection serves others as before.
        let numbers = numbers
        try await store.write { try $0.set(1, for: "a", in: numbers) }
        #expect(try await store.read { try $0.get("a", in: numbers) } == 1)
        try store.close()
    }

    @Test func `a task that is cancelled before its read reads nothing`() async throws {
        let store = try Store(.file(folder.path("store.sqlite")))
        let reading = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await store.read { _ in true }
        }
        await #expect(throws: CancellationError.self) { try await reading.value }
        try store.close()
    }
}

/// Runs tasks one after the other on one thread.
private final class OnlyThread: TaskExecutor {
    private let queue = DispatchQueue(label: "only thread")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
