internal import Foundation
internal import GRDB
internal import GodwitStore
internal import GodwitTree

/// The rows behind the queue: `sqlite3` shows what waits.
enum OperationTable {
    static let schema = Schema(
        name: "queue",
        steps: [
            .sql(
                """
                CREATE TABLE godwit_operation (
                    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
                    id TEXT NOT NULL UNIQUE,
                    commit_number INTEGER NOT NULL,
                    pipeline TEXT NOT NULL,
                    kind TEXT NOT NULL,
                    priority INTEGER NOT NULL,
                    attempts INTEGER NOT NULL,
                    last_error TEXT,
                    body BLOB NOT NULL
                ) STRICT;
                CREATE INDEX godwit_operation_order
                    ON godwit_operation (pipeline, commit_number, sequence);
                CREATE TABLE godwit_dependency (
                    operation TEXT NOT NULL,
                    needs TEXT NOT NULL,
                    PRIMARY KEY (operation, needs)
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX godwit_dependency_needs ON godwit_dependency (needs);
                """
            )
        ]
    )

    static func insert(_ operation: QueuedOperation, in database: Database) throws {
        let statement = try database.cachedStatement(
            sql: """
                INSERT INTO godwit_operation
                    (id, commit_number, pipeline, kind, priority, attempts, body)
                VALUES (?, ?, ?, ?, ?, 0, ?)
                """
        )
        try statement.execute(arguments: [
            operation.id.description, operation.commit.rawValue, operation.pipeline,
            operation.kind, operation.priority, Data(operation.body.canonicalBytes),
        ])
        let edge = try database.cachedStatement(
            sql: "INSERT INTO godwit_dependency (operation, needs) VALUES (?, ?)"
        )
        for needed in operation.dependencies {
            try edge.execute(arguments: [operation.id.description, needed.description])
        }
    }

    static func contains(_ id: OperationID, in database: Database) throws -> Bool {
        let statement = try database.cachedStatement(
            sql: "SELECT 1 FROM godwit_operation WHERE id = ?"
        )
        return try Int.fetchOne(statement, arguments: [id.description]) != nil
    }

    static func remove(_ id: OperationID, in database: Database) throws {
        let statement = try database.cachedStatement(
            sql: "DELETE FROM godwit_operation WHERE id = ?"
        )
        try statement.execute(arguments: [id.description])
        let edges = try database.cachedStatement(
            sql: "DELETE FROM godwit_dependency WHERE operation = ?"
        )
        try edges.execute(arguments: [id.description])
    }

    static func recordFailure(
        of id: OperationID,
        reason: String,
        in database: Database
    ) throws {
        let statement = try database.cachedStatement(
            sql: """
                UPDATE godwit_operation SET attempts = attempts + 1, last_error = ? WHERE id = ?
                """
        )
        try statement.execute(arguments: [reason, id.description])
    }

    /// The operations of a pipeline from commits after one, in the order they were enqueued.
    static func operations(
        in pipeline: String,
        after commit: CommitNumber,
        in database: Database
    ) throws -> [QueuedOperation] {
        let statement = try database.cachedStatement(
            sql: """
                SELECT id, commit_number, pipeline, kind, priority, attempts, last_error, sequence,
                    body,
                    (SELECT group_concat(needs) FROM godwit_dependency WHERE operation = id)
                FROM godwit_operation WHERE pipeline = ? AND commit_number > ?
                ORDER BY commit_number, sequence
                """
        )
        return try Row.fetchAll(statement, arguments: [pipeline, commit.rawValue]).map { row in
            try QueuedOperation(row: row)
        }
    }

    /// What an operation waits for.
    static func dependencies(
        of id: OperationID,
        in database: Database
    ) throws -> [OperationID] {
        let statement = try database.cachedStatement(
            sql: "SELECT needs FROM godwit_dependency WHERE operation = ? ORDER BY needs"
        )
        return try String.fetchAll(statement, arguments: [id.description])
            .compactMap(OperationID.init(text:))
    }

    /// Whether some operation waits for this one.
    static func isNeeded(_ id: OperationID, in database: Database) throws -> Bool {
        let statement = try database.cachedStatement(
            sql: "SELECT 1 FROM godwit_dependency WHERE needs = ? LIMIT 1"
        )
        return try Int.fetchOne(statement, arguments: [id.description]) != nil
    }
}

extension OperationID {
    fileprivate init?(text: String) {
        guard let identifier = Identifier(text) else { return nil }
        self.init(identifier)
    }
}

extension QueuedOperation {
    fileprivate init(row: Row) throws {
        guard let id = OperationID(text: try row.cell(0)) else {
            throw DatabaseError(
                resultCode: .SQLITE_CORRUPT,
                message: "an operation has no identifier"
            )
        }
        let needs = try row.cell(9) as String? ?? ""
        self.init(
            id: id,
            commit: CommitNumber(rawValue: try row.cell(1)),
            pipeline: try row.cell(2),
            kind: try row.cell(3),
            dependencies: Set(
                needs.split(separator: ",").compactMap { OperationID(text: String($0)) }
            ),
            priority: try row.cell(4),
            attempts: try row.cell(5),
            lastError: try row.cell(6),
            sequence: try row.cell(7),
            body: try Value(canonicalBytes: Array(try row.cell(8) as Data))
        )
    }
}
