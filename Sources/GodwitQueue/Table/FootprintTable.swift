internal import GRDB
internal import GodwitStore

/// What the unfinished operations touch: an index that finds who came last.
///
/// A row that a later one makes superfluous is shadowed by it, and out of the way: the rows that
/// a look finds are those that it has to find.
enum FootprintTable {
    static let schema = """
        CREATE TABLE godwit_footprint (
            resource TEXT NOT NULL,
            intent INTEGER NOT NULL,
            shadow INTEGER NOT NULL DEFAULT 0,
            operation INTEGER NOT NULL,
            PRIMARY KEY (resource, intent, shadow, operation)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX godwit_footprint_operation ON godwit_footprint (operation);
        CREATE INDEX godwit_footprint_shadow ON godwit_footprint (shadow) WHERE shadow <> 0;
        """

    static func add(
        _ touch: Footprint.Touch,
        of operation: OperationNumber,
        in database: Database
    ) throws {
        let statement = try PreparedStatement(
            """
            INSERT OR IGNORE INTO godwit_footprint (resource, intent, operation)
            VALUES (?1, ?2, ?3)
            """,
            in: database
        )
        try statement.bind(touch.resource, at: 1)
        try statement.bind(touch.intent.rawValue, at: 2)
        try statement.bind(operation.rawValue, at: 3)
        try statement.execute()
    }

    /// What an operation touches, sorted.
    static func touches(
        of operation: OperationNumber,
        in database: Database
    ) throws -> [Footprint.Touch] {
        let statement = try PreparedStatement(
            "SELECT resource, intent FROM godwit_footprint WHERE operation = ?1",
            in: database
        )
        defer { statement.reset() }
        try statement.bind(operation.rawValue, at: 1)
        var touches: [Footprint.Touch] = []
        while try statement.step() {
            guard let intent = Footprint.Intent(rawValue: statement.integer(1)) else { continue }
            touches.append(Footprint.Touch(resource: statement.text(0), intent: intent))
        }
        return touches.sorted()
    }

    /// The operations that have an order with a touch.
    ///
    /// - Parameter withShadowed: Whether those count for which a later one stands.
    static func conflicts(
        with touch: Footprint.Touch,
        withShadowed: Bool,
        in database: Database
    ) throws -> Set<OperationNumber> {
        var found: Set<OperationNumber> = []
        for intent in touch.intent.conflicts {
            let statement = try PreparedStatement(
                """
                SELECT operation FROM godwit_footprint WHERE resource = ?1 AND intent = ?2
                \(withShadowed ? "" : "AND shadow = 0")
                """,
                in: database
            )
            defer { statement.reset() }
            try statement.bind(touch.resource, at: 1)
            try statement.bind(intent.rawValue, at: 2)
            while try statement.step() {
                found.insert(OperationNumber(rawValue: statement.integer(0)))
            }
        }
        return found
    }

    /// Has a touch stand for those that it makes superfluous.
    static func shadow(
        by touch: Footprint.Touch,
        of operation: OperationNumber,
        in database: Database
    ) throws {
        for intent in touch.intent.shadows {
            let statement = try PreparedStatement(
                """
                UPDATE godwit_footprint SET shadow = ?3
                WHERE resource = ?1 AND intent = ?2 AND shadow = 0 AND operation <> ?3
                """,
                in: database
            )
            try statement.bind(touch.resource, at: 1)
            try statement.bind(intent.rawValue, at: 2)
            try statement.bind(operation.rawValue, at: 3)
            try statement.execute()
        }
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
