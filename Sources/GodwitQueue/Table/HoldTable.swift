internal import GRDB
internal import GodwitStore

/// Until when operations are held, by context.
enum HoldTable {
    static let schema = """
        CREATE TABLE godwit_hold (
            operation INTEGER NOT NULL,
            context TEXT NOT NULL,
            until INTEGER,
            delay INTEGER,
            PRIMARY KEY (operation, context)
        ) STRICT, WITHOUT ROWID;
        """

    /// The context of the queue's own delays before the next attempt.
    static let retryContext = "godwit.retry"
    /// The context of operations that wait because one of them may crash the app.
    static let suspectContext = "godwit.suspect"

    struct Row {
        let operation: OperationNumber
        let context: String
        /// Milliseconds since 1970; nil until the app releases it.
        let until: Int64?
        /// How long a delay of the queue's own is, in milliseconds; nil for a date of the app's.
        let delay: Int64?
    }

    static func set(_ row: Row, in database: Database) throws {
        let statement = try PreparedStatement(
            """
            INSERT INTO godwit_hold (operation, context, until, delay) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT DO UPDATE SET until = excluded.until, delay = excluded.delay
            """,
            in: database
        )
        try statement.bind(row.operation.rawValue, at: 1)
        try statement.bind(row.context, at: 2)
        if let until = row.until { try statement.bind(until, at: 3) }
        if let delay = row.delay { try statement.bind(delay, at: 4) }
        try statement.execute()
        try OperationTable.add(.holds, to: row.operation, in: database)
    }

    /// The first operation of a pipeline that is held as a suspect.
    static func firstSuspect(
        of pipeline: String,
        in database: Database
    ) throws -> OperationNumber? {
        let statement = try PreparedStatement(
            """
            SELECT hold.operation FROM godwit_hold AS hold
            JOIN godwit_operation AS operation ON operation.number = hold.operation
            WHERE hold.context = ?1 AND operation.pipeline = ?2 ORDER BY hold.operation LIMIT 1
            """,
            in: database
        )
        defer { statement.reset() }
        try statement.bind(suspectContext, at: 1)
        try statement.bind(pipeline, at: 2)
        guard try statement.step() else { return nil }
        return OperationNumber(rawValue: statement.integer(0))
    }

    /// - Parameter context: nil for all of them.
    /// - Returns: Whether there was one.
    @discardableResult
    static func remove(
        _ operation: OperationNumber,
        context: String? = nil,
        in database: Database
    ) throws -> Bool {
        let statement = try PreparedStatement(
            """
            DELETE FROM godwit_hold WHERE operation = ?1 \(context == nil ? "" : "AND context = ?2")
            """,
            in: database
        )
        try statement.bind(operation.rawValue, at: 1)
        if let context { try statement.bind(context, at: 2) }
        try statement.execute()
        return statement.changedRowCount > 0
    }

    /// - Parameter operation: nil for all.
    static func rows(
        of operation: OperationNumber? = nil,
        in database: Database
    ) throws -> [Row] {
        let statement = try PreparedStatement(
            """
            SELECT operation, context, until, delay FROM godwit_hold
            \(operation == nil ? "" : "WHERE operation = ?1") ORDER BY operation, context
            """,
            in: database
        )
        defer { statement.reset() }
        if let operation { try statement.bind(operation.rawValue, at: 1) }
        var rows: [Row] = []
        while try statement.step() {
            rows.append(
                Row(
                    operation: OperationNumber(rawValue: statement.integer(0)),
                    context: statement.text(1),
                    until: statement.isNull(2) ? nil : statement.integer(2),
                    delay: statement.isNull(3) ? nil : statement.integer(3)
                )
            )
        }
        return rows
    }
}
