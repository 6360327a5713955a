internal import GRDB
internal import GodwitStore

/// Which operation needs which, as long as both are unfinished.
enum DependencyTable {
    /// Who wants an edge to be there.
    enum Origin: String {
        case app
        /// A footprint, or a rule that adds to it: what both touch has an order.
        case footprint
    }

    struct Edge {
        let operation: OperationNumber
        let need: OperationNumber
        let policy: Dependency.Policy
        let origin: Origin
        /// Whether a footprint wants it too, whichever asked for it first.
        var isDerived: Bool

        init(
            operation: OperationNumber,
            need: OperationNumber,
            policy: Dependency.Policy,
            origin: Origin,
            isDerived: Bool? = nil
        ) {
            self.operation = operation
            self.need = need
            self.policy = policy
            self.origin = origin
            self.isDerived = isDerived ?? (origin != .app)
        }
    }

    static let schema = """
        CREATE TABLE godwit_dependency (
            operation INTEGER NOT NULL,
            needs INTEGER NOT NULL,
            policy TEXT NOT NULL,
            origin TEXT NOT NULL,
            derived INTEGER NOT NULL,
            PRIMARY KEY (operation, needs)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX godwit_dependency_needs ON godwit_dependency (needs);
        """

    /// Adds an edge, and notes it on both operations.
    static func add(_ edge: Edge, in database: Database) throws {
        try insert(edge, in: database)
        try OperationTable.add(.needs, to: edge.operation, in: database)
        try OperationTable.add(.dependents, to: edge.need, in: database)
    }

    static func insert(_ edge: Edge, in database: Database) throws {
        let statement = try PreparedStatement(
            """
            INSERT INTO godwit_dependency (operation, needs, policy, origin, derived)
            VALUES (?1, ?2, ?3, ?4, ?5)
            ON CONFLICT DO UPDATE SET
                policy = iif(excluded.origin = 'app', excluded.policy, policy),
                origin = iif(excluded.origin = 'app', 'app', origin),
                derived = derived | excluded.derived
            """,
            in: database
        )
        try statement.bind(edge.operation.rawValue, at: 1)
        try statement.bind(edge.need.rawValue, at: 2)
        try statement.bind(edge.policy.rawValue, at: 3)
        try statement.bind(edge.origin.rawValue, at: 4)
        try statement.bind(edge.isDerived, at: 5)
        try statement.execute()
    }

    static func remove(
        _ need: OperationNumber,
        from operation: OperationNumber,
        in database: Database
    ) throws {
        let statement = try PreparedStatement(
            "DELETE FROM godwit_dependency WHERE operation = ?1 AND needs = ?2",
            in: database
        )
        try statement.bind(operation.rawValue, at: 1)
        try statement.bind(need.rawValue, at: 2)
        try statement.execute()
    }

    static func removeNeeds(of operation: OperationNumber, in database: Database) throws {
        try change("DELETE FROM godwit_dependency WHERE operation = ?1", operation, in: database)
    }

    /// Takes back what the app has asked for; what footprints want stays.
    static func removeAppsNeeds(of operation: OperationNumber, in database: Database) throws {
        let keep = """
            UPDATE godwit_dependency SET origin = 'footprint', policy = 'wait'
            WHERE operation = ?1 AND origin = 'app' AND derived = 1
            """
        let remove = "DELETE FROM godwit_dependency WHERE operation = ?1 AND origin = 'app'"
        for sql in [keep, remove] { try change(sql, operation, in: database) }
    }

    /// Takes back what footprints want; what the app has asked for stays.
    static func removeDerivedNeeds(of operation: OperationNumber, in database: Database) throws {
        let keep = """
            UPDATE godwit_dependency SET derived = 0 WHERE operation = ?1 AND origin = 'app'
            """
        let remove = "DELETE FROM godwit_dependency WHERE operation = ?1 AND origin <> 'app'"
        for sql in [keep, remove] { try change(sql, operation, in: database) }
    }

