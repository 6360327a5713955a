internal import GRDB
internal import GodwitStore

/// Which operation needs which, as long as both are unfinished.
enum DependencyTable {
    /// Who wants an edge to be there.
    enum Origin: String {
        case app
        /// A footprint: what both touch has an order.
        case footprint
        case rule
    }

    struct Edge {
        let operation: OperationNumber
        let need: OperationNumber
        let policy: Dependency.Policy
        let origin: Origin
    }

    static func add(_ edge: Edge, in database: Database) throws {
        let statement = try PreparedStatement(
            """
            INSERT INTO godwit_dependency (operation, needs, policy, origin)
            VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT DO UPDATE SET policy = excluded.policy, origin = excluded.origin
            WHERE excluded.origin = 'app'
            """,
            in: database
        )
        statement.bind(edge.operation.rawValue, at: 1)
        statement.bind(edge.need.rawValue, at: 2)
        statement.bind(edge.policy.rawValue, at: 3)
        statement.bind(edge.origin.rawValue, at: 4)
        try statement.execute()
        try OperationTable.add(.needs, to: edge.operation, in: database)
        try OperationTable.add(.dependents, to: edge.need, in: database)
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
        statement.bind(operation.rawValue, at: 1)
        statement.bind(need.rawValue, at: 2)
        try statement.execute()
    }

    static func removeNeeds(
        of operation: OperationNumber,
        origin: Origin? = nil,
        in database: Database
    ) throws {
        let filter = origin == nil ? "" : "AND origin = ?2"
        let statement = try PreparedStatement(
            "DELETE FROM godwit_dependency WHERE operation = ?1 \(filter)",
            in: database
        )
        statement.bind(operation.rawValue, at: 1)
        if let origin { statement.bind(origin.rawValue, at: 2) }
        try statement.execute()
    }

    static func removeDependents(of need: OperationNumber, in database: Database) throws {
        let statement = try PreparedStatement(
            "DELETE FROM godwit_dependency WHERE needs = ?1",
            in: database
        )
        statement.bind(need.rawValue, at: 1)
        try statement.execute()
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
            "SELECT operation, needs, policy, origin FROM godwit_dependency WHERE \(filter)",
            in: database
        )
        defer { statement.reset() }
        if let number { statement.bind(number.rawValue, at: 1) }
        var edges: [Edge] = []
        while try statement.step() {
            edges.append(
                Edge(
                    operation: OperationNumber(rawValue: statement.integer(0)),
                    need: OperationNumber(rawValue: statement.integer(1)),
                    policy: Dependency.Policy(rawValue: statement.text(2)) ?? .wait,
                    origin: Origin(rawValue: statement.text(3)) ?? .app
                )
            )
        }
        return edges
    }
}
