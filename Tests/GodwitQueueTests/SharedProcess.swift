import GRDB
import GodwitQueue
import GodwitStore
import GodwitTestKit
import Synchronization
import Testing

/// What the machine's own clock says about leases.
final class ManualLeases: Sendable {
    private let time = Mutex<Int64>(0)

    var clock: LeaseClock { LeaseClock(boot: "1") { self.time.withLock { $0 } } }

    func pass(milliseconds: Int64) { time.withLock { $0 += milliseconds } }
}

/// What one process has.
final class SharedProcess: Sendable {
    let store: Store
    let cloud = HandCloud()
    let queue: PushQueue

    init(
        _ path: String,
        _ clock: ManualClock,
        _ leases: LeaseClock,
        _ order: Pipeline.Order
    ) throws {
        var options = Store.Options()
        options.processes = .several
        store = try Store(.file(path), options: options)
        var queueOptions = PushQueue.Options()
        queueOptions.clock = clock
        queueOptions.leaseClock = leases
        queue = try PushQueue(
            store,
            options: queueOptions,
            pipelines: [cloud.pipeline(order: order)]
        )
    }

    func enqueue(_ name: String) async throws -> OperationID {
        try await store.write { try $0.enqueue(Upload(name: name)) }
    }

    func execute(_ sql: String) async throws {
        try await store.write { try $0.database.execute(sql: sql) }
    }
}

extension ManualClock {
    /// Passes time until something is so.
    ///
    /// Time passes while `isDone` waits, too: it may wait for the next look of a queue that follows.
    func lookUntil(_ isDone: () async throws -> Bool) async throws {
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask {
                while !Task.isCancelled {
                    for _ in 0..<100 { await Task.yield() }
                    self.advance(by: .milliseconds(50))
                }
            }
            while try await !isDone() {
                advance(by: .milliseconds(50))
                await Task.yield()
            }
            group.cancelAll()
        }
    }
}

extension PushQueue {
    func following(_ body: () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.follow() }
            try await body()
            group.cancelAll()
            while let result = await group.nextResult() {
                if case .failure(let error) = result, !(error is CancellationError) { throw error }
            }
        }
    }
}
