internal import Foundation

/// Lets one of several processes write at a time, checkpoints included.
///
/// SQLite would make the others wait too, but by trying again and again, and it would let them
/// checkpoint while one writes.
final class ProcessLock: Sendable {
    private let descriptor: Int32

    init(path: String) throws(StoreError) {
        descriptor = try LockFile.open(path + "-writer", beside: path)
    }

    deinit { close(descriptor) }

    func acquire() { while flock(descriptor, LOCK_EX) != 0 && errno == EINTR {} }
    func release() { flock(descriptor, LOCK_UN) }
}

extension ProcessLock? {
    /// Runs `body` while no other process writes; at once where one process has the store.
    func withLock<Result>(_ body: () throws -> Result) rethrows -> Result {
        self?.acquire()
        defer { self?.release() }
        return try body()
    }
}

/// A file beside the store that processes lock.
enum LockFile {
    static func open(_ path: String, beside store: String) throws(StoreError) -> Int32 {
        let descriptor = Foundation.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            let code = errno
            if code == EROFS || code == EACCES { throw .readOnly(path: store) }
            throw .unavailable(path: store, reason: String(cString: strerror(code)))
        }
        return descriptor
    }
}
