internal import Foundation
internal import GRDB
internal import GodwitStore
internal import GodwitTree

/// The rows of the unfinished operations.
enum OperationTable {
    private static let columns = """
        number, id, commit_number, pipeline, kind, state, priority, keeps_order, host, attempts,
        may_have_run, parts, reason, idempotency_key, user_info, body, seal, epoch
        """

    static func insert(_ operation: QueuedOperation, in database: Database) throws {
        let statement = try PreparedStatement(
            """
            INSERT INTO godwit_operation (
                number, id, is_named, commit_number, pipeline, kind, state, priority, keeps_order,
                host, attempts, may_have_run, parts, reason, idempotency_key, user_info, body, seal)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)
            """,
            in: database
        )
        let id = operation.id.description
        let body = operation.body.canonicalBytes
        statement.bind(operation.number.rawValue, at: 1)
        statement.bind(id, at: 2)
        statement.bind(operation.isNamed, at: 3)
        statement.bind(operation.commit.rawValue, at: 4)
        statement.bind(operation.pipeline, at: 5)
        statement.bind(operation.kind, at: 6)
        statement.bind(operation.state.rawValue, at: 7)
        statement.bind(Int64(operation.priority), at: 8)
        statement.bind(operation.keepsOrder, at: 9)
        statement.bind(optional: operation.host, at: 10)
        statement.bind(Int64(operation.attempts), at: 11)
        statement.bind(operation.mayHaveRun, at: 12)
        statement.bind(operation.parts.rawValue, at: 13)
        statement.bind(optional: operation.reason, at: 14)
        let key = operation.idempotencyKey
        statement.bind(optional: key == id ? nil : key, at: 15)
        statement.bind(
            operation.userInfo == .null ? nil : operation.userInfo.canonicalBytes,
            at: 16
        )
        statement.bind(body, at: 17)
        statement.bind(seal(id: id, kind: operation.kind, body: body).bytes, at: 18)
        try statement.execute()
    }

    /// Ties a body to the operation whose it is: SQLite sees no damage in a payload.
    private static func seal(id: String, kind: String, body: [UInt8]) -> Seal {
        Seal(of: [Array(id.utf8), Array(kind.utf8), body], purpose: "godwit operation 2")
    }
}

// MARK: - Changing

extension OperationTable {
    /// Marks an operation as running.
    ///
    /// - Returns: Whether it was there to be started: waiting, or running in this epoch.
    static func start(
        _ number: OperationNumber,
        epoch: Int64,
        in database: Database
    ) throws -> Bool {
        let statement = try PreparedStatement(
            """
            UPDATE godwit_operation SET state = 'running', epoch = ?2
            WHERE number = ?1 AND (state = 'waiting' OR state = 'running' AND epoch = ?2)
            """,
            in: database
        )
        statement.bind(number.rawValue, at: 1)
        statement.bind(epoch, at: 2)
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
        statement.bind(number.rawValue, at: 1)
        statement.bind(verdict.state.rawValue, at: 2)
        statement.bind(Int64(verdict.attempts), at: 3)
        statement.bind(verdict.mayHaveRun, at: 4)
        statement.bind(optional: verdict.reason, at: 5)
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
        statement.bind(operation.number.rawValue, at: 1)
        statement.bind(Int64(operation.priority), at: 2)
        statement.bind(optional: operation.host, at: 3)
        statement.bind(operation.userInfo == .null ? nil : operation.userInfo.canonicalBytes, at: 4)
        statement.bind(body, at: 5)
        statement.bind(seal.bytes, at: 6)
        statement.bind(operation.kind, at: 7)
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
        statement.bind(number.rawValue, at: 1)
        statement.bind(parts.rawValue, at: 2)
        try statement.execute()
    }

