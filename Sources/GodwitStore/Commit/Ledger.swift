internal import GRDB
internal import GodwitTree

/// How many objects each collection has, a checksum over all of them, and the last commit.
///
/// The rows lie together in one page, so that each commit writes this one page more and not two.
/// They make counting O(1), and tell when a walk over a collection has not seen all of it:
/// damage inside a B-tree can hide rows without SQLite noticing.
enum Ledger {
    /// The sum of a collection's objects.
    struct Total: Hashable, Sendable {
        var count: Int64 = 0
        /// The first words of all seals, combined by exclusive or.
        var checksum: UInt64 = 0

        mutating func add(_ object: StoredObject) {
            count += 1
            checksum ^= object.seal.high
        }

        mutating func remove(_ object: StoredObject) {
            count -= 1
            checksum ^= object.seal.high
        }
    }

    /// Slot 0 is the store itself; it has no collection.
    static let schema = """
        CREATE TABLE godwit_ledger (
            slot INTEGER PRIMARY KEY,
            collection TEXT UNIQUE,
            commit_number INTEGER NOT NULL,
            object_count INTEGER NOT NULL,
            checksum INTEGER NOT NULL,
            seal BLOB NOT NULL
        ) STRICT;
        """

    static func last(in database: Database) throws -> CommitNumber {
        let statement = try PreparedStatement(
            """
            SELECT commit_number, object_count, checksum, seal FROM godwit_ledger WHERE slot = 0
            """,
            in: database
        )
        defer { statement.reset() }
        guard try statement.step() else { throw damage("the row of the last commit is missing") }
        let numbers = (0..<3).map { statement.integer($0) }
        guard Seal(collection: nil, numbers).matches(statement.blob(3)) else {
            throw damage("the number of the last commit is damaged")
        }
        return CommitNumber(rawValue: numbers[0])
    }

    static func total(of collection: Key, in database: Database) throws -> Total {
        let statement = try PreparedStatement(
            """
            SELECT commit_number, object_count, checksum, seal FROM godwit_ledger
            WHERE collection = ?
            """,
            in: database
        )
        defer { statement.reset() }
        statement.bind(collection, at: 1)
        guard try statement.step() else { return Total() }
        let numbers = (0..<3).map { statement.integer($0) }
        guard Seal(collection: collection, numbers).matches(statement.blob(3)) else {
            throw damage("the total of \(collection) is damaged")
        }
        return Total(count: numbers[1], checksum: UInt64(bitPattern: numbers[2]))
    }

    static func collections(in database: Database) throws -> [Key] {
        let statement = try PreparedStatement(
            """
            SELECT collection FROM godwit_ledger WHERE slot > 0 AND object_count > 0
            ORDER BY collection
            """,
            in: database
        )
        defer { statement.reset() }
        var collections: [Key] = []
        while try statement.step() { collections.append(Key(statement.text(0))) }
        return collections
    }

    static func record(_ commit: CommitNumber, in database: Database) throws {
        try write(nil, commit: commit, Total(), in: database)
    }

    static func record(
        _ total: Total,
        of collection: Key,
        commit: CommitNumber,
        in database: Database
    ) throws {
        try write(collection, commit: commit, total, in: database)
    }

    private static func write(
        _ collection: Key?,
        commit: CommitNumber,
        _ total: Total,
        in database: Database
    ) throws {
        let numbers = [commit.rawValue, total.count, Int64(bitPattern: total.checksum)]
        let update = try PreparedStatement(
            """
            UPDATE godwit_ledger
            SET commit_number = ?1, object_count = ?2, checksum = ?3, seal = ?4
            WHERE \(collection == nil ? "slot = 0" : "collection = ?5")
            """,
            in: database
        )
        let bind = { (statement: PreparedStatement) in
            for (index, number) in numbers.enumerated() {
                statement.bind(number, at: Int32(index + 1))
            }
            statement.bind(Seal(collection: collection, numbers).bytes, at: 4)
            if let collection { statement.bind(collection, at: 5) }
        }
        bind(update)
        try update.execute()
        guard update.changedRowCount == 0 else { return }
        let insert = try PreparedStatement(
            """
            INSERT INTO godwit_ledger
                (commit_number, object_count, checksum, seal, slot, collection)
            VALUES (?1, ?2, ?3, ?4, \(collection == nil ? "0, NULL" : "NULL, ?5"))
            """,
            in: database
        )
        bind(insert)
        try insert.execute()
    }

    private static func damage(_ reason: String) -> StoreError {
        .damagedLedger(reason: reason)
    }
}
