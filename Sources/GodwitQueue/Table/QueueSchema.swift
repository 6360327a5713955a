internal import Foundation
internal import GRDB
internal import GodwitStore
internal import GodwitTree

/// The tables of the queue: `sqlite3` shows what waits, and why.
enum QueueSchema {
    static let schema = Schema(
        name: "queue",
        steps: [
            .sql(first), .sql(second), .sql(FootprintTable.schema), .change(takeOver), .sql(third),
            .sql(EffectTable.schema), .sql(QueueLog.schema), .sql(DependencyTable.schema),
            .sql(EffectTable.collections),
        ]
    )

    private static let first = """
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

    // Operations are referred to by number; what only few of them have lies in tables of its own.
    private static let second = """
        ALTER TABLE godwit_operation RENAME TO godwit_operation_1;
        ALTER TABLE godwit_dependency RENAME TO godwit_dependency_1;
        DROP INDEX godwit_operation_order;
        DROP INDEX godwit_dependency_needs;

        CREATE TABLE godwit_operation (
            number INTEGER PRIMARY KEY,
            id TEXT NOT NULL,
            is_named INTEGER NOT NULL DEFAULT 0,
            commit_number INTEGER NOT NULL,
            pipeline TEXT NOT NULL,
            kind TEXT NOT NULL,
            state TEXT NOT NULL DEFAULT 'waiting',
            priority INTEGER NOT NULL DEFAULT 0,
            keeps_order INTEGER NOT NULL DEFAULT 0,
            host TEXT,
            attempts INTEGER NOT NULL DEFAULT 0,
            may_have_run INTEGER NOT NULL DEFAULT 0,
            epoch INTEGER,
            parts INTEGER NOT NULL DEFAULT 0,
            reason TEXT,
            idempotency_key TEXT,
            user_info BLOB,
            body BLOB NOT NULL,
            seal BLOB NOT NULL
        ) STRICT;
        CREATE UNIQUE INDEX godwit_operation_name ON godwit_operation (id) WHERE is_named = 1;
        CREATE INDEX godwit_operation_state ON godwit_operation (state) WHERE state <> 'waiting';

        CREATE TABLE godwit_dependency (
            operation INTEGER NOT NULL,
            needs INTEGER NOT NULL,
            policy TEXT NOT NULL DEFAULT 'wait',
            origin TEXT NOT NULL DEFAULT 'app',
            PRIMARY KEY (operation, needs)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX godwit_dependency_needs ON godwit_dependency (needs);

        CREATE TABLE godwit_hold (
            operation INTEGER NOT NULL,
            context TEXT NOT NULL,
            until INTEGER,
            delay INTEGER,
            PRIMARY KEY (operation, context)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE godwit_operation_object (
            operation INTEGER NOT NULL,
            collection TEXT NOT NULL,
            key TEXT NOT NULL,
            old BLOB,
            new BLOB,
            PRIMARY KEY (operation, collection, key)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX godwit_operation_object_key ON godwit_operation_object (collection, key);

        CREATE TABLE godwit_attempt (
            operation INTEGER NOT NULL,
            attempt INTEGER NOT NULL,
            ended INTEGER NOT NULL,
            outcome TEXT NOT NULL,
            reason TEXT NOT NULL,
            request TEXT,
            response TEXT,
            PRIMARY KEY (operation, attempt)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE godwit_conflict (
            operation INTEGER PRIMARY KEY,
            theirs BLOB,
            tag BLOB
        ) STRICT;

        CREATE TABLE godwit_fate (
            number INTEGER PRIMARY KEY,
            id TEXT NOT NULL,
            is_named INTEGER NOT NULL,
            fate TEXT NOT NULL,
            reason TEXT
        ) STRICT;
        CREATE UNIQUE INDEX godwit_fate_name ON godwit_fate (id) WHERE is_named = 1;

        CREATE TABLE godwit_pipeline (
            name TEXT PRIMARY KEY,
            keeps_order INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE godwit_suspension (
            pipeline TEXT NOT NULL,
            reason TEXT NOT NULL,
            PRIMARY KEY (pipeline, reason)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE godwit_runner (
            slot INTEGER PRIMARY KEY CHECK (slot = 0),
            owner TEXT NOT NULL,
            epoch INTEGER NOT NULL,
            until INTEGER NOT NULL
        ) STRICT;

        CREATE TABLE godwit_tag (
            key TEXT NOT NULL,
            identifier TEXT NOT NULL,
            tag ANY NOT NULL,
            PRIMARY KEY (key, identifier)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE godwit_attachment (
            uri TEXT NOT NULL,
            collection TEXT NOT NULL,
            key TEXT NOT NULL,
            PRIMARY KEY (uri, collection, key)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX godwit_attachment_key ON godwit_attachment (collection, key);
        CREATE TRIGGER godwit_attachment_detach AFTER DELETE ON godwit_object BEGIN
            DELETE FROM godwit_attachment WHERE collection = OLD.collection AND key = OLD.key;
        END;
        """

    private static let third = """
        DROP TABLE godwit_operation_1;
        DROP TABLE godwit_dependency_1;
        """

    /// Numbers the operations of the first format, and turns names into numbers.
    private static let takeOver: @Sendable (Database) throws -> Void = { database in
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT id, commit_number, pipeline, kind, priority, attempts, last_error, body
                FROM godwit_operation_1 ORDER BY commit_number, sequence
                """
        )
        var numbers: [String: OperationNumber] = [:]
        var (commit, index) = (CommitNumber.none, 0)
        for row in rows {
            let next = CommitNumber(rawValue: try row.cell(1))
            (commit, index) = next == commit ? (commit, index + 1) : (next, 0)
            let number = OperationNumber(commit: commit, index: index)
            let text: String = try row.cell(0)
            guard let id = OperationID(text) else {
                throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "no operation: \(text)")
            }
            numbers[text] = number
            let operation = QueuedOperation(
                id: id,
                number: number,
                commit: commit,
                pipeline: try row.cell(2),
                kind: try row.cell(3),
                state: .waiting,
                priority: try row.cell(4),
                host: nil,
                attempts: try row.cell(5),
                mayHaveRun: try row.cell(5) as Int > 0,
                reason: try row.cell(6),
                idempotencyKey: text,
                userInfo: .null,
                body: try Value(canonicalBytes: Array(try row.cell(7) as Data))
            )
            try OperationTable.insert(operation, in: database)
            try PipelineTable.mention(operation.pipeline, keepsOrder: true, in: database)
        }
        let edges = try Row.fetchAll(
            database,
            sql: "SELECT operation, needs FROM godwit_dependency_1"
        )
        for edge in edges {
            guard let operation = numbers[try edge.cell(0)], let need = numbers[try edge.cell(1)]
            else { continue }
            try database.execute(
                sql: "INSERT INTO godwit_dependency (operation, needs) VALUES (?, ?)",
                arguments: [operation.rawValue, need.rawValue]
            )
            try OperationTable.add(.needs, to: operation, in: database)
            try OperationTable.add(.dependents, to: need, in: database)
        }
    }
}
