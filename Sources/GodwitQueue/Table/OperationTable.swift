internal import Foundation
internal import GRDB
internal import GodwitStore
internal import GodwitTree

/// The rows of the unfinished operations.
enum OperationTable {
    static let schema = """
        CREATE TABLE godwit_operation (
            number INTEGER PRIMARY KEY,
            id TEXT NOT NULL,
            is_named INTEGER NOT NULL,
            commit_number INTEGER NOT NULL,
            pipeline TEXT NOT NULL,
            kind TEXT NOT NULL,
            state TEXT NOT NULL,
            priority INTEGER NOT NULL,
            keeps_order INTEGER NOT NULL,
            host TEXT,
            attempts INTEGER NOT NULL,
            may_have_run INTEGER NOT NULL,
            epoch INTEGER,
            parts INTEGER NOT NULL,
            reason TEXT,
            idempotency_key TEXT,
            user_info BLOB,
            footprint BLOB,
            body BLOB NOT NULL,
            seal BLOB NOT NULL
        ) STRICT;
        CREATE UNIQUE INDEX godwit_operation_name ON godwit_operation (id) WHERE is_named = 1;
        CREATE INDEX godwit_operation_state ON godwit_operation (state) WHERE state <> 'waiting';
        """

    static let columns = """
        number, id, commit_number, pipeline, kind, state, priority, keeps_order, host, attempts,
        may_have_run, parts, reason, idempotency_key, user_info, body, seal, epoch
        """

    static func insert(
        _ operation: QueuedOperation,
        touching footprint: FootprintRecord?,
        in database: Database
    ) throws {
        let statement = try PreparedStatement(
            """
            INSERT INTO godwit_operation (
                number, id, is_named, commit_number, pipeline, kind, state, priority, keeps_order,
                host, attempts, may_have_run, parts, reason, idempotency_key, user_info, body, seal,
                footprint)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18,
                ?19)
            """,
            in: database
        )
        let id = operation.id.description
        let body = operation.body.canonicalBytes
        try statement.bind(operation.number.rawValue, at: 1)
        try statement.bind(id, at: 2)
        try statement.bind(operation.isNamed, at: 3)
        try statement.bind(operation.commit.rawValue, at: 4)
        try statement.bind(operation.pipeline, at: 5)
        try statement.bind(operation.kind, at: 6)
        try statement.bind(operation.state.rawValue, at: 7)
        try statement.bind(Int64(operation.priority), at: 8)
        try statement.bind(operation.keepsOrder, at: 9)
        try statement.bind(optional: operation.host, at: 10)
        try statement.bind(Int64(operation.attempts), at: 11)
        try statement.bind(operation.mayHaveRun, at: 12)
        try statement.bind(operation.parts.rawValue, at: 13)
        try statement.bind(optional: operation.reason, at: 14)
        let key = operation.idempotencyKey
        try statement.bind(optional: key == id ? nil : key, at: 15)
        try statement.bind(
            operation.userInfo == .null ? nil : operation.userInfo.canonicalBytes,
            at: 16
        )
        try statement.bind(body, at: 17)
        try statement.bind(seal(id: id, kind: operation.kind, body: body).bytes, at: 18)
        try statement.bind(footprint?.bytes, at: 19)
        try statement.execute()
    }

    /// Ties a body to the operation whose it is: SQLite sees no damage in a payload.
    static func seal(id: String, kind: String, body: [UInt8]) -> Seal {
        Seal(of: [Array(id.utf8), Array(kind.utf8), body], purpose: "godwit operation 1")
    }
}

// MARK: - Changing

extension OperationTable {
    /// Marks an operation as running.
    ///
    /// Memory has found it in line; another process may have committed something since.
    ///
    /// One that is running already was tried, and the outcome could not be written: it may have run.
    ///
    /// - Returns: Whether it was there to be started: waiting, or running in this epoch, without an
    ///   unfinished operation that it needs, not held, and in a pipeline that is not suspended.
    static func start(
        _ number: OperationNumber,
        epoch: Int64,
        at now: Moment,
        in database: Database
    ) throws -> Bool {
        let statement = try PreparedStatement(
            """
            UPDATE godwit_operation SET state = 'running', epoch = ?2,
                may_have_run = may_have_run OR state = 'running'
            WHERE number = ?1 AND (state = 'waiting' OR state = 'running' AND epoch = ?2)
                AND NOT EXISTS (SELECT 1 FROM godwit_dependency WHERE operation = ?1)
                AND NOT EXISTS (
                    SELECT 1 FROM godwit_hold
                    WHERE operation = ?1 AND delay IS NULL AND (until IS NULL OR until > ?3))
                AND NOT EXISTS (
                    SELECT 1 FROM godwit_suspension WHERE pipeline IN (godwit_operation.pipeline, ''))
            """,
            in: database
        )
        try statement.bind(number.rawValue, at: 1)
        try statement.bind(epoch, at: 2)
        try statement.bind(now.calendar, at: 3)
        try statement.execute()
        return statement.changedRowCount == 1
    }

