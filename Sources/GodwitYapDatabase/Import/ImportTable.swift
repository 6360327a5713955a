internal import GRDB
internal import GodwitQueue
internal import GodwitStore

/// Which operations were imported, and which imports are done: for as long as the store lives.
///
/// The queue remembers the last few thousand of those that have left it; an import may be run again years
/// later.
enum ImportTable {
    static let schema = TableSchema(
        name: "yapdatabase",
        steps: [
            .sql(
                """
                CREATE TABLE godwit_yapdatabase_operation (
                    id TEXT PRIMARY KEY
                ) STRICT, WITHOUT ROWID;
                CREATE TABLE godwit_yapdatabase_import (
                    name TEXT PRIMARY KEY
                ) STRICT, WITHOUT ROWID;
                """
            )
        ]
    )

    static func note(_ id: OperationID, in database: Database) throws {
        try database.execute(
            sql: "INSERT OR IGNORE INTO godwit_yapdatabase_operation (id) VALUES (?)",
            arguments: [id.description]
        )
    }

    static func isKnown(_ id: OperationID, in database: Database) throws -> Bool {
        try Int.fetchOne(
            database,
            sql: "SELECT 1 FROM godwit_yapdatabase_operation WHERE id = ?",
            arguments: [id.description]
        ) != nil
    }

    static func isDone(_ name: String, in database: Database) throws -> Bool {
        guard try database.tableExists("godwit_yapdatabase_import") else { return false }
        return try Int.fetchOne(
            database,
            sql: "SELECT 1 FROM godwit_yapdatabase_import WHERE name = ?",
            arguments: [name]
        ) != nil
    }

    static func setDone(_ name: String, in database: Database) throws {
        try database.execute(
            sql: "INSERT OR IGNORE INTO godwit_yapdatabase_import (name) VALUES (?)",
            arguments: [name]
        )
    }
}
