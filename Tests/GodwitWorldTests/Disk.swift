import Foundation
import GRDB
import GodwitTree

@testable import GodwitQueue
@testable import GodwitStore

/// Reads the tables as they are, past the store and its cache.
enum Disk {
    static func marks(in database: Database) throws -> [Int: CommitNumber] {
        let rows = try rows(of: App.marks.name, in: database)
        return rows.reduce(into: [:]) { marks, row in
            marks[Int(row.key) ?? -1] = CommitNumber(rawValue: row.value.int64 ?? -1)
        }
    }

    static func done(in database: Database) throws -> Set<String> {
        Set(try rows(of: App.done.name, in: database).keys)
    }

    static func objects(in database: Database) throws -> [ObjectKey: StoredNote] {
        var objects: [ObjectKey: StoredNote] = [:]
        for collection in [App.notes, App.labels] {
            let versions = try versions(of: collection.name, in: database)
            for (key, value) in try rows(of: collection.name, in: database) {
                let place = ObjectKey(collection: collection.name, key: Key(key))
                objects[place] = StoredNote(value, version: versions[key] ?? 0)
            }
        }
        return objects
    }

    private static func versions(of collection: Key, in database: Database) throws -> [String: Int]
    {
        let sql = "SELECT key, version FROM godwit_object WHERE collection = ?"
        return try Row.fetchAll(database, sql: sql, arguments: [collection.text])
            .reduce(into: [:]) { $0[$1[0]] = $1[1] }
    }

    /// The unfinished operations, in order.
    static func operations(in database: Database) throws -> [OperationID] {
        let sql = "SELECT id FROM godwit_operation ORDER BY number"
        return try String.fetchAll(database, sql: sql).compactMap { OperationID($0) }
    }

    /// Whether an operation has left the line.
    static func isThrough(_ id: OperationID, in database: Database) throws -> Bool {
        let sql = "SELECT state FROM godwit_operation WHERE id = ?"
        let state = try String.fetchOne(database, sql: sql, arguments: [id.description])
        return state.map { ["deadLetter", "unreadable", "conflict"].contains($0) } ?? true
    }

    static func lastCommit(in database: Database) throws -> CommitNumber {
        let sql = "SELECT commit_number FROM godwit_ledger WHERE slot = 0"
        return CommitNumber(rawValue: try Int64.fetchOne(database, sql: sql) ?? 0)
    }

    private static func rows(of collection: Key, in database: Database) throws -> [String: Value] {
        let rows = try Row.fetchAll(
            database,
            sql: "SELECT key, value FROM godwit_object WHERE collection = ?",
            arguments: [collection.text]
        )
        return try rows.reduce(into: [:]) { values, row in
            values[row[0]] = try Value(canonicalBytes: Array(row[1] as Data))
        }
    }
}

extension Value {
    var int64: Int64? {
        guard case .int(let int) = self else { return nil }
        return int
    }
}
