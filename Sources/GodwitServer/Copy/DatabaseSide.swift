#if Server && PostgreSQL
internal import GodwitPostgreSQL
internal import GodwitReplication

/// The tables of a server in a PostgreSQL database.
struct DatabaseSide: CopySide {
    let database: PostgreSQLDatabase

    func prepare() async throws { try await database.migrate() }

    func names() async throws -> [ReplicaName] {
        try await database.read { session in
            let rows = try session.query("SELECT name FROM godwit_line ORDER BY name")
            return try (0..<rows.count).map { try ReplicaName(rows.text($0, 0)) }
        }
    }

    func line(of replica: ReplicaName) async throws -> [CopiedCell]? {
        try await database.read { session in
            let rows = try session.query(
                "SELECT \(Self.columns(of: .line)) FROM godwit_line WHERE number = $1",
                [LineNumber(replica).parameter]
            )
            return rows.count > 0 ? try rows.cells(of: .line, 0) : nil
        }
    }

    func rows(
        of table: CopiedTable,
        _ replica: ReplicaName,
        after key: [CopiedCell]?
    ) async throws -> [[CopiedCell]] {
        try await database.read { session in
            var parameters = table.scope == .all ? [] : [LineNumber(replica).parameter]
            var conditions = parameters.isEmpty ? ["true"] : ["line = $1"]
            let order = table.keys.map(\.databaseName).joined(separator: ", ")
            if let key {
                let places = key.indices.map { "$\($0 + parameters.count + 1)" }
                conditions.append("(\(order)) > (\(places.joined(separator: ", ")))")
                parameters += zip(key, table.keys).map { $0.parameter(of: $1.kind) }
            }
            let sizes = table.columns.filter { $0.kind.isSized }.map(\.databaseName)
            let page = RowPage(
                columns: Self.columns(of: table),
                size: sizes.map { "coalesce(octet_length(\($0)), 0)" }.joined(separator: " + "),
                source: "\(table.name) WHERE \(conditions.joined(separator: " AND "))",
                order: order
            )
            let rows = try session.query(page.sql, parameters)
            return try (0..<rows.count).map { try rows.cells(of: table, $0) }
        }
    }

    func begin(_ replica: ReplicaName) async throws {
        try await database.write { session in
            for table in CopiedTable.parts {
                try session.query(
                    "DELETE FROM \(table.name) WHERE line = $1",
                    [LineNumber(replica).parameter]
                )
            }
        }
    }

    func insert(
        _ rows: [[CopiedCell]],
        into table: CopiedTable,
        _ replica: ReplicaName
    ) async throws {
        try await database.write { session in
            for row in rows { try Self.insert(row, into: table, replica, on: session) }
        }
    }

    func finish(_ replica: ReplicaName, _ line: [CopiedCell]) async throws {
        try await database.write { session in
            let places = line.indices.map { "$\($0 + 2)" }.joined(separator: ", ")
            // It may be the second attempt after a commit that lost its connection.
            try session.query(
                """
                INSERT INTO godwit_line (number, \(Self.columns(of: .line)))
                VALUES ($1, \(places)) ON CONFLICT (number) DO NOTHING
                """,
                [LineNumber(replica).parameter]
                    + zip(line, CopiedTable.line.columns).map { $0.parameter(of: $1.kind) }
            )
        }
    }

    private static func insert(
        _ row: [CopiedCell],
        into table: CopiedTable,
        _ replica: ReplicaName,
        on session: PostgreSQLSession
    ) throws {
        var (columns, parameters) = ([String](), [PostgreSQLParameter]())
        if table.scope != .all {
            columns.append("line")
            parameters.append(LineNumber(replica).parameter)
        }
        columns += table.columns.map(\.databaseName)
        parameters += zip(row, table.columns).map { $0.parameter(of: $1.kind) }
        if let column = table.databaseOnly {
            columns.append(column)
            parameters.append(.integer(0))
        }
        try session.query(
            """
            INSERT INTO \(table.name) (\(columns.joined(separator: ", ")))
            VALUES (\(columns.indices.map { "$\($0 + 1)" }.joined(separator: ", ")))
            ON CONFLICT DO NOTHING
            """,
            parameters
        )
    }

    private static func columns(of table: CopiedTable) -> String {
        table.columns.map(\.databaseName).joined(separator: ", ")
    }
}

extension CopiedTable.Kind {
    /// Whether its size counts for a page.
    fileprivate var isSized: Bool {
        switch self {
        case .bytes, .text, .name: true
        case .integer, .integerOrZero: false
        }
    }
}

extension CopiedCell {
    fileprivate func parameter(of kind: CopiedTable.Kind) -> PostgreSQLParameter {
        switch kind {
        case .integer: .integer(integer)
        case .integerOrZero: .integer(integer ?? 0)
        case .bytes, .name: .bytes(bytes)
        case .text: .text(String(decoding: bytes ?? [], as: UTF8.self))
        }
    }
}

extension PostgreSQLRows {
    fileprivate func cells(of table: CopiedTable, _ row: Int) throws -> [CopiedCell] {
        try table.columns.enumerated().map { place, column in
            if isNull(row, place) { return .null }
            return switch column.kind {
            case .integer, .integerOrZero: .integer(try integer(row, place))
            case .bytes, .text, .name: .bytes(bytes(row, place))
            }
        }
    }
}
#endif
