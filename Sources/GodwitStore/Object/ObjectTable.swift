internal import Foundation
internal import GRDB
internal import GodwitTree

/// The rows behind the objects: canonical bytes, and a digest that is checked on every read.
///
/// SQLite cannot see damage inside a payload; the digest can.
enum ObjectTable {
    static let schema = [
        """
        CREATE TABLE godwit_object (
            collection TEXT NOT NULL,
            key TEXT NOT NULL,
            value BLOB NOT NULL,
            digest BLOB NOT NULL,
            commit_number INTEGER NOT NULL,
            PRIMARY KEY (collection, key)
        ) STRICT, WITHOUT ROWID;
        """
    ]

    static func digest(of key: ObjectKey, in database: Database) throws -> [UInt8]? {
        let statement = try database.cachedStatement(
            sql: "SELECT digest FROM godwit_object WHERE collection = ? AND key = ?"
        )
        return try Data.fetchOne(statement, arguments: key.arguments).map { Array($0) }
    }

    static func value(of key: ObjectKey, in database: Database) throws -> Value? {
        let statement = try database.cachedStatement(
            sql: "SELECT value, digest FROM godwit_object WHERE collection = ? AND key = ?"
        )
        guard let row = try Row.fetchOne(statement, arguments: key.arguments) else { return nil }
        let (bytes, digest) = (Array(row[0] as Data), Array(row[1] as Data))
        guard Value.digest(ofCanonicalBytes: bytes).bytes == digest,
            let value = try? Value(canonicalBytes: bytes)
        else { throw StoreError.damagedObject(key) }
        return value
    }

    static func keys(of collection: Key, in database: Database) throws -> [String] {
        let statement = try database.cachedStatement(
            sql: "SELECT key FROM godwit_object WHERE collection = ? ORDER BY key"
        )
        return try String.fetchAll(statement, arguments: [collection.text])
    }

    static func count(of collection: Key, in database: Database) throws -> Int {
        let statement = try database.cachedStatement(
            sql: "SELECT COUNT(*) FROM godwit_object WHERE collection = ?"
        )
        return try Int.fetchOne(statement, arguments: [collection.text]) ?? 0
    }

    static func set(
        _ key: ObjectKey,
        to object: (bytes: [UInt8], digest: [UInt8]),
        commit: CommitNumber,
        in database: Database
    ) throws {
        let statement = try database.cachedStatement(
            sql: """
                INSERT INTO godwit_object (collection, key, value, digest, commit_number)
                VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (collection, key) DO UPDATE
                SET value = excluded.value, digest = excluded.digest,
                    commit_number = excluded.commit_number
                """
        )
        let row: [any DatabaseValueConvertible] = [
            Data(object.bytes), Data(object.digest), commit.rawValue,
        ]
        try statement.execute(arguments: key.arguments + StatementArguments(row))
    }

    static func remove(_ key: ObjectKey, in database: Database) throws {
        let statement = try database.cachedStatement(
            sql: "DELETE FROM godwit_object WHERE collection = ? AND key = ?"
        )
        try statement.execute(arguments: key.arguments)
    }
}

extension ObjectKey {
    fileprivate var arguments: StatementArguments { [collection.text, key.text] }
}