    static func remove(_ number: OperationNumber, in database: Database) throws {
        let statement = try PreparedStatement(
            "DELETE FROM godwit_operation WHERE number = ?1",
            in: database
        )
        statement.bind(number.rawValue, at: 1)
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

// MARK: - Reading

extension OperationTable {
    static func operation(
        _ number: OperationNumber,
        in database: Database
    ) throws -> QueuedOperation? {
        let statement = try PreparedStatement(
            "SELECT \(columns) FROM godwit_operation WHERE number = ?1",
            in: database
        )
        defer { statement.reset() }
        statement.bind(number.rawValue, at: 1)
        return try statement.step() ? try operation(statement) : nil
    }

    /// The number of an operation of the queue; nil when there is none of this name.
    static func number(of id: OperationID, in database: Database) throws -> OperationNumber? {
        let text = id.description
        let guess = try PreparedStatement(
            "SELECT number FROM godwit_operation WHERE number = ?2 AND id = ?1",
            in: database
        )
        defer { guess.reset() }
        guess.bind(text, at: 1)
        guess.bind(id.suggestedNumber.rawValue, at: 2)
        if try guess.step() { return OperationNumber(rawValue: guess.integer(0)) }
        let named = try PreparedStatement(
            "SELECT number FROM godwit_operation WHERE id = ?1 AND is_named = 1",
            in: database
        )
        defer { named.reset() }
        named.bind(text, at: 1)
        return try named.step() ? OperationNumber(rawValue: named.integer(0)) : nil
    }

    static func count(in database: Database) throws -> Int {
        try Int.fetchOne(database, sql: "SELECT count(*) FROM godwit_operation") ?? 0
    }

    static func hasOperations(
        of commit: CommitNumber,
        in pipeline: String,
        _ database: Database
    ) throws -> Bool {
        try Bool.fetchOne(
            database,
            sql: """
                SELECT EXISTS (
                    SELECT 1 FROM godwit_operation WHERE commit_number = ? AND pipeline = ?)
                """,
            arguments: [commit.rawValue, pipeline]
        ) ?? false
    }

    /// Whether a pipeline has another operation of these commits, all earlier than the running
    /// transaction's.
    static func hasOther(
        than number: OperationNumber,
        in pipeline: String,
        from first: CommitNumber,
        before end: CommitNumber,
        _ database: Database
    ) throws -> Bool {
        let statement = try PreparedStatement(
            """
            SELECT 1 FROM godwit_operation
            WHERE number >= ?1 AND number < ?2 AND number <> ?3 AND pipeline = ?4
                AND commit_number >= ?5
            LIMIT 1
            """,
            in: database
        )
        defer { statement.reset() }
        statement.bind(OperationNumber(commit: first, index: 0).rawValue, at: 1)
        statement.bind(OperationNumber(commit: end, index: 0).rawValue, at: 2)
        statement.bind(number.rawValue, at: 3)
        statement.bind(pipeline, at: 4)
        statement.bind(first.rawValue, at: 5)
        return try statement.step()
    }

    /// Calls `body` with operations in the order of enqueuing, until it returns false.
    static func forEach(
        in database: Database,
        where state: QueuedOperation.State? = nil,
        _ body: (QueuedOperation) throws -> Bool
    ) throws {
        // A page at a time: the body may change the table that is read.
        var last = Int64.min
        while true {
            let page = try page(after: last, state, in: database)
            for operation in page { guard try body(operation) else { return } }
            guard let end = page.last else { return }
            last = end.number.rawValue
        }
    }

    private static let pageSize = 256

    private static func page(
        after last: Int64,
        _ state: QueuedOperation.State?,
        in database: Database
    ) throws -> [QueuedOperation] {
        let filter =
            state.map {
                $0 == .waiting ? "AND state = ?2" : "AND state = ?2 AND state <> 'waiting'"
            }
        let statement = try PreparedStatement(
            """
            SELECT \(columns) FROM godwit_operation WHERE number > ?1 \(filter ?? "")
            ORDER BY number LIMIT \(pageSize)
            """,
            in: database
        )
        defer { statement.reset() }
        statement.bind(last, at: 1)
        if let state { statement.bind(state.rawValue, at: 2) }
        var page: [QueuedOperation] = []
        while try statement.step() { page.append(try operation(statement)) }
        return page
    }

    private static func operation(_ row: PreparedStatement) throws -> QueuedOperation {
        let text = row.text(1)
        let kind = row.text(4)
        let bytes = Array(row.blob(15))
        guard let id = OperationID(text), let state = QueuedOperation.State(rawValue: row.text(5)),
            seal(id: text, kind: kind, body: bytes).matches(row.blob(16))
        else { throw QueueError.damagedOperation(OperationNumber(rawValue: row.integer(0))) }
        return QueuedOperation(
            id: id,
            number: OperationNumber(rawValue: row.integer(0)),
            commit: CommitNumber(rawValue: row.integer(2)),
            pipeline: row.text(3),
            kind: kind,
            state: state,
            priority: Int32(clamping: row.integer(6)),
            host: row.isNull(8) ? nil : row.text(8),
            attempts: Int(row.integer(9)),
            mayHaveRun: row.integer(10) != 0,
            reason: row.isNull(12) ? nil : row.text(12),
            idempotencyKey: row.isNull(13) ? text : row.text(13),
            userInfo: row.isNull(14) ? .null : try Value(canonicalBytes: Array(row.blob(14))),
            body: try Value(canonicalBytes: bytes),
            keepsOrder: row.integer(7) != 0,
            epoch: row.isNull(17) ? nil : row.integer(17),
            parts: OperationParts(rawValue: row.integer(11))
        )
    }
}

// MARK: - Loading

extension OperationTable {
    /// What a schedule has to know about an operation, and the names that it knows by index.
    struct Outline {
        let number: OperationNumber
        let commit: CommitNumber
        let pipeline: String
        let state: QueuedOperation.State?
        let priority: Int32
        let keepsOrder: Bool
        let host: String?
    }

    /// Calls `body` with all operations in the order of enqueuing; O(n), without their bodies.
    static func forEachOutline(in database: Database, _ body: (Outline) -> Void) throws {
        let statement = try PreparedStatement(
            """
            SELECT number, commit_number, pipeline, state, priority, keeps_order, host
            FROM godwit_operation ORDER BY number
            """,
            in: database
        )
        defer { statement.reset() }
        while try statement.step() {
            body(
                Outline(
                    number: OperationNumber(rawValue: statement.integer(0)),
                    commit: CommitNumber(rawValue: statement.integer(1)),
                    pipeline: statement.text(2),
                    state: QueuedOperation.State(rawValue: statement.text(3)),
                    priority: Int32(clamping: statement.integer(4)),
                    keepsOrder: statement.integer(5) != 0,
                    host: statement.isNull(6) ? nil : statement.text(6)
                )
            )
        }
    }
}
