import GRDB
import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

/// The store takes part in transactions that the app begins itself.
@Suite struct JoinTests {
    private let numbers = Store.Collection<Int>("numbers")
    private struct Refusal: Error {}

    private func adopted() throws -> (DatabaseQueue, Store) {
        let database = try DatabaseQueue()
        try database.write { try $0.execute(sql: "CREATE TABLE invoice (id INTEGER)") }
        return (database, try Store(adopting: database))
    }

    @Test func `the app's rows and the store's objects commit together`() async throws {
        let (database, store) = try adopted()
        let numbers = numbers
        var changes = store.changes().makeAsyncIterator()
        let view = try await store.view()
        try await database.write { database in
            try database.execute(sql: "INSERT INTO invoice VALUES (1)")
            try store.write(in: database) { try $0.set(1, for: "a", in: numbers) }
            let seen = try store.write(in: database) { try $0.get("a", in: numbers) }
            #expect(seen == 1, "the second part sees the first")
            try store.write(in: database) { try $0.set(2, for: "b", in: numbers) }
        }
        #expect(await changes.next()?.inserted == [numbers.place("a")])
        #expect(await changes.next()?.inserted == [numbers.place("b")])
        #expect(try view.get("a", in: numbers) == nil, "a view stays at its commit")
        try view.advance()
        #expect(try view.get("a", in: numbers) == 1)
        let count = try await store.read { try $0.count(in: numbers) }
        #expect(count == 2)
        try await store.write { try $0.set(3, for: "c", in: numbers) }
        let report = try await store.integrityCheck()
        #expect(report.isSound, "\(report.problems)")
        try store.close()
    }