    /// Marks an operation as running that this process has not started.
    ///
    /// - Returns: Whether there is one that is in line.
    static func adopt(
        _ number: OperationNumber,
        epoch: Int64,
        in database: Database
    ) throws -> Bool {
        let statement = try PreparedStatement(
            """
            UPDATE godwit_operation SET state = 'running', epoch = ?2
            WHERE number = ?1 AND state IN ('waiting', 'running')
            """,
            in: database
        )
        try statement.bind(number.rawValue, at: 1)
        try statement.bind(epoch, at: 2)
        try statement.execute()
        return statement.changedRowCount == 1
    }

    /// Where an operation goes when an attempt of it is over.
    struct Verdict {
        let state: QueuedOperation.State
        let attempts: Int
        let mayHaveRun: Bool
        let reason: String?
    }

    static func record(
        _ verdict: Verdict,
        of number: OperationNumber,
        in database: Database
    ) throws {
        let statement = try PreparedStatement(
            """
            UPDATE godwit_operation
            SET state = ?2, attempts = ?3, may_have_run = ?4, reason = ?5, epoch = NULL
            WHERE number = ?1
            """,
            in: database
        )
        try statement.bind(number.rawValue, at: 1)
        try statement.bind(verdict.state.rawValue, at: 2)
        try statement.bind(Int64(verdict.attempts), at: 3)
        try statement.bind(verdict.mayHaveRun, at: 4)
        try statement.bind(optional: verdict.reason, at: 5)
        try statement.execute()
    }

    /// Writes what a modification may change.
    static func update(_ operation: QueuedOperation, in database: Database) throws {
        let statement = try PreparedStatement(
            """
            UPDATE godwit_operation
            SET priority = ?2, host = ?3, user_info = ?4, body = ?5, seal = ?6, kind = ?7
            WHERE number = ?1
            """,
            in: database
        )
        let body = operation.body.canonicalBytes
        let seal = seal(id: operation.id.description, kind: operation.kind, body: body)
        try statement.bind(operation.number.rawValue, at: 1)
        try statement.bind(Int64(operation.priority), at: 2)
        try statement.bind(optional: operation.host, at: 3)
        try statement.bind(
            operation.userInfo == .null ? nil : operation.userInfo.canonicalBytes,
            at: 4
        )
        try statement.bind(body, at: 5)
        try statement.bind(seal.bytes, at: 6)
        try statement.bind(operation.kind, at: 7)
        try statement.execute()
    }

    /// Writes what an operation touches from now on.
    static func setFootprint(
        _ footprint: FootprintRecord?,
        of number: OperationNumber,
        in database: Database
    ) throws {
        let statement = try PreparedStatement(
            "UPDATE godwit_operation SET footprint = ?2, parts = parts | ?3 WHERE number = ?1",
            in: database
        )
        try statement.bind(number.rawValue, at: 1)
        try statement.bind(footprint?.bytes, at: 2)
        try statement.bind(footprint == nil ? 0 : OperationParts.footprint.rawValue, at: 3)
        try statement.execute()
    }

    static func add(
        _ parts: OperationParts,
        to number: OperationNumber,
        in database: Database
    ) throws {
        let statement = try PreparedStatement(
            """
            UPDATE godwit_operation SET parts = parts | ?2 WHERE number = ?1 AND parts & ?2 <> ?2
            """,
            in: database
        )
        try statement.bind(number.rawValue, at: 1)
        try statement.bind(parts.rawValue, at: 2)
        try statement.execute()
    }

    static func remove(_ number: OperationNumber, in database: Database) throws {
        let statement = try PreparedStatement(
            "DELETE FROM godwit_operation WHERE number = ?1",
            in: database
        )
        try statement.bind(number.rawValue, at: 1)
        try statement.execute()
    }

    static func move(
        from pipeline: String,
        to other: String,
        in database: Database
    ) throws {
        try database.execute(
            sql: "UPDATE godwit_operation SET pipeline = ? WHERE pipeline = ?",
            arguments: [other, pipeline]
        )
    }

    /// Has everything in a pipeline keep the order of commits that it was enqueued for.
    static func keepOrder(in pipeline: String, _ database: Database) throws {
        try database.execute(
            sql: "UPDATE godwit_operation SET keeps_order = 1 WHERE pipeline = ?",
            arguments: [pipeline]
        )
    }
}
