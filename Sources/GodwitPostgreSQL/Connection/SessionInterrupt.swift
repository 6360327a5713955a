#if PostgreSQL
internal import Foundation
internal import Synchronization

/// Wakes the thread of a connection while it waits for the database, to cancel what it waits for.
final class SessionInterrupt: Sendable {
    private struct State {
        /// The number of the work that runs; 0 for none.
        var current = 0
        /// The number of the work that was cancelled last, perhaps before it began.
        var cancelled = 0
        /// Whether the thread was woken since it last waited for notifications.
        var isWoken = false
    }

    private let state = Mutex(State())
    /// The end of a pipe on which the thread waits beside its connection.
    let wakeDescriptor: Int32
    private let writeDescriptor: Int32

    init() throws(PostgreSQLError) {
        var descriptors: [Int32] = [0, 0]
        guard pipe(&descriptors) == 0 else {
            throw .unreachable(reason: "no descriptor is left for a pipe")
        }
        (wakeDescriptor, writeDescriptor) = (descriptors[0], descriptors[1])
        for descriptor in descriptors {
            _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        }
    }

    deinit {
        close(wakeDescriptor)
        close(writeDescriptor)
    }

    /// Says which work runs now; 0 for none.
    func begin(_ work: Int) { state.withLock { $0.current = work } }

    /// Cancels a piece of work that runs, or is about to.
    func cancel(_ work: Int) {
        state.withLock { $0.cancelled = work }
        interrupt()
    }

    /// Wakes the thread while it waits for notifications, or when it next does.
    func wake() {
        state.withLock { $0.isWoken = true }
        interrupt()
    }

    /// Whether the thread was woken; from then on it is not any more.
    func takeWake() -> Bool {
        state.withLock { state in
            defer { state.isWoken = false }
            return state.isWoken
        }
    }

    /// Ends a wait of the thread; any other work drains the pipe, so that it says nothing by itself.
    private func interrupt() {
        var byte: UInt8 = 1
        _ = write(writeDescriptor, &byte, 1)
    }

    /// Whether the work that runs was cancelled.
    var isCancelled: Bool { state.withLock { $0.current > 0 && $0.current == $0.cancelled } }

    func drain() {
        var bytes = [UInt8](repeating: 0, count: 64)
        while read(wakeDescriptor, &bytes, bytes.count) > 0 {}
    }
}
#endif
