internal import Synchronization

/// A task that is cancelled when another one takes its place, or when nothing holds this any more.
package final class CancelledTask: Sendable {
    private let task = Mutex<Task<Void, Never>?>(nil)

    package init() {}

    package func replace(with new: Task<Void, Never>) {
        let old = task.withLock { task in
            let old = task
            task = new
            return old
        }
        old?.cancel()
    }

    package func cancel() { task.withLock { $0.take() }?.cancel() }

    deinit { cancel() }
}
