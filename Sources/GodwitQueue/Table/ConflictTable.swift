internal import Foundation
internal import GRDB
internal import GodwitStore
internal import GodwitTree

/// What the cloud had when it refused an operation for a newer version.
enum ConflictTable {
    static let schema = """
        CREATE TABLE godwit_conflict (
            operation INTEGER PRIMARY KEY,
            theirs BLOB,
            tag BLOB
        ) STRICT;
        """

    struct Row {
        let theirs: Value?
        let tag: CloudTag?
    }

    static func set(_ row: Row, of operation: OperationNumber, in database: Database) throws {
        try database.execute(
            sql: "INSERT OR REPLACE INTO godwit_conflict (operation, theirs, tag) VALUES (?, ?, ?)",
            arguments: [
                operation.rawValue, (row.theirs?.canonicalBytes).map { Data($0) },
                (row.tag?.encoded.canonicalBytes).map { Data($0) },
            ]
        )
        try OperationTable.add(.conflict, to: operation, in: database)
    }

    static func row(of operation: OperationNumber, in database: Database) throws -> Row? {
        let row = try GRDB.Row.fetchOne(
            database,
            sql: "SELECT theirs, tag FROM godwit_conflict WHERE operation = ?",
            arguments: [operation.rawValue]
        )
        guard let row else { return nil }
        return Row(
            theirs: try (row.cell(0) as Data?).map {
                try Value(canonicalBytes: Array($0), budget: .unlimited)
            },
            tag: try (row.cell(1) as Data?).map {
                try CloudTag(encoded: Value(canonicalBytes: Array($0)))
            }
        )
    }

    /// The operations that have a row, in the order of enqueuing.
    static func operations(in database: Database) throws -> [OperationNumber] {
        try Int64.fetchAll(
            database,
            sql: "SELECT operation FROM godwit_conflict ORDER BY operation"
        )
        .map { OperationNumber(rawValue: $0) }
    }

    static func remove(_ operation: OperationNumber, in database: Database) throws {
        try database.execute(
            sql: "DELETE FROM godwit_conflict WHERE operation = ?",
            arguments: [operation.rawValue]
        )
    }
}
