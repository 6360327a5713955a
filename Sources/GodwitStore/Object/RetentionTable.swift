internal import Foundation
internal import GRDB
internal import GodwitTree

/// When the objects of collections with a retention were last written.
enum RetentionTable {
    static let schema = """
        CREATE TABLE godwit_retention (
            collection TEXT NOT NULL,
            written_at INTEGER NOT NULL,
            key TEXT NOT NULL,
            commit_number INTEGER NOT NULL,
            PRIMARY KEY (collection, written_at, key)
        ) STRICT, WITHOUT ROWID;
        CREATE UNIQUE INDEX godwit_retention_key ON godwit_retention (collection, key);
        CREATE TABLE godwit_retention_total (
            collection TEXT PRIMARY KEY,
            object_count INTEGER NOT NULL,
            checksum INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        """

    /// When the object of a collection that was written last was, as far as is noted.
    static func last(of collection: Key, in database: Database) throws -> Int64? {
        try Int64.fetchOne(
            database.cachedStatement(
                sql: "SELECT MAX(written_at) FROM godwit_retention WHERE collection = ?"
            ),
            arguments: [collection.text]
        )
    }

    /// - Parameter commit: The commit that wrote the object: after a later one, the note is void.
    static func note(
        _ key: ObjectKey,
        _ commit: CommitNumber,
        at milliseconds: Int64,
        in database: Database
    ) throws {
        try forget(key, in: database)
        let statement = try PreparedStatement(
            """
            INSERT INTO godwit_retention (collection, written_at, key, commit_number)
            VALUES (?, ?, ?, ?)
            """,
            in: database
        )
        try statement.bind(key.collection, at: 1)
        try statement.bind(milliseconds, at: 2)
        try statement.bind(key.key, at: 3)
        try statement.bind(commit.rawValue, at: 4)
        try statement.execute()
    }

    static func forget(_ key: ObjectKey, in database: Database) throws {
        let statement = try PreparedStatement(
            "DELETE FROM godwit_retention WHERE collection = ? AND key = ?",
            in: database
        )
        try statement.bind(key.collection, at: 1)
        try statement.bind(key.key, at: 2)
        try statement.execute()
    }

    /// An object that is due, and the commit that wrote it when that was noted.
    struct Note {
        let key: ObjectKey
        let commit: CommitNumber
    }

    /// The notes of objects that were written before a moment.
    static func notes(
        of collection: Key,
        writtenBefore milliseconds: Int64,
        in database: Database
    ) throws -> [Note] {
        try notes(
            of: collection,
            "WHERE collection = ?1 AND written_at < ?2 ORDER BY written_at",
            milliseconds,
            in: database
        )
    }

    /// The notes of the objects beyond the newest `count`.
    static func notes(
        of collection: Key,
        beyond count: Int,
        in database: Database
    ) throws -> [Note] {
        try notes(
            of: collection,
            "WHERE collection = ?1 ORDER BY written_at DESC, key DESC LIMIT -1 OFFSET ?2",
            Int64(count),
            in: database
        )
    }

    private static func notes(
        of collection: Key,
        _ condition: String,
        _ argument: Int64,
        in database: Database
    ) throws -> [Note] {
        let statement = try PreparedStatement(
            "SELECT key, commit_number FROM godwit_retention " + condition,
            in: database
        )
        defer { statement.reset() }
        try statement.bind(collection, at: 1)
        try statement.bind(argument, at: 2)
        var notes: [Note] = []
        while try statement.step() {
            let key = ObjectKey(collection: collection, key: Key(statement.text(0)))
            notes.append(Note(key: key, commit: CommitNumber(rawValue: statement.integer(1))))
        }
        return notes
    }

    /// What a collection came to when all of its objects were noted.
    static func total(of collection: Key, in database: Database) throws -> Ledger.Total? {
        let statement = try PreparedStatement(
            "SELECT object_count, checksum FROM godwit_retention_total WHERE collection = ?",
            in: database
        )
        defer { statement.reset() }
        try statement.bind(collection, at: 1)
        guard try statement.step() else { return nil }
        return Ledger.Total(
            count: statement.integer(0),
            checksum: UInt64(bitPattern: statement.integer(1))
        )
    }

    static func set(_ total: Ledger.Total, of collection: Key, in database: Database) throws {
        let statement = try PreparedStatement(
            """
            INSERT OR REPLACE INTO godwit_retention_total (collection, object_count, checksum)
            VALUES (?, ?, ?)
            """,
            in: database
        )
        try statement.bind(collection, at: 1)
        try statement.bind(total.count, at: 2)
        try statement.bind(Int64(bitPattern: total.checksum), at: 3)
        try statement.execute()
    }

    static func hasNotes(of collection: Key, in database: Database) throws -> Bool {
        let statement = try PreparedStatement(
            "SELECT EXISTS (SELECT 1 FROM godwit_retention WHERE collection = ?)",
            in: database
        )
        defer { statement.reset() }
        try statement.bind(collection, at: 1)
        return try statement.step() && statement.integer(0) != 0
    }

    /// Forgets the notes of a collection that has no retention any more.
    static func forget(_ collection: Key, in database: Database) throws {
        for table in ["godwit_retention", "godwit_retention_total"] {
            let statement = try PreparedStatement(
                "DELETE FROM \(table) WHERE collection = ?",
                in: database
            )
            try statement.bind(collection, at: 1)
            try statement.execute()
        }
    }

    /// Notes the objects of a collection that have no valid note, and forgets all other notes.
    ///
    /// - Complexity: O(*n*) in the size of the collection.
    static func complete(
        _ collection: Key,
        at milliseconds: Int64,
        in database: Database
    ) throws {
        try database.execute(
            sql: """
                DELETE FROM godwit_retention WHERE collection = ?1 AND NOT EXISTS (
                    SELECT 1 FROM godwit_object AS object
                    WHERE object.collection = ?1 AND object.key = godwit_retention.key
                        AND object.commit_number = godwit_retention.commit_number
                )
                """,
            arguments: [collection.text]
        )
        try database.execute(
            sql: """
                INSERT INTO godwit_retention (collection, written_at, key, commit_number)
                SELECT collection, ?2, key, commit_number FROM godwit_object AS object
                WHERE collection = ?1 AND NOT EXISTS (
                    SELECT 1 FROM godwit_retention AS note
                    WHERE note.collection = ?1 AND note.key = object.key
                )
                """,
            arguments: [collection.text, milliseconds]
        )
    }
}
