internal import GRDB
internal import GodwitStore

/// The rows that the unfinished operations touch, with an index that finds the last of them.
///
/// A row that a later one makes superfluous is shadowed by it, and out of the way: a search finds
/// only the rows that it needs.
enum FootprintTable {
    /// A touch as the table has it.
    struct Row: Hashable, Comparable {
        /// A hash of the resource's name.
        ///
        /// Two names with one hash give an order that is not needed, and lose none.
        let resource: Int64
        let intent: Footprint.Intent

        init(_ touch: Footprint.Touch) {
            resource = Int64(bitPattern: touch.resource.utf8.stableHash)
            intent = touch.intent
        }

        fileprivate init?(_ statement: PreparedStatement) {
            guard let intent = Footprint.Intent(rawValue: statement.integer(1)) else { return nil }
            (resource, self.intent) = (statement.integer(0), intent)
        }

        static func < (left: Row, right: Row) -> Bool {
            (left.resource, left.intent.rawValue) < (right.resource, right.intent.rawValue)
        }
    }

    static let schema = """
        CREATE TABLE godwit_footprint (
            operation INTEGER NOT NULL,
            resource INTEGER NOT NULL,
            intent INTEGER NOT NULL,
            shadow INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (operation, resource, intent)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX godwit_footprint_resource ON godwit_footprint (resource, intent, shadow);
        CREATE INDEX godwit_footprint_shadow ON godwit_footprint (shadow) WHERE shadow <> 0;
        """

    static func add(_ row: Row, of operation: OperationNumber, in database: Database) throws {
        let statement = try PreparedStatement(
            """
            INSERT OR IGNORE INTO godwit_footprint (resource, intent, operation)
            VALUES (?1, ?2, ?3)
            """,
            in: database
        )
        try statement.bind(row.resource, at: 1)
        try statement.bind(row.intent.rawValue, at: 2)
        try statement.bind(operation.rawValue, at: 3)
        try statement.execute()
    }

    /// The rows of an operation.
    static func rows(of operation: OperationNumber, in database: Database) throws -> Set<Row> {
        let statement = try PreparedStatement(
            "SELECT resource, intent FROM godwit_footprint WHERE operation = ?1",
            in: database
        )
        defer { statement.reset() }
        try statement.bind(operation.rawValue, at: 1)
        var rows: Set<Row> = []
        while try statement.step() {
            if let row = Row(statement) { rows.insert(row) }
        }
        return rows
    }

    /// A row of another operation that has an order with a new one.
    struct Conflict {
        /// The new row.
        let row: Row
        let operation: OperationNumber
        /// What the other operation does to the resource.
        let intent: Footprint.Intent

        /// Whether the new row hides the other one from later searches.
        var isSuperfluous: Bool { row.intent.shadows.contains(intent) }
    }

    /// The rows that have an order with one.
    ///
    /// - Parameter withShadowed: Whether those count for which a later one stands.
    static func conflicts(
        with row: Row,
        withShadowed: Bool,
        in database: Database
    ) throws -> [Conflict] {
        let sql = Searches.of(row.intent)
        let statement = try PreparedStatement(withShadowed ? sql.all : sql.unshadowed, in: database)
        defer { statement.reset() }
        try statement.bind(row.resource, at: 1)
        var found: [Conflict] = []
        while try statement.step() {
            guard let intent = Footprint.Intent(rawValue: statement.integer(1)) else { continue }
            let operation = OperationNumber(rawValue: statement.integer(0))
            found.append(Conflict(row: row, operation: operation, intent: intent))
        }
        return found
    }

    /// Hides the other row of a conflict behind the new operation's.
    static func shadow(
        _ conflict: Conflict,
        by operation: OperationNumber,
        in database: Database
    ) throws {
        let statement = try PreparedStatement(
            """
            UPDATE godwit_footprint SET shadow = ?4
            WHERE operation = ?1 AND resource = ?2 AND intent = ?3
            """,
            in: database
        )
        try statement.bind(conflict.operation.rawValue, at: 1)
        try statement.bind(conflict.row.resource, at: 2)
        try statement.bind(conflict.intent.rawValue, at: 3)
        try statement.bind(operation.rawValue, at: 4)
        try statement.execute()
    }

    /// The operations that an operation stands for, in their order.
    static func shadowed(
        by operation: OperationNumber,
        in database: Database
    ) throws -> [OperationNumber] {
        let statement = try PreparedStatement(
            """
            SELECT DISTINCT operation FROM godwit_footprint
            WHERE shadow = ?1 AND shadow <> 0 ORDER BY operation
            """,
            in: database
        )
        defer { statement.reset() }
        try statement.bind(operation.rawValue, at: 1)
        var numbers: [OperationNumber] = []
        while try statement.step() {
            numbers.append(OperationNumber(rawValue: statement.integer(0)))
        }
        return numbers
    }

    /// Forgets an operation; what it stood for is in view again, or behind the one that stood for
    /// it.
    static func remove(_ operation: OperationNumber, in database: Database) throws {
        let unshadow = try PreparedStatement(
            """
            UPDATE godwit_footprint SET shadow = (
                SELECT max(own.shadow) FROM godwit_footprint AS own
                WHERE own.operation = ?1 AND own.resource = godwit_footprint.resource)
            WHERE shadow = ?1 AND shadow <> 0
            """,
            in: database
        )
        try unshadow.bind(operation.rawValue, at: 1)
        try unshadow.execute()
        let statement = try PreparedStatement(
            "DELETE FROM godwit_footprint WHERE operation = ?1",
            in: database
        )
        try statement.bind(operation.rawValue, at: 1)
        try statement.execute()
    }
}

/// The searches for what has an order with an intent.
private struct Searches {
    let unshadowed: String
    let all: String

    private init(_ intent: Footprint.Intent) {
        // A compound of equalities costs less than a list, for which SQLite makes a table.
        let parts = intent.conflicts.map { other in
            """
            SELECT operation, intent FROM godwit_footprint
            WHERE resource = ?1 AND intent = \(other.rawValue)
            """
        }
        all = parts.joined(separator: " UNION ALL ")
        unshadowed = parts.map { $0 + " AND shadow = 0" }.joined(separator: " UNION ALL ")
    }

    private static let all = Dictionary(
        uniqueKeysWithValues: Footprint.Intent.allCases.map { ($0, Searches($0)) }
    )

    static func of(_ intent: Footprint.Intent) -> Searches {
        all[intent, default: Searches(intent)]
    }
}

extension Sequence<UInt8> {
    /// FNV-1a, 64 bits: the same in each process and version.
    fileprivate var stableHash: UInt64 {
        reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }
}