    /// What waits for an operation of a later commit of its own pipeline: in commit order that one waits for
    /// it.
    ///
    /// - Parameter keepsOrder: Whether the pipeline is in commit order now; else some of its operations
    ///   may be.
    static func needsOfLaterCommits(
        in pipeline: String,
        keepsOrder: Bool,
        _ database: Database
    ) throws -> [Edge] {
        let statement = try PreparedStatement(
            """
            SELECT edge.operation, edge.needs, edge.policy, edge.origin, edge.derived
            FROM godwit_dependency AS edge
            JOIN godwit_operation AS own ON own.number = edge.operation
            JOIN godwit_operation AS need ON need.number = edge.needs
            WHERE own.pipeline = ?1 AND need.pipeline = ?1
            AND need.commit_number > own.commit_number
            AND (?2 OR own.keeps_order AND need.keeps_order)
            """,
            in: database
        )
        defer { statement.reset() }
        try statement.bind(pipeline, at: 1)
        try statement.bind(keepsOrder, at: 2)
        return try edges(of: statement)
    }

    /// Takes back what waits for an operation that is not there: a damaged file has lost it.
    static func removeLostNeeds(in database: Database) throws {
        try database.execute(
            sql: """
                DELETE FROM godwit_dependency WHERE NOT EXISTS (
                    SELECT 1 FROM godwit_operation WHERE number = godwit_dependency.needs
                )
                """
        )
    }

    private static func change(
        _ sql: String,
        _ operation: OperationNumber,
        in database: Database
    ) throws {
        let statement = try PreparedStatement(sql, in: database)
        try statement.bind(operation.rawValue, at: 1)
        try statement.execute()
    }

    static func removeDependents(of need: OperationNumber, in database: Database) throws {
        let statement = try PreparedStatement(
            "DELETE FROM godwit_dependency WHERE needs = ?1",
            in: database
        )
        try statement.bind(need.rawValue, at: 1)
        try statement.execute()
    }

    /// What an operation waits for because of footprints.
    static func derivedNeeds(
        of operation: OperationNumber,
        in database: Database
    ) throws -> [OperationNumber] {
        let statement = try PreparedStatement(
            "SELECT needs FROM godwit_dependency WHERE operation = ?1 AND derived = 1",
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

    static func needs(
        of operation: OperationNumber,
        in database: Database
    ) throws -> [Edge] {
        try edges("operation = ?1 ORDER BY needs", operation, in: database)
    }

    static func dependents(
        of need: OperationNumber,
        in database: Database
    ) throws -> [Edge] {
        try edges("needs = ?1 ORDER BY operation", need, in: database)
    }

    /// Calls `body` with all edges, by operation.
    static func forEachEdge(
        in database: Database,
        _ body: (OperationNumber, _ need: OperationNumber) -> Void
    ) throws {
        let statement = try PreparedStatement(
            "SELECT operation, needs FROM godwit_dependency ORDER BY operation, needs",
            in: database
        )
        defer { statement.reset() }
        while try statement.step() {
            body(
                OperationNumber(rawValue: statement.integer(0)),
                OperationNumber(rawValue: statement.integer(1))
            )
        }
    }

    static func all(in database: Database) throws -> [Edge] {
        try edges("true ORDER BY operation, needs", nil, in: database)
    }

    private static func edges(
        _ filter: String,
        _ number: OperationNumber?,
        in database: Database
    ) throws -> [Edge] {
        let statement = try PreparedStatement(
            "SELECT operation, needs, policy, origin, derived FROM godwit_dependency WHERE \(filter)",
            in: database
        )
        defer { statement.reset() }
        if let number { try statement.bind(number.rawValue, at: 1) }
        return try edges(of: statement)
    }

    private static func edges(of statement: borrowing PreparedStatement) throws -> [Edge] {
        var edges: [Edge] = []
        while try statement.step() {
            edges.append(
                Edge(
                    operation: OperationNumber(rawValue: statement.integer(0)),
                    need: OperationNumber(rawValue: statement.integer(1)),
                    policy: Dependency.Policy(rawValue: statement.text(2)) ?? .wait,
                    origin: Origin(rawValue: statement.text(3)) ?? .app,
                    isDerived: statement.integer(4) != 0
                )
            )
        }
        return edges
    }
}
