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

    func requireServer() async throws { try await database.checkSchema() }

    func begin(_ replica: ReplicaName) async throws {
        let number = LineNumber(replica)
        try await database.write { session in
            for (table, column) in [("godwit_line", "number"), ("godwit_access_client", "line")] {
                try session.query(
                    "DELETE FROM \(table) WHERE \(column) = $1",
                    [number.parameter]
                )
            }
            try LineRow.removeParts(of: number, on: session)
        }
    }

    func hasKeys() async throws -> Bool {
        try await !PostgreSQLAccess(database: database).keys().isEmpty
    }

    func removeKeys() async throws {
        try await database.write { _ = try $0.query("DELETE FROM godwit_access_key") }
    }

    func insert(
        _ rows: [[CopiedCell]],
        into table: CopiedTable,
        _ replica: ReplicaName
    ) async throws {
        try Self.checkKeys(of: rows, in: table, replica)
        let sql = Self.insertion(into: table)
        let columns = table.columns.indices.map { column -> PostgreSQLParameter in
            switch table.columns[column].kind {
            case .integer: .integers(rows.map { $0[column].integer })
            case .integerOrZero: .integers(rows.map { $0[column].integer ?? 0 })
            case .bytes, .text, .name: .byteStrings(rows.map { $0[column].bytes })
            }
        }
        let scope = table.scope == .all ? [] : [LineNumber(replica).parameter]
        try await database.write { _ = try $0.query(sql, scope + columns) }
    }

    /// - Throws: ``ServerCopyError/keyTooLong(_:key:sizeMax:)``.
    private static func checkKeys(
        of rows: [[CopiedCell]],
        in table: CopiedTable,
        _ replica: ReplicaName
    ) throws {
        let places = table.keys.indices.filter { table.columns[$0].kind.isName }
        guard places.count == 2 else { return }
        for cells in rows {
            let names = places.map { cells[$0] }
            // Records about objects have longer names than these.
            let isReserved = names[0].text.hasPrefix("godwit.")
            let sizeMax = LineNumber.keySizeMax + (isReserved ? 256 : 0)
            guard names.reduce(0, { $0 + $1.size }) <= sizeMax else {
                let key = names[1].text
                throw ServerCopyError.keyTooLong(replica, key: key, sizeMax: LineNumber.keySizeMax)
            }
        }
    }

    /// One statement for all rows, whose columns are arrays.
    private static func insertion(into table: CopiedTable) -> String {
        let isScoped = table.scope != .all
        let first = isScoped ? 2 : 1
        let arrays = table.columns.enumerated().map { place, column in
            "$\(place + first)::\(column.kind.isSized ? "BYTEA" : "BIGINT")[]"
        }
        let values = table.columns.map { column in
            if case .text = column.kind {
                return "convert_from(new.\(column.databaseName), 'UTF8')"
            }
            return "new.\(column.databaseName)"
        }
        let names = table.columns.map(\.databaseName)
        let extra = table.databaseOnly.map { [$0] } ?? []
        return """
            INSERT INTO \(table.name)
                (\(((isScoped ? ["line"] : []) + names + extra).joined(separator: ", ")))
            SELECT \(((isScoped ? ["$1::BIGINT"] : []) + values + extra.map { _ in "0" })
                .joined(separator: ", "))
            FROM unnest(\(arrays.joined(separator: ", ")))
                AS new (\(names.joined(separator: ", ")))
            ON CONFLICT DO NOTHING
            """
    }

    func finish(_ replica: ReplicaName, _ line: [CopiedCell]) async throws {
        let isThere = try await database.write { session in
            let number = LineNumber(replica).parameter
            let places = line.indices.map { "$\($0 + 2)" }.joined(separator: ", ")
            // It may be the second attempt after a commit that lost its connection.
            try session.query(
                """
                INSERT INTO godwit_line (number, \(Self.columns(of: .line)))
                VALUES ($1, \(places)) ON CONFLICT (number) DO NOTHING
                """,
                [number] + zip(line, CopiedTable.line.columns).map { $0.parameter(of: $1.kind) }
            )
            let rows = try session.query(
                "SELECT \(Self.columns(of: .line)) FROM godwit_line WHERE number = $1",
                [number]
            )
            return try rows.count == 1 && rows.cells(of: .line, 0) == line
        }
        guard isThere else { throw ServerCopyError.replicaExists(replica) }
    }

    private static func columns(of table: CopiedTable) -> String {
        table.columns.map(\.databaseName).joined(separator: ", ")
    }
}

extension CopiedTable.Kind {
    fileprivate var isName: Bool { if case .name = self { true } else { false } }

    /// Whether its size counts for a page.
    fileprivate var isSized: Bool {
        switch self {
        case .bytes, .text, .name: true
        case .integer, .integerOrZero: false
        }
    }
}

extension CopiedCell {
    fileprivate var size: Int { bytes?.count ?? 0 }

    fileprivate var text: String { String(decoding: bytes ?? [], as: UTF8.self) }

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
