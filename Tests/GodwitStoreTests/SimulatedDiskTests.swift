import Foundation
import GRDB
import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

/// The simulated disk must be a good disk as long as nothing is wrong, and as bad as it says then.
@Suite struct SimulatedDiskTests {
    private let folder: TemporaryFolder
    private let disk: SimulatedDisk
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        disk = SimulatedDisk(folder: folder)
        path = folder.path("a.sqlite")
    }

    @Test func `files of the folder are on the disk, all others are where they were`() throws {
        let other = try TemporaryFolder()
        try DatabaseQueue(path: path).close()
        let queue = try DatabaseQueue(path: other.path("a.sqlite"))
        try queue.write { try $0.execute(sql: "CREATE TABLE t (n)") }
        try queue.close()

        #expect(FileManager.default.fileExists(atPath: other.path("a.sqlite")))
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(disk.operationCount == 0, "an empty database is not written")
    }

    @Test(arguments: ["WAL", "DELETE", "TRUNCATE", "PERSIST"])
    func `two connections see each other's commits, and lock each other out`(
        journal: String
    )
        throws
    {
        let first = try DatabaseQueue(path: path)
        let second = try DatabaseQueue(path: path)
        try first.writeWithoutTransaction {
            #expect(try String.fetchOne($0, sql: "PRAGMA journal_mode = \(journal)") != "memory")
            try $0.execute(sql: "CREATE TABLE t (n)")
        }
        for number in 1...50 {
            let (writer, reader) = number.isMultiple(of: 2) ? (first, second) : (second, first)
            try writer.write {
                try $0.execute(sql: "INSERT INTO t VALUES (?)", arguments: [number])
            }
            let count = try reader.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM t") }
            #expect(count == number)
        }
        try first.writeWithoutTransaction { database in
            try database.execute(sql: "BEGIN IMMEDIATE")
            #expect(throws: DatabaseError.self) {
                try second.write { try $0.execute(sql: "DELETE FROM t") }
            }
            try database.execute(sql: "COMMIT")
        }
        try first.close()
        try second.close()
    }

    /// SQLite's manual: "EXTRA synchronous is like FULL with the addition that the directory
    /// containing a rollback journal is synced after that journal is unlinked to commit a
    /// transaction in DELETE mode." The disk must know the difference.
    @Test(arguments: [("FULL", true), ("EXTRA", false)])
    func `a file that is removed can come back, unless its folder is synced`(
        synchronous: String,
        losesCommits: Bool
    ) throws {
        var lostCount = 0
        for cut in 1...60 {
            disk.cutPower(at: cut)
            let committed = (try? count(to: cut, synchronous: synchronous)) ?? 0
            disk.restart(seed: UInt64(cut))
            let found = try count(to: 0, synchronous: synchronous)
            #expect(found >= committed - 1, "cut at \(cut)")
            lostCount += max(0, committed - found)
            disk.restart(seed: 1)
        }
        #expect((lostCount > 0) == losesCommits)
    }

    /// Commits numbers until the power goes or there are enough; answers with the last of them.
    private func count(to end: Int, synchronous: String) throws -> Int {
        let queue = try DatabaseQueue(path: path)
        defer { try? queue.close() }
        try queue.writeWithoutTransaction {
            try $0.execute(sql: "PRAGMA synchronous = \(synchronous)")
            try $0.execute(sql: "CREATE TABLE IF NOT EXISTS t (n INTEGER PRIMARY KEY)")
        }
        var last = try queue.read { try Int.fetchOne($0, sql: "SELECT MAX(n) FROM t") ?? 0 }
        let goal = last + end
        while last < goal {
            let next = last + 1
            let isCommitted: Void? = try? queue.write {
                try $0.execute(sql: "INSERT INTO t VALUES (?)", arguments: [next])
            }
            guard isCommitted != nil else { break }
            last = next
        }
        return last
    }

    @Test(arguments: [SimulatedDisk.Fault.inputOutput, .full], [false, true])
    func `an operation that fails has no effect, and the store goes on when it works again`(
        fault: SimulatedDisk.Fault,
        persistently: Bool
    ) async throws {
        let numbers = Store.Collection<Int>("numbers")
        let store = try Store(.file(path))
        disk.fail(at: disk.operationCount + 1, with: fault, persistently: persistently)
        await #expect(throws: (any Error).self) {
            try await store.write { try $0.set(1, for: "a", in: numbers) }
        }
        let none = try await store.read { try $0.get("a", in: numbers) }
        #expect(none == nil, "reading goes on")
        disk.mend()
        try await store.write { try $0.set(2, for: "b", in: numbers) }
        let keys = try await store.read { try $0.keys(in: numbers) }
        #expect(keys == ["b"])
        try store.close()
    }

    /// After a sync that failed, the kernel forgets which pages it still had to write: a later
    /// sync that succeeds says nothing of them.
    @Test(arguments: 1...16)
    func `a commit after a failed operation is as durable as any`(number: Int) async throws {
        let numbers = Store.Collection<Int>("numbers")
        var store = try Store(.file(path))
        disk.fail(at: disk.operationCount + number, with: .inputOutput)
        var committed: Set<String> = []
        for key in ["a", "b", "c", "d"] {
            do {
                try await store.write { try $0.set(1, for: key, in: numbers) }
                committed.insert(key)
            } catch StoreError.mustReopen {
                let refusing = store
                await #expect(throws: StoreError.self, "nothing is written any more") {
                    try await refusing.write { try $0.set(2, for: key, in: numbers) }
                }
                try? store.close()
                store = try Store(.file(path))
            } catch StoreError.inputOutput {}
        }
        #expect(committed.count >= 3)
        disk.cutPower(at: disk.operationCount + 1)
        try? store.close()
        for seed in 0..<10 as Range<UInt64> {
            disk.restart(seed: seed)
            let found = try Store(.file(path))
            let keys = try await found.read { Set(try $0.keys(in: numbers)) }
            #expect(keys.isSuperset(of: committed), "seed \(seed)")
            try found.close()
            disk.rewind()
        }
    }
}
