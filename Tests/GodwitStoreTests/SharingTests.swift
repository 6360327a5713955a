import Foundation
import GRDB
import GodwitTestKit
import GodwitTree
import Synchronization
import Testing

@testable import GodwitStore

/// Several openers of one store, and the app's own database as a store.
@Suite struct SharingTests {
    let folder: TemporaryFolder
    let numbers = Store.Collection<Int>("numbers")

    init() throws { folder = try TemporaryFolder() }

    private var shared: Store.Options {
        var options = Store.Options()
        options.processes = .several
        return options
    }

    @Test func `those who share a store see each other's change sets`() async throws {
        let path = folder.path("store.sqlite")
        let (app, other) = (
            try Store(.file(path), options: shared), try Store(.file(path), options: shared)
        )
        let numbers = numbers
        var seen = other.changes().makeAsyncIterator()
        for number in 1...5 {
            try await app.write { try $0.set(number, for: "\(number % 2)", in: numbers) }
        }
        let found = try await other.read { try $0.get(["0", "1"], in: numbers) }
        #expect(found == ["0": 4, "1": 5])
        for number in 1...5 as ClosedRange<Int64> {
            let changes = try #require(await seen.next())
            #expect(changes.first.rawValue == number && changes.keys.count == 1)
            #expect(changes.inserted.isEmpty == (number > 2))
        }
        let commit = try await other.write { transaction in
            try transaction.set(6, for: "0", in: numbers)
            return transaction.commit
        }
        #expect(commit == CommitNumber(rawValue: 6), "numbers are unique among all")
        let back = try await app.read { try $0.get("0", in: numbers) }
        #expect(back == 6)
        try app.close()
        try other.close()
    }

    @Test
    func `own commits are told once, also to readers that see them before they are published`()
        async throws
    {
        let store = try Store(.file(folder.path("store.sqlite")), options: shared)
        let numbers = numbers
        let reader = ReaderAtCommit(store)
        try await store.write { $0.database.add(transactionObserver: reader) }
        let view = try await store.view()
        let changes = store.changes()
        for number in 1...3 {
            reader.arm()
            try await store.write { try $0.set(number, for: "a", in: numbers) }
        }
        #expect(try view.advance()?.inserted == [numbers.place("a")])
        try store.close()
        var seen: [CommitNumber] = []
        for await change in changes {
            #expect(!change.isFromElsewhere)
            seen.append(change.last)
        }
        #expect(reader.count == 3, "each commit was read before it was published")
        #expect(seen == (1...3).map(CommitNumber.init(rawValue:)))
    }

    @Test func `a backup of an adopted database goes through the app's own connection`()
        async throws
    {
        var configuration = Configuration()
        configuration.prepareDatabase { database in
            let length = DatabaseFunction("app_length", argumentCount: 1, pure: true) { values in
                String.fromDatabaseValue(values[0])?.count
            }
            database.add(function: length)
        }
        let pool = try DatabasePool(path: folder.path("app.sqlite"), configuration: configuration)
        // A connection without the app's function could not copy this index.
        try await pool.write { database in
            try database.execute(
                sql: """
                    CREATE TABLE app (name TEXT);
                    CREATE INDEX app_by_length ON app (app_length(name));
                    INSERT INTO app VALUES ('Ann');
                    """
            )
        }
        let store = try Store(adopting: pool)
        let numbers = numbers
        try await store.write { try $0.set(1, for: "a", in: numbers) }
        let copy = folder.path("copy.sqlite")
        try await store.backup(to: copy)
        try store.close()
        try pool.close()
        let found = try Store(adopting: DatabasePool(path: copy, configuration: configuration))
        let value = try await found.read { try $0.get("a", in: numbers) }
        #expect(value == 1)
        try found.close()
    }

    @Test func `the disk's own cache is flushed too, where the system leaves that to the app`()
        async throws
    {
        let store = try Store(.file(folder.path("store.sqlite")))
        let modes = try await store.betweenCommits { database in
            try ["fullfsync", "checkpoint_fullfsync", "synchronous"].map {
                try Int.fetchOne(database, sql: "PRAGMA \($0)")
            }
        }
        #expect(modes == [1, 1, 2])
        try store.close()
    }

    @Test func `a view stays frozen although another process writes`() async throws {
        let path = folder.path("store.sqlite")
        let (app, other) = (
            try Store(.file(path), options: shared), try Store(.file(path), options: shared)
        )
        let numbers = numbers
        try await app.write { try $0.set(1, for: "a", in: numbers) }
        try await other.read { _ in }
        let view = try await other.view()
        var told = other.changes().makeAsyncIterator()
        try await app.write { try $0.set(2, for: "a", in: numbers) }
        try await app.write { transaction in
            try transaction.remove("a", in: numbers)
            try transaction.set(3, for: "b", in: numbers)
        }
        #expect(try view.get("a", in: numbers) == 1)
        #expect(try view.keys(in: numbers) == ["a"])
        let changes = try view.advance()
        #expect(changes?.removed.count == 1 && changes?.inserted.count == 1)
        #expect(try view.keys(in: numbers) == ["b"])
        let news = await told.next()
        #expect(news?.isFromElsewhere == true)
        try app.close()
        try other.close()
    }

