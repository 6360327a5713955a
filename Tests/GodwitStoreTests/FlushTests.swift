import Dispatch
import Foundation
import GRDB
import GodwitTestKit
import GodwitTree
import Synchronization
import Testing

@testable import GodwitStore

/// A flush puts all earlier writes on the disk, or throws the reason why it cannot.
@Suite struct FlushTests {
    struct Refusal: Error, Equatable {}

    let folder: TemporaryFolder
    let numbers = Store.Collection<Int>("numbers")

    init() throws { folder = try TemporaryFolder() }

    @Test func `a flush syncs the relaxed writes of other processes, too`() async throws {
        let disk = SimulatedDisk(folder: folder)
        let location = Store.Location.file(folder.path("store.sqlite"))
        var options = Store.Options()
        options.processes = .several
        let numbers = numbers
        let (writer, other) = (
            try Store(location, options: options), try Store(location, options: options)
        )
        try await writer.write(durability: .relaxed) { try $0.set(1, for: "a", in: numbers) }
        #expect(try await other.read { try $0.get("a", in: numbers) } == 1)
        try await other.flush()
        disk.cutPower(at: disk.operationCount + 1)
        try? await writer.write { try $0.set(2, for: "b", in: numbers) }
        try? writer.close()
        try? other.close()
        disk.restart(seed: 1)
        let store = try Store(location)
        #expect(try await store.read { try $0.get("a", in: numbers) } == 1)
        try store.close()
    }

    @Test(arguments: [false, true])
    func `relaxed writes that were flushed survive a power cut, also beside a long reader`(
        hasReader: Bool
    ) async throws {
        let disk = SimulatedDisk(folder: folder)
        let path = folder.path("store.sqlite")
        let numbers = numbers
        let store = try Store(.file(path))
        try await store.write { try $0.set(1, for: "a", in: numbers) }
        let (began, end) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let over = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            defer { over.signal() }
            guard hasReader else {
                began.signal()
                return
            }
            try? store.database.read { database in
                _ = try Ledger.last(in: database)
                began.signal()
                end.wait()
            }
        }
        await began.signalled()
        for key in ["b", "c"] {
            try await store.write(durability: .relaxed) { try $0.set(1, for: key, in: numbers) }
            try await store.flush()
        }
        disk.cutPower(at: disk.operationCount + 1)
        end.signal()
        await over.signalled()
        try? store.close()
        for seed in 0..<20 as Range<UInt64> {
            disk.restart(seed: seed)
            let found = try Store(.file(path))
            let keys = try await found.read { try $0.keys(in: numbers) }
            #expect(keys == ["a", "b", "c"], "seed \(seed)")
            try found.close()
            disk.rewind()
        }
    }

    @Test func `a flush throws the error of a write that no task awaited`() async throws {
        let store = try Store(.memory)
        let numbers = numbers
        try store.writeLater { _ in throw Refusal() }
        try store.writeLater { try $0.set(1, for: "a", in: numbers) }
        await #expect(throws: Refusal.self) { try await store.flush() }
        try await store.flush()
        let count = try await store.read { try $0.count(in: numbers) }
        #expect(count == 1, "the other write is committed, and the error is told once")
        try store.close()
    }

    @Test func `an error that a task has got is not told again by the flush`() async throws {
        let store = try Store(.memory)
        await #expect(throws: Refusal.self) { try await store.write { _ in throw Refusal() } }
        try await store.flush()
        try store.close()
    }

    @Test func `a full disk under writes that no task awaits is told by the flush`() async throws {
        let disk = SimulatedDisk(folder: folder)
        let store = try Store(.file(folder.path("store.sqlite")))
        let numbers = numbers
        try await store.write { try $0.set(0, for: "a", in: numbers) }
        await store.suspend()
        try store.writeLater { transaction in
            for number in 0..<5_000 { try transaction.set(number, for: "\(number)", in: numbers) }
        }
        disk.fail(at: disk.operationCount + 1, with: .full, persistently: true)
        store.resume()
        // Its own empty transaction may well end, on a disk that has room again.
        while try await store.statistics().queueDepth > 0 { await Task.yield() }
        await store.suspend()
        disk.mend()
        store.resume()
        await #expect(throws: StoreError.diskFull) { try await store.flush() }
        try store.close()
    }

    @Test func `a sync that fails in a flush ends writing, another failure does not`() async throws
    {
        let count = try await endings { try await $0.flush() }
        #expect(count == 1, "a flush syncs once")
    }

    @Test func `a sync that fails in a vacuum ends writing, another failure does not`() async throws
    {
        let count = try await endings { try await $0.vacuum() }
        #expect(count > 1, "it syncs both files")
    }

    /// Fails each operation of the disk that `body` makes, one after the other.
    ///
    /// - Returns: After how many of them the store took no more writes.
    private func endings(of body: (Store) async throws -> Void) async throws -> Int {
        var (endings, number) = (0, 0)
        while true {
            number += 1
            let folder = try TemporaryFolder()
            let disk = SimulatedDisk(folder: folder)
            let store = try Store(.file(folder.path("store.sqlite")))
            let numbers = numbers
            try await store.write(durability: .relaxed) { try $0.set(1, for: "a", in: numbers) }
            disk.fail(at: disk.operationCount + number, with: .inputOutput)
            let failure = await failure { try await body(store) }
            disk.mend()
            let next = await self.failure {
                try await store.write { try $0.set(2, for: "b", in: numbers) }
            }
            if case .mustReopen = next as? StoreError {
                endings += 1
            } else {
                #expect(next == nil, "operation \(number)")
            }
            try? store.close()
            let again = try Store(.file(folder.path("store.sqlite")))
            let kept = try await again.read { try $0.get("a", in: numbers) }
            #expect(kept == 1, "operation \(number)")
            try again.close()
            if failure == nil { return endings }
        }
    }

    @Test func `a sync that fails in the app's own transaction ends writing, too`() async throws {
        var (endings, number) = (0, 0)
        while true {
            number += 1
            let folder = try TemporaryFolder()
            let disk = SimulatedDisk(folder: folder)
            let pool = try DatabasePool(path: folder.path("store.sqlite"))
            let store = try Store(adopting: pool)
            let numbers = numbers
            try await store.write(durability: .relaxed) { try $0.set(1, for: "a", in: numbers) }
            disk.fail(at: disk.operationCount + number, with: .inputOutput)
            let failure = await failure {
                try await pool.write { database in
                    try store.write(in: database) { try $0.set(2, for: "a", in: numbers) }
                }
            }
            disk.mend()
            let next = await self.failure {
                try await store.write { try $0.set(3, for: "a", in: numbers) }
            }
            if case .mustReopen = next as? StoreError {
                endings += 1
            } else {
                #expect(next == nil, "operation \(number)")
            }
            try? store.close()
            try? pool.close()
            if failure == nil { break }
        }
        #expect(endings == 1, "the commit syncs once")
    }

    private func failure(_ body: () async throws -> Void) async -> (any Error)? {
        do {
            try await body()
            return nil
        } catch {
            return error
        }
    }
}

extension DispatchSemaphore {
    /// Waits for a signal without blocking the test's own thread.
    func signalled() async {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                self.wait()
                continuation.resume()
            }
        }
    }
}
