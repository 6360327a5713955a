#if PostgreSQL
internal import Dispatch
internal import Foundation
internal import Synchronization

/// A connection with the thread that waits for it: Swift's own threads never do.
final class SessionThread: Sendable {
    typealias Job = @Sendable (PostgreSQLSession) -> Void

    private struct State {
        var jobs: [Job] = []
        var isEnded = false
        var number = 0
        /// When the last job ended.
        var lastUse = Duration.zero
    }

    private let state = Mutex(State())
    private let isAwaited = DispatchSemaphore(value: 0)
    private let interrupt: SessionInterrupt

    /// Connects.
    ///
    /// - Throws: ``PostgreSQLError/unreachable(reason:)``.
    static func connect(
        to address: PostgreSQLAddress,
        _ options: PostgreSQLOptions
    ) async throws -> SessionThread {
        let lane = SessionThread(try SessionInterrupt())
        try await withCheckedThrowingContinuation { continuation in
            let thread = Thread {
                do throws(PostgreSQLError) {
                    let session = try PostgreSQLSession(address, options, lane.interrupt)
                    continuation.resume()
                    lane.work(on: session)
                } catch {
                    continuation.resume(throwing: error)
                }
            }
            thread.name = "godwit.postgresql"
            thread.stackSize = stackSizeInBytes
            thread.start()
        }
        return lane
    }

    /// Deltas and values are read on the thread, as deep as they are.
    private static let stackSizeInBytes = 8 << 20

    private init(_ interrupt: SessionInterrupt) { self.interrupt = interrupt }

    private func work(on session: PostgreSQLSession) {
        while true {
            isAwaited.wait()
            let job = state.withLock { $0.jobs.isEmpty ? nil : $0.jobs.removeFirst() }
            guard let job else { return }
            job(session)
        }
    }

    /// Runs a body on the thread.
    ///
    /// If the task is cancelled, the database ends what it does for it.
    func run<Result: Sendable>(
        _ body: @escaping @Sendable (PostgreSQLSession) -> Result
    ) async -> Result {
        let number = state.withLock { state in
            state.number += 1
            return state.number
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let interrupt = interrupt
                state.withLock { state in
                    state.jobs.append { session in
                        interrupt.begin(number)
                        let result = body(session)
                        interrupt.begin(0)
                        interrupt.drain()
                        continuation.resume(returning: result)
                    }
                }
                isAwaited.signal()
            }
        } onCancel: {
            interrupt.cancel(number)
        }
    }

    /// Wakes a body that waits for notifications.
    func wake() { interrupt.wake() }

    /// Ends the thread and its connection, after what runs now.
    func end() {
        let isFirst = state.withLock { state in
            defer { state.isEnded = true }
            return !state.isEnded
        }
        if isFirst { isAwaited.signal() }
    }

    var lastUse: Duration {
        get { state.withLock { $0.lastUse } }
        set { state.withLock { $0.lastUse = newValue } }
    }
}
#endif