    @Test func `nothing is left of a transaction that the app rolls back`() async throws {
        let (database, store) = try adopted()
        let numbers = numbers
        try await store.write { try $0.set(1, for: "a", in: numbers) }
        let view = try await store.view()
        await #expect(throws: Refusal.self) {
            try await database.write { database in
                try store.write(in: database) { try $0.set(2, for: "a", in: numbers) }
                throw Refusal()
            }
        }
        let (value, commit) = try await store.read { transaction in
            (try transaction.get("a", in: numbers), transaction.lastCommit)
        }
        #expect(value == 1)
        #expect(try view.get("a", in: numbers) == 1)
        let next = try await store.writeLater { try $0.set(3, for: "a", in: numbers) }.finish()
        #expect(next.commit == commit.next)
        try store.close()
    }

    @Test func `a part that throws leaves no trace, and the app's transaction goes on`()
        async throws
    {
        let (database, store) = try adopted()
        let numbers = numbers
        try await database.write { database in
            try store.write(in: database) { try $0.set(1, for: "a", in: numbers) }
            #expect(throws: Refusal.self) {
                try store.write(in: database) { transaction in
                    try transaction.set(2, for: "a", in: numbers)
                    throw Refusal()
                }
            }
            try database.execute(sql: "INSERT INTO invoice VALUES (1)")
        }
        let value = try await store.read { try $0.get("a", in: numbers) }
        #expect(value == 1)
        try store.close()
    }

    @Test func `outside of a transaction of its own database the store takes no part`()
        async throws
    {
        let (database, store) = try adopted()
        let other = try DatabaseQueue()
        let numbers = numbers
        try await other.write { other -> Void in
            #expect(throws: StoreError.foreignTransaction) {
                try store.write(in: other) { try $0.set(1, for: "a", in: numbers) }
            }
        }
        try await database.writeWithoutTransaction { database -> Void in
            #expect(throws: StoreError.foreignTransaction) {
                try store.write(in: database) { try $0.set(1, for: "a", in: numbers) }
            }
        }
        await #expect(throws: StoreError.foreignTransaction) {
            try await store.write { transaction in
                try store.write(in: transaction.database) { try $0.set(1, for: "a", in: numbers) }
            }
        }
        try store.close()
        try await database.write { database -> Void in
            #expect(throws: StoreError.closed) {
                try store.write(in: database) { try $0.set(1, for: "a", in: numbers) }
            }
        }
    }

    @Test func `after a relaxed write the app's own transactions are as durable as before`()
        async throws
    {
        let (database, store) = try adopted()
        let numbers = numbers
        try await store.write(durability: .relaxed) { try $0.set(1, for: "a", in: numbers) }
        let synchronous = try await database.writeWithoutTransaction { database in
            try Int.fetchOne(database, sql: "PRAGMA synchronous")
        }
        #expect(synchronous == 2, "FULL")
        try store.close()
    }

    @Test func `several parts of one transaction are logged for other processes`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("app.sqlite")
        let database = try DatabaseQueue(path: path)
        var options = Store.Options()
        options.processes = .several
        let store = try Store(adopting: database, options: options)
        let other = try Store(.file(path), options: options)
        let numbers = numbers
        var changes = other.changes().makeAsyncIterator()
        try await database.write { database in
            try store.write(in: database) { try $0.set(1, for: "a", in: numbers) }
            try store.write(in: database) { try $0.set(2, for: "b", in: numbers) }
        }
        let found = try await other.read { try $0.get(["a", "b"], in: numbers) }
        #expect(found == ["a": 1, "b": 2])
        #expect(await changes.next()?.inserted == [numbers.place("a")])
        #expect(await changes.next()?.inserted == [numbers.place("b")])
        try store.close()
        try other.close()
    }

    @Test func `a savepoint that is rolled back around a part is noticed`() async throws {
        let (database, store) = try adopted()
        let numbers = numbers
        try await database.write { database in
            try store.write(in: database) { try $0.set(1, for: "a", in: numbers) }
            try database.inSavepoint {
                try store.write(in: database) { try $0.set(2, for: "a", in: numbers) }
                return .rollback
            }
            #expect(throws: StoreError.savepointRolledBack) {
                try store.write(in: database) { try $0.set(3, for: "a", in: numbers) }
            }
        }
        let value = try await store.read { try $0.get("a", in: numbers) }
        #expect(value == 1, "what is known is what is stored")
        try await store.write { try $0.set(4, for: "b", in: numbers) }
        let report = try await store.integrityCheck()
        #expect(report.isSound, "\(report.problems)")
        try store.close()
    }

    @Test func `a savepoint that the app rolls back within a write refuses the write`() async throws
    {
        let store = try Store(.memory)
        let numbers = numbers
        try await store.write { try $0.set(0, for: "old", in: numbers) }
        await #expect(throws: StoreError.savepointRolledBack) {
            try await store.write { transaction in
                let database = transaction.database
                try database.execute(sql: "SAVEPOINT import")
                try transaction.set(1, for: "a", in: numbers)
                try transaction.remove("old", in: numbers)
                try database.execute(sql: "ROLLBACK TO import; RELEASE import")
                try transaction.set(2, for: "b", in: numbers)
            }
        }
        try await store.write { transaction in
            let database = transaction.database
            try database.execute(sql: "SAVEPOINT import")
            try transaction.set(3, for: "c", in: numbers)
            try database.execute(sql: "RELEASE import; SAVEPOINT empty; ROLLBACK TO empty")
        }
        let kept = try await store.read { try $0.get(["a", "b", "c", "old"], in: numbers) }
        #expect(kept == ["c": 3, "old": 0])
        let report = try await store.integrityCheck()
        #expect(report.isSound, "\(report.problems)")
        try store.close()
    }

    @Test func `an app that uses the connection in each write keeps its prepared statements`()
        async throws
    {
        let store = try Store(.memory)
        let numbers = numbers
        var statements: [ObjectIdentifier] = []
        for number in 0..<3 {
            statements += [
                try await store.write { transaction in
                    try transaction.set(number, for: "a", in: numbers)
                    let statement = try transaction.database.cachedStatement(sql: "SELECT 7")
                    return ObjectIdentifier(statement)
                }
            ]
        }
        #expect(statements[1] == statements[2])
        try store.close()
    }

    @Test func `it is noticed by a view and by an observer that are behind, too`() async throws {
        let (database, store) = try adopted()
        let numbers = numbers
        let view = try await store.view()
        var heard = store.changes().makeAsyncIterator()
        for number in 0..<300 {
            try await store.write { try $0.set(number, for: "a", in: numbers) }
        }
        try await database.write { database in
            try store.write(in: database) { try $0.set(300, for: "a", in: numbers) }
            try database.inSavepoint {
                try store.write(in: database) { try $0.set(-1, for: "a", in: numbers) }
                return .rollback
            }
        }
        #expect(try view.advance()?.isReset == true)
        #expect(try view.get("a", in: numbers) == 300)
        var isReset = false
        while !isReset { isReset = try #require(await heard.next()).isReset }
        try store.close()
    }
}

