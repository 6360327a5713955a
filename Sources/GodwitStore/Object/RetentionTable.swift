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
            PRIMARY KEY (collection, written_at, key)
        ) STRICT, WITHOUT ROWID;
        CREATE UNIQUE INDEX godwit_retention_key ON godwit_retention (collection, key);
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

    static func note(_ key: ObjectKey, at milliseconds: Int64, in database: Database) throws {
        try forget(key, in: database)
        let statement = try PreparedStatement(
            "INSERT INTO godwit_retention (collection, written_at, key) VALUES (?, ?, ?)",
            in: database
        )
        try statement.bind(key.collection, at: 1)
        try statement.bind(milliseconds, at: 2)
        try statement.bind(key.key, at: 3)
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

    static func keys(
        of collection: Key,
        writtenBefore milliseconds: Int64,
        in database: Database
    ) throws -> [String] {
        try String.fetchAll(
            database.cachedStatement(
                sql: """
                    SELECT key FROM godwit_retention
                    WHERE collection = ? AND written_at < ? ORDER BY written_at
                    """
            ),
            arguments: [collection.text, milliseconds]
        )
    }

    /// The objects beyond the newest `count`.
    static func keys(
        of collection: Key,
        beyond count: Int,
        in database: Database
    ) throws -> [String] {
        try String.fetchAll(
            database.cachedStatement(
                sql: """
                    SELECT key FROM godwit_retention WHERE collection = ?
                    ORDER BY written_at DESC, key DESC LIMIT -1 OFFSET ?
                    """
            ),
            arguments: [collection.text, count]
        )
    }

    static func count(of collection: Key, in database: Database) throws -> Int {
        try Int.fetchOne(
            database.cachedStatement(
                sql: "SELECT COUNT(*) FROM godwit_retention WHERE collection = ?"
            ),
            arguments: [collection.text]
        ) ?? 0
    }

    static func hasNotes(in database: Database) throws -> Bool {
        try Bool.fetchOne(database, sql: "SELECT EXISTS (SELECT 1 FROM godwit_retention)") ?? false
    }

    /// Forgets the notes of collections that have no retention any more.
    static func forget(allBut collections: Set<Key>, in database: Database) throws {
        let noted = try String.fetchAll(
            database,
            sql: "SELECT DISTINCT collection FROM godwit_retention"
        )
        for collection in noted where !collections.contains(Key(collection)) {
            try database.execute(
                sql: "DELETE FROM godwit_retention WHERE collection = ?",
                arguments: [collection]
            )
        }
    }

    /// Notes the objects of a collection that have no note, and forgets notes without an object.
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
                )
                """,
            arguments: [collection.text]
        )
        try database.execute(
            sql: """
                INSERT INTO godwit_retention (collection, written_at, key)
                SELECT collection, ?2, key FROM godwit_object AS object
                WHERE collection = ?1 AND NOT EXISTS (
                    SELECT 1 FROM godwit_retention AS note
                    WHERE note.collection = ?1 AND note.key = object.key
                )
                """,
            arguments: [collection.text, milliseconds]
        )
    }
}
