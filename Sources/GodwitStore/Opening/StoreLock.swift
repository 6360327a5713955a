internal import Foundation
internal import Synchronization

/// Says who may open a store: one process, or several that all said so.
///
/// An advisory lock on a file beside the store. It belongs to the open file, so the kernel gives
/// it back when the process ends, however it ends. (`flock(2)`; SQLite's own locks would let two
/// processes in.)
final class StoreLock: Sendable {
    private let descriptor: Mutex<Int32?>
    private let path: String
    private let kind: Int32

    /// - Throws: ``StoreError/alreadyOpen(path:)`` at once when the other opener wants to be, or
    ///   this one has to be, alone.
    init(path: String, processes: StoreOptions.Processes) throws(StoreError) {
        kind = processes == .one ? LOCK_EX : LOCK_SH
        let descriptor = try LockFile.open(path + "-lock", beside: path)
        guard flock(descriptor, kind | LOCK_NB) == 0 else {
            close(descriptor)
            throw .alreadyOpen(path: path)
        }
        self.descriptor = Mutex(descriptor)
        self.path = path
    }

    deinit { release() }

    /// Runs `body` while no other process has the store open.
    ///
    /// - Throws: ``StoreError/alreadyOpen(path:)`` at once if another one has; what `body` throws.
    func alone<Result>(_ body: () throws -> Result) throws -> Result {
        guard kind != LOCK_EX else { return try body() }
        try take(LOCK_EX)
        let result = try body()
        try take(kind)
        return result
    }

    private func take(_ kind: Int32) throws(StoreError) {
        let isTaken = descriptor.withLock { descriptor in
            descriptor.map { flock($0, kind | LOCK_NB) == 0 } ?? false
        }
        // The kernel may have given the old lock to another process by now.
        guard isTaken else { throw .alreadyOpen(path: path) }
    }

    func release() {
        guard let descriptor = descriptor.withLock({ $0.take() }) else { return }
        // Closing alone is not enough: between its fork and its exec, a child process that
        // another part of the app starts has the file open too, and with it the lock.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// Whether a store was made here before: the lock file is marked then.
    ///
    /// A database file that has become empty would otherwise pass for a new one.
    var isMarked: Bool {
        descriptor.withLock { descriptor in
            guard let descriptor else { return false }
            return lseek(descriptor, 0, SEEK_END) > 0
        }
    }

    func mark() {
        descriptor.withLock { descriptor in
            guard let descriptor, lseek(descriptor, 0, SEEK_END) == 0 else { return }
            _ = "godwit\n".utf8CString.withUnsafeBytes { write(descriptor, $0.baseAddress, 7) }
        }
    }
}