    @Test func `increments from several openers add up`() async throws {
        let path = folder.path("store.sqlite")
        let stores = try (0..<3).map { _ in try Store(.file(path), options: shared) }
        let numbers = numbers
        try await withThrowingTaskGroup(of: Void.self) { group in
            for store in stores {
                for _ in 0..<4 {
                    group.addTask {
                        for _ in 0..<50 {
                            try await store.write { transaction in
                                let number = try transaction.get("sum", in: numbers) ?? 0
                                try transaction.set(number + 1, for: "sum", in: numbers)
                            }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        for store in stores {
            let (sum, last) = try await store.read {
                (try $0.get("sum", in: numbers), $0.lastCommit)
            }
            #expect(sum == 600 && last == CommitNumber(rawValue: 600))
        }
        for store in stores { try store.close() }
    }

    @Test func `who was away for too long is told to look at everything`() async throws {
        let path = folder.path("store.sqlite")
        let (app, other) = (
            try Store(.file(path), options: shared), try Store(.file(path), options: shared)
        )
        let numbers = numbers
        var seen = other.changes().makeAsyncIterator()
        try await app.write { try $0.set(1, for: "a", in: numbers) }
        try await app.write { try $0.database.execute(sql: "DELETE FROM godwit_change") }
        let found = try await other.read { try $0.get("a", in: numbers) }
        #expect(found == 1)
        #expect(await seen.next()?.isReset == true)
        try app.close()
        try other.close()
    }

    @Test func `a reader beside a writer never mixes two commits`() async throws {
        let path = folder.path("store.sqlite")
        let numbers = numbers
        let writer = try Store(.file(path))
        try await writer.write { transaction in
            for key in ["x", "y"] { try transaction.set(1, for: key, in: numbers) }
        }
        let reader = try Store(.file(path), options: .readOnly)
        let view = try await reader.view()
        #expect(try view.get("x", in: numbers) == 1)
        try await writer.write { transaction in
            for key in ["x", "y"] { try transaction.set(2, for: key, in: numbers) }
        }
        let both = try await reader.read { transaction in
            try ["x", "y"].map { try transaction.get($0, in: numbers) }
        }
        #expect(both == [2, 2])
        #expect(throws: StoreError.self, "it cannot show what is gone") {
            try view.get("y", in: numbers)
        }
        try view.advance()
        #expect(try view.get("x", in: numbers) == 2 && view.get("y", in: numbers) == 2)
        try reader.close()
        try writer.close()
    }

    @Test func `an opener who wants to be alone is refused, and so is one beside him`() throws {
        let path = folder.path("store.sqlite")
        let sharing = try Store(.file(path), options: shared)
        #expect(throws: StoreError.alreadyOpen(path: path)) { try Store(.file(path)) }
        try sharing.close()
        let alone = try Store(.file(path))
        #expect(throws: StoreError.alreadyOpen(path: path)) {
            try Store(.file(path), options: shared)
        }
        try alone.close()
    }
}

// MARK: - Adoption

extension SharingTests {
    @Test(arguments: [true, false])
    func `the app's tables and its objects commit together`(isPool: Bool) async throws {
        let path = folder.path("app.sqlite")
        let writer: any DatabaseWriter =
            isPool ? try DatabasePool(path: path) : try DatabaseQueue(path: path)
        try await writer.write { try $0.execute(sql: "CREATE TABLE invoice (id INTEGER)") }
        let store = try Store(adopting: writer)
        let numbers = numbers
        struct Refusal: Error {}
        try await store.write { transaction in
            try transaction.set(1, for: "a", in: numbers)
            try transaction.database.execute(sql: "INSERT INTO invoice VALUES (1)")
        }
        await #expect(throws: Refusal.self) {
            try await store.write { transaction in
                try transaction.set(2, for: "a", in: numbers)
                try transaction.database.execute(sql: "INSERT INTO invoice VALUES (2)")
                throw Refusal()
            }
        }
        try await writer.write { try $0.execute(sql: "INSERT INTO invoice VALUES (3)") }
        let invoices = try await writer.read { try Int.fetchAll($0, sql: "SELECT id FROM invoice") }
        #expect(invoices == [1, 3])
        let number = try await store.read { try $0.get("a", in: numbers) }
        #expect(number == 1)
        #expect(throws: StoreError.alreadyOpen(path: path)) { try Store(.file(path)) }
        try store.close()
        let left = try await writer.read {
            try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM invoice")
        }
        #expect(left == 2, "the app's database is still open")
        try writer.close()
    }

    @Test func `an adopted database in memory is a store too`() async throws {
        let queue = try DatabaseQueue()
        let store = try Store(adopting: queue)
        let numbers = numbers
        try await store.write { try $0.set(1, for: "a", in: numbers) }
        let view = try await store.view()
        try await store.write { try $0.set(2, for: "a", in: numbers) }
        #expect(try view.get("a", in: numbers) == 1)
        try store.close()
    }
}

/// Reads the store in another thread when SQLite has committed, before the writer goes on.
private final class ReaderAtCommit: TransactionObserver, Sendable {
    private let store: Store
    private let state = Mutex((isArmed: false, count: 0))

    init(_ store: Store) { self.store = store }

    var count: Int { state.withLock { $0.count } }

    func arm() { state.withLock { $0.isArmed = true } }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
    func databaseDidChange(with event: DatabaseEvent) {}
    func databaseDidRollback(_ db: Database) {}

    func databaseDidCommit(_ db: Database) {
        let isArmed = state.withLock { state in
            defer { state.isArmed = false }
            return state.isArmed
        }
        guard isArmed else { return }
        let done = DispatchSemaphore(value: 0)
        let store = store
        Thread.detachNewThread {
            _ = try? store.database.read { try store.context.catchUp(in: $0) }
            done.signal()
        }
        done.wait()
        state.withLock { $0.count += 1 }
    }
}
