internal import GRDB
internal import GodwitStore
internal import GodwitTree

extension OperationTable {
    /// An operation; one that is damaged comes without its body.
    static func operation(
        _ number: OperationNumber,
        in database: Database
    ) throws -> QueuedOperation? {
        try operation(number, .anyBody, in: database)
    }

    /// An operation without its body and its user info.
    static func head(
        _ number: OperationNumber,
        in database: Database
    ) throws -> QueuedOperation? {
        try operation(number, .noBody, in: database)
    }

    /// An operation whose body is the one that was enqueued.
    ///
    /// - Throws: ``QueueError/damagedOperation(_:)``.
    static func soundOperation(
        _ number: OperationNumber,
        in database: Database
    ) throws -> QueuedOperation? {
        try operation(number, .soundBody, in: database)
    }

    /// What is read of a body.
    private enum Reading {
        case noBody
        /// One that is damaged is null.
        case anyBody
        /// One that is damaged is an error.
        case soundBody
    }

    private static func operation(
        _ number: OperationNumber,
        _ reading: Reading,
        in database: Database
    ) throws -> QueuedOperation? {
        let statement = try PreparedStatement(
            "SELECT \(columns) FROM godwit_operation WHERE number = ?1",
            in: database
        )
        defer { statement.reset() }
        try statement.bind(number.rawValue, at: 1)
        return try statement.step() ? try operation(statement, reading) : nil
    }

    /// The number of an operation of the queue; nil when there is none of this name.
    static func number(of id: OperationID, in database: Database) throws -> OperationNumber? {
        let text = id.description
        let guess = try PreparedStatement(
            "SELECT number FROM godwit_operation WHERE number = ?2 AND id = ?1",
            in: database
        )
        defer { guess.reset() }
        try guess.bind(text, at: 1)
        try guess.bind(id.suggestedNumber.rawValue, at: 2)
        if try guess.step() { return OperationNumber(rawValue: guess.integer(0)) }
        let named = try PreparedStatement(
            "SELECT number FROM godwit_operation WHERE id = ?1 AND is_named = 1",
            in: database
        )
        defer { named.reset() }
        try named.bind(text, at: 1)
        return try named.step() ? OperationNumber(rawValue: named.integer(0)) : nil
    }

    /// What an unfinished operation touches; nil when that is nothing, or there is none.
    static func footprint(
        of number: OperationNumber,
        in database: Database
    ) throws -> StoredFootprint? {
        let statement = try PreparedStatement(
            "SELECT footprint, pipeline, keeps_order FROM godwit_operation WHERE number = ?1",
            in: database
        )
        defer { statement.reset() }
        try statement.bind(number.rawValue, at: 1)
        guard try statement.step(), !statement.isNull(0) else { return nil }
        return StoredFootprint(statement, from: 0)
    }

    /// Calls `body` with what the unfinished operations touch, in the order of enqueuing; O(n).
    static func forEachFootprint(
        in database: Database,
        _ body: (OperationNumber, StoredFootprint) throws -> Void
    ) throws {
        let statement = try PreparedStatement(
            """
            SELECT number, footprint, pipeline, keeps_order FROM godwit_operation
            WHERE footprint IS NOT NULL ORDER BY number
            """,
            in: database
        )
        defer { statement.reset() }
        while try statement.step() {
            let number = OperationNumber(rawValue: statement.integer(0))
            try body(number, StoredFootprint(statement, from: 1))
        }
    }

    static func count(in database: Database) throws -> Int {
        try Int.fetchOne(database, sql: "SELECT count(*) FROM godwit_operation") ?? 0
    }

