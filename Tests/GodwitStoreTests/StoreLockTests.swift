import Foundation
import GRDB
import GodwitTestKit
import GodwitTree
import Synchronization
import Testing

@testable import GodwitStore

#if os(Linux)
/// How many signals a thread has had.
private let signalCount = Atomic(0)

@Suite struct StoreLockTests {
    /// Between its fork and its exec a child process has all open files of its parent, so a
    /// store that is closed in that moment must not stay locked.
    @Test func `a closed store is free although a child process has its files`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("store.sqlite")
        let store = try Store(.file(path))
        let inherited = try descriptors(of: path + "-lock").map { dup($0) }
        #expect(inherited.count == 1)

        try store.close()

        try Store(.file(path)).close()
        for descriptor in inherited { close(descriptor) }
    }

    @Test(.timeLimit(.minutes(1)), arguments: [false, true])
    func `a store of several processes keeps the others from writing while it writes`(
        isShared: Bool
    ) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("store.sqlite")
        var options = Store.Options()
        options.processes = isShared ? .several : .one
        let store = try Store(.file(path), options: options)
        let file = open(path + "-writer", O_RDWR | O_CREAT, 0o644)
        defer { close(file) }
        let isFree = try await store.write { _ in
            defer { flock(file, LOCK_UN) }
            return flock(file, LOCK_EX | LOCK_NB) == 0
        }
        #expect(isFree == !isShared)
        // The lock is given back a moment after the commit is told.
        while flock(file, LOCK_EX | LOCK_NB) != 0 {
            try Task.checkCancellation()
            await Task.yield()
        }
        flock(file, LOCK_UN)
        try store.close()
    }

    /// A profiler sends signals all the time, and so does a runtime that takes stock of its threads.
    @Test func `a signal does not let a process write that waits for another one`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("store.sqlite")
        let (holder, waiter) = (try ProcessLock(path: path), try ProcessLock(path: path))
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { _ in _ = signalCount.add(1, ordering: .relaxed) }
        var former = sigaction()
        sigaction(SIGUSR2, &action, &former)
        defer { sigaction(SIGUSR2, &former, nil) }
        holder.acquire()
        let (began, acquired) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let thread = Mutex<pthread_t?>(nil)
        let waiting = Thread {
            var signals = sigset_t()
            sigemptyset(&signals)
            sigaddset(&signals, SIGUSR2)
            pthread_sigmask(SIG_UNBLOCK, &signals, nil)
            thread.withLock { $0 = pthread_self() }
            began.signal()
            waiter.acquire()
            acquired.signal()
        }
        waiting.start()
        began.wait()
        let id = try #require(thread.withLock { $0 })
        for _ in 0..<10_000 where signalCount.load(ordering: .relaxed) < 1_000 {
            pthread_kill(id, SIGUSR2)
            sched_yield()
        }
        #expect(signalCount.load(ordering: .relaxed) > 0)
        #expect(acquired.wait(timeout: .now()) == .timedOut)
        holder.release()
        #expect(acquired.wait(timeout: .now() + 60) == .success)
        waiter.release()
    }

    private func descriptors(of path: String) throws -> [Int32] {
        let files = FileManager.default
        return try files.contentsOfDirectory(atPath: "/proc/self/fd").filter { number in
            (try? files.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")) == path
        }.compactMap { Int32($0) }
    }
}
#endif

extension StoreLockTests {
    private static func shared(_ path: String) throws -> Store {
        var options = Store.Options()
        options.processes = .several
        return try Store(.file(path), options: options)
    }

    @Test(arguments: 0..<24)
    func `processes that create a store at once all open it`(round: Int) throws {
        let folder = try TemporaryFolder()
        let path = folder.path("store.sqlite")
        let errors = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            do { try Self.shared(path).close() } catch {
                errors.withLock { $0.append("\(error)") }
            }
        }
        #expect(errors.withLock { $0 } == [])
    }

    /// An opening writes: SQLite refuses it at once where it has read what another process changes.
    @Test func `an opening makes no file while another process writes`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("store.sqlite")
        let writer = try ProcessLock(path: path)
        writer.acquire()
        let isOpen = DispatchSemaphore(value: 0)
        let failure = Mutex<String?>(nil)
        Thread {
            do { try Self.shared(path).close() } catch { failure.withLock { $0 = "\(error)" } }
            isOpen.signal()
        }.start()
        #expect(isOpen.wait(timeout: .now() + 0.3) == .timedOut)
        #expect(!FileManager.default.fileExists(atPath: path))
        writer.release()
        #expect(isOpen.wait(timeout: .now() + 60) == .success)
        #expect(failure.withLock { $0 } == nil)
        #expect(FileManager.default.fileExists(atPath: path))
    }

    @Test(arguments: [Store.Options.Access.readWrite, .readOnly])
    func `an opening waits for a process that has the file for itself`(
        access: Store.Options.Access
    ) throws {
        let folder = try TemporaryFolder()
        let path = folder.path("store.sqlite")
        try Self.shared(path).close()
        // As it is while another process creates the file, or recovers its log after a kill.
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: path, configuration: configuration)
        try other.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE")
        }
        let isOpen = DispatchSemaphore(value: 0)
        let failure = Mutex<String?>(nil)
        Thread {
            var options = Store.Options()
            (options.processes, options.access) = (.several, access)
            do { try Store(.file(path), options: options).close() } catch {
                failure.withLock { $0 = "\(error)" }
            }
            isOpen.signal()
        }.start()
        #expect(isOpen.wait(timeout: .now() + 0.3) == .timedOut)
        try other.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
        try other.close()
        #expect(isOpen.wait(timeout: .now() + 60) == .success)
        #expect(failure.withLock { $0 } == nil)
    }
}
