internal import Foundation
internal import Synchronization

/// Keeps a store to one opener: an advisory lock on a file beside it.
///
/// The lock belongs to the open file, so the kernel gives it back when the process ends, however
/// it ends. (`flock(2)`; SQLite's own locks would let two processes in.)
final class StoreLock: Sendable {
    private let descriptor: Mutex<Int32?>

    /// - Throws: ``StoreError/alreadyOpen(path:)`` at once when somebody else has the lock.
    init(path: String) throws(StoreError) {
        let descriptor = open(path + "-lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            throw .unavailable(path: path, reason: String(cString: strerror(errno)))
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw .alreadyOpen(path: path)
        }
        self.descriptor = Mutex(descriptor)
    }

    deinit { release() }

    func release() {
        guard let descriptor = descriptor.withLock({ $0.take() }) else { return }
        // Closing alone is not enough: between its fork and its exec, a child process that
        // somebody else starts has the file open too, and with it the lock.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}