    /// Whether something is left to do of a commit: its dead letters are not in line any more.
    static func hasOperations(
        of commit: CommitNumber,
        in pipeline: String,
        _ database: Database
    ) throws -> Bool {
        try Bool.fetchOne(
            database,
            sql: """
                SELECT EXISTS (
                    SELECT 1 FROM godwit_operation WHERE commit_number = ? AND pipeline = ?
                        AND state IN (\(QueuedOperation.State.inLine)))
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
        try statement.bind(OperationNumber(commit: first, index: 0).rawValue, at: 1)
        try statement.bind(OperationNumber(commit: end, index: 0).rawValue, at: 2)
        try statement.bind(number.rawValue, at: 3)
        try statement.bind(pipeline, at: 4)
        try statement.bind(first.rawValue, at: 5)
        return try statement.step()
    }

    /// Which operations are read.
    enum Filter {
        case all
        case only(QueuedOperation.State)
        case deadLetters

        fileprivate var condition: String {
            switch self {
            case .all: "TRUE"
            case .only(.waiting): "state = 'waiting'"
            // In a state of another version, too.
            case .only(.deadLetter): "\(Filter.deadLetters.condition) AND state <> 'unreadable'"
            case .only(let state): "state <> 'waiting' AND state = '\(state.rawValue)'"
            // The index has the operations that do not wait.
            case .deadLetters:
                "state <> 'waiting' AND state NOT IN (\(QueuedOperation.State.inLine))"
            }
        }
    }

    /// Calls `body` with operations in the order of enqueuing, until it returns false.
    static func forEach(
        in database: Database,
        where filter: Filter = .all,
        _ body: (QueuedOperation) throws -> Bool
    ) throws {
        // A page at a time: the body may change the table that is read.
        var last = Int64.min
        while true {
            let page = try page(after: last, filter, in: database)
            for operation in page { guard try body(operation) else { return } }
            guard let end = page.last else { return }
            last = end.number.rawValue
        }
    }

    /// The unfinished operations that a commit enqueued.
    static func operations(
        of commit: CommitNumber,
        in database: Database
    ) throws -> [QueuedOperation] {
        let range = OperationNumber.numbers(of: commit)
        let statement = try PreparedStatement(
            """
            SELECT \(columns) FROM godwit_operation WHERE number >= ?1 AND number < ?2
            ORDER BY number
            """,
            in: database
        )
        defer { statement.reset() }
        try statement.bind(range.lowerBound, at: 1)
        try statement.bind(range.upperBound, at: 2)
        var found: [QueuedOperation] = []
        while try statement.step() { found.append(try operation(statement, .anyBody)) }
        return found
    }

    private static let pageSize = 256

    private static func page(
        after last: Int64,
        _ filter: Filter,
        in database: Database
    ) throws -> [QueuedOperation] {
        let statement = try PreparedStatement(
            """
            SELECT \(columns) FROM godwit_operation WHERE number > ?1 AND \(filter.condition)
            ORDER BY number LIMIT \(pageSize)
            """,
            in: database
        )
        defer { statement.reset() }
        try statement.bind(last, at: 1)
        var page: [QueuedOperation] = []
        // One that is damaged is listed like the rest, without its body.
        while try statement.step() { page.append(try operation(statement, .anyBody)) }
        return page
    }

    private static func operation(
        _ row: PreparedStatement,
        _ reading: Reading
    ) throws -> QueuedOperation {
        let text = row.text(1)
        let kind = row.text(4)
        let bytes = reading == .noBody ? [] : Array(row.blob(15))
        let isSound =
            reading != .noBody
            && seal(id: text, kind: kind, body: bytes).matches(row.blob(16))
        guard let id = OperationID(text), isSound || reading != .soundBody else {
            throw QueueError.damagedOperation(OperationNumber(rawValue: row.integer(0)))
        }
        return QueuedOperation(
            id: id,
            number: OperationNumber(rawValue: row.integer(0)),
            commit: CommitNumber(rawValue: row.integer(2)),
            pipeline: row.text(3),
            kind: kind,
            state: QueuedOperation.State(stored: row.text(5)),
            priority: Int32(clamping: row.integer(6)),
            host: row.isNull(8) ? nil : row.text(8),
            attempts: Int(row.integer(9)),
            mayHaveRun: row.integer(10) != 0,
            reason: row.isNull(12) ? nil : row.text(12),
            idempotencyKey: row.isNull(13) ? text : row.text(13),
            userInfo: row.isNull(14) || reading == .noBody
                ? .null : (try? Value(canonicalBytes: Array(row.blob(14)))) ?? .null,
            body: isSound ? try Value(canonicalBytes: bytes) : .null,
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
        let state: QueuedOperation.State
        let priority: Int32
        let keepsOrder: Bool
        let host: String?
        let parts: OperationParts
    }

    static func outline(
        _ number: OperationNumber,
        in database: Database
    ) throws -> Outline? {
        let statement = try PreparedStatement(
            "SELECT \(Outline.columns) FROM godwit_operation WHERE number = ?1",
            in: database
        )
        defer { statement.reset() }
        try statement.bind(number.rawValue, at: 1)
        return try statement.step() ? Outline(statement) : nil
    }

    /// Calls `body` with all operations in the order of enqueuing; O(n), without their bodies.
    static func forEachOutline(in database: Database, _ body: (Outline) -> Void) throws {
        let statement = try PreparedStatement(
            "SELECT \(Outline.columns) FROM godwit_operation ORDER BY number",
            in: database
        )
        defer { statement.reset() }
        while try statement.step() { body(Outline(statement)) }
    }
}

extension OperationTable.Outline {
    fileprivate static let columns =
        "number, commit_number, pipeline, state, priority, keeps_order, host, parts"

    fileprivate init(_ row: PreparedStatement) {
        self.init(
            number: OperationNumber(rawValue: row.integer(0)),
            commit: CommitNumber(rawValue: row.integer(1)),
            pipeline: row.text(2),
            state: QueuedOperation.State(stored: row.text(3)),
            priority: Int32(clamping: row.integer(4)),
            keepsOrder: row.integer(5) != 0,
            host: row.isNull(6) ? nil : row.text(6),
            parts: OperationParts(rawValue: row.integer(7))
        )
    }
}

/// What the row of an operation says about its footprint, and about its order.
struct StoredFootprint {
    let record: FootprintRecord
    let pipeline: String
    /// Whether it keeps the order of commits, whatever its pipeline does.
    let keepsOrder: Bool

    fileprivate init(_ statement: PreparedStatement, from column: Int32) {
        record = FootprintRecord(bytes: statement.blob(column))
        pipeline = statement.text(column + 1)
        keepsOrder = statement.integer(column + 2) != 0
    }
}