/// SQLite rolls a transaction back by itself when a statement fails badly: on a disk that is full, say.
extension JoinTests {
    /// What the app does next.
    enum Next: CaseIterable {
        case storeWrites, appWrites, appWritesBoth
    }

    @Test(arguments: Next.allCases)
    func `a statement that rolls the app's transaction back takes the store's part along`(
        next: Next
    ) async throws {
        let (database, store) = try adopted()
        let numbers = numbers
        try await store.write(durability: .relaxed) { try $0.set(1, for: "a", in: numbers) }
        try await database.write { database in
            try database.execute(sql: "CREATE UNIQUE INDEX one ON invoice (id)")
            try database.execute(sql: "INSERT INTO invoice VALUES (1)")
        }
        let view = try await store.view()
        var changes = store.changes().makeAsyncIterator()
        await #expect(throws: (any Error).self) {
            try await database.write { database in
                try store.write(in: database) { try $0.set(2, for: "a", in: numbers) }
                try database.execute(sql: "INSERT OR ROLLBACK INTO invoice VALUES (1)")
            }
        }
        switch next {
        case .storeWrites: try await store.write { try $0.set(3, for: "b", in: numbers) }
        case .appWrites:
            try await database.write { try $0.execute(sql: "INSERT INTO invoice VALUES (3)") }
            try await store.write { try $0.set(3, for: "b", in: numbers) }
        case .appWritesBoth:
            try await database.write { database in
                try store.write(in: database) { try $0.set(3, for: "b", in: numbers) }
            }
        }
        let values = try await store.read { transaction in
            [try transaction.get("a", in: numbers), try transaction.get("b", in: numbers)]
        }
        #expect(values == [1, 3])
        #expect(try view.advance()?.inserted == [numbers.place("b")])
        #expect(try view.get("a", in: numbers) == 1)
        let change = try #require(await changes.next())
        #expect(change.inserted == [numbers.place("b")] && change.updated.isEmpty)
        let report = try await store.integrityCheck()
        #expect(report.isSound, "\(report.problems)")
        try store.close()
    }

    @Test
    func `a transaction that ended for an unknown reason over unsynced commits ends the writing`()
        async throws
    {
        let (database, store) = try adopted()
        let numbers = numbers
        try await store.write(durability: .relaxed) { try $0.set(1, for: "a", in: numbers) }
        try await database.write { database in
            try database.execute(sql: "CREATE UNIQUE INDEX one ON invoice (id)")
            try database.execute(sql: "INSERT INTO invoice VALUES (1)")
        }
        await #expect(throws: (any Error).self) {
            try await database.write { database in
                try store.write(in: database) { try $0.set(2, for: "a", in: numbers) }
                try? database.execute(sql: "INSERT OR ROLLBACK INTO invoice VALUES (1)")
                // SQLite tells now of this one that it has succeeded.
                let other = try PreparedStatement("SELECT 1", in: database)
                #expect(try other.step())
            }
        }
        let refusal = StoreError.mustReopen(reason: "a transaction of the app's own has failed")
        await #expect(throws: refusal, "it may have been a sync that failed") {
            try await store.write { try $0.set(3, for: "b", in: numbers) }
        }
        #expect(try await store.read { try $0.get("a", in: numbers) } == 1)
        try store.close()
    }

    @Test func `of a savepoint around all parts nothing is left, and another part may follow`()
        async throws
    {
        let (database, store) = try adopted()
        let numbers = numbers
        let view = try await store.view()
        try await database.write { database in
            try database.inSavepoint {
                try store.write(in: database) { try $0.set(1, for: "a", in: numbers) }
                return .rollback
            }
            try store.write(in: database) { try $0.set(2, for: "b", in: numbers) }
        }
        #expect(try view.advance()?.inserted == [numbers.place("b")])
        #expect(try view.get("a", in: numbers) == nil)
        let report = try await store.integrityCheck()
        #expect(report.isSound, "\(report.problems)")
        try store.close()
    }
}
