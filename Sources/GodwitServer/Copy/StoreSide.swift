#if Server && PostgreSQL
internal import GRDB
internal import GodwitPostgreSQL
internal import GodwitReplication
internal import GodwitStore

/// The tables of a server in a store.
struct StoreSide: CopySide {
    let store: Store

    func prepare() async throws {
        try LineTables.make(in: store)
        try StoreAccess(store: store).prepare()
    }

    func names() async throws -> [ReplicaName] {
        try await store.read { transaction in
            let statement = try PreparedStatement(
                "SELECT name FROM godwit_line ORDER BY name",
                in: transaction.connection
            )
            defer { statement.reset() }
            var names: [ReplicaName] = []
            while try statement.step() { names.append(try ReplicaName(statement.text(0))) }
            return names
        }
    }

    func line(of replica: ReplicaName) async throws -> [CopiedCell]? {
        try await store.read { transaction in
            let statement = try PreparedStatement(
                "SELECT \(Self.columns(of: .line)) FROM godwit_line WHERE name = ?1",
                in: transaction.connection
            )
            defer { statement.reset() }
            try statement.bind(replica.text, at: 1)
            return try statement.step() ? statement.cells(of: .line) : nil
        }
    }

    func rows(
        of table: CopiedTable,
        _ replica: ReplicaName,
        after key: [CopiedCell]?
    ) async throws -> [[CopiedCell]] {
        try await store.read { transaction in
            let database = transaction.connection
            let order = table.keys.map(\.name).joined(separator: ", ")
            let places = table.keys.map { _ in "?" }.joined(separator: ", ")
            var conditions = table.scopeColumn.map { ["\($0) = ?"] } ?? ["true"]
            if key != nil { conditions.append("(\(order)) > (\(places))") }
            let statement = try PreparedStatement(
                """
                SELECT \(Self.columns(of: table)) FROM \(table.name)
                WHERE \(conditions.joined(separator: " AND ")) ORDER BY \(order)
                LIMIT \(RowPage.countMax)
                """,
                in: database
            )
            defer { statement.reset() }
            let scope = try Self.scope(of: table, replica, in: database)
            try Self.bind(scope + (key ?? []), of: table, to: statement)
            var (rows, size) = ([[CopiedCell]](), 0)
            while size < RowPage.sizeMax, try statement.step() {
                let cells = statement.cells(of: table)
                size += cells.reduce(0) { $0 + ($1.bytes?.count ?? 8) }
                rows.append(cells)
            }
            return rows
        }
    }

    func requireServer() async throws {
        let isServer = try await store.read { transaction in
            try transaction.connection.tableExists("godwit_line")
        }
        guard isServer else { throw ServerCopyError.noServer }
        try await prepare()
    }

    func begin(_ replica: ReplicaName) async throws {
        try await store.write { transaction in
            let database = transaction.connection
            let old = try Self.number(of: replica, in: database)
            try database.execute(
                sql: "DELETE FROM godwit_line WHERE name = ?",
                arguments: [replica.text]
            )
            // What lies behind the last number belongs to none.
            let next = try Self.number(of: replica, in: database)
            let parts = CopiedTable.parts.filter { $0.scope == .line }.map(\.name)
            for table in parts + ["godwit_line_staging", "godwit_line_staged"] {
                try database.execute(
                    sql: "DELETE FROM \(table) WHERE line = ? OR line >= ?",
                    arguments: [old, next]
                )
            }
            try database.execute(
                sql: "DELETE FROM godwit_access_client WHERE replica = ?",
                arguments: [replica.text]
            )
            transaction.touch()
        }
    }

    func hasKeys() async throws -> Bool {
        try await !StoreAccess(store: store).keys().isEmpty
    }

    func removeKeys() async throws {
        try await store.write { transaction in
            try transaction.connection.execute(sql: "DELETE FROM godwit_access_key")
            transaction.touch()
        }
    }

    func insert(
        _ rows: [[CopiedCell]],
        into table: CopiedTable,
        _ replica: ReplicaName
    ) async throws {
        try await store.write { transaction in
            let database = transaction.connection
            let scope = try Self.scope(of: table, replica, in: database)
            for row in rows { try Self.insert(row, into: table, scope, database) }
            transaction.touch()
        }
    }

    func finish(_ replica: ReplicaName, _ line: [CopiedCell]) async throws {
        try await store.write { transaction in
            let database = transaction.connection
            let number = try Self.number(of: replica, in: database)
            let statement = try PreparedStatement(
                """
                INSERT INTO godwit_line (number, \(Self.columns(of: .line)))
                VALUES (?1, \(line.indices.map { "?\($0 + 2)" }.joined(separator: ", ")))
                """,
                in: database
            )
            try statement.bind(number, at: 1)
            for (place, cell) in line.enumerated() {
                try statement.bind(cell, CopiedTable.line.columns[place].kind, at: Int32(place + 2))
            }
            try statement.execute()
            transaction.touch()
        }
    }

    private static func insert(
        _ row: [CopiedCell],
        into table: CopiedTable,
        _ scope: [CopiedCell],
        _ database: Database
    ) throws {
        let columns = (table.scopeColumn.map { [$0] } ?? []) + table.columns.map(\.name)
        let statement = try PreparedStatement(
            """
            INSERT OR IGNORE INTO \(table.name) (\(columns.joined(separator: ", ")))
            VALUES (\(columns.map { _ in "?" }.joined(separator: ", ")))
            """,
            in: database
        )
        try bind(scope + row, of: table, to: statement)
        try statement.execute()
    }

    /// What stands for a replica in the first column of its rows; nothing in a table of all replicas.
    private static func scope(
        of table: CopiedTable,
        _ replica: ReplicaName,
        in database: Database
    ) throws -> [CopiedCell] {
        switch table.scope {
        case .line: [.integer(try number(of: replica, in: database))]
        case .replica: [.bytes(Array(replica.text.utf8))]
        case .all: []
        }
    }

    /// Binds what stands for the replica, if the table has that, and then cells of the first columns.
    private static func bind(
        _ cells: [CopiedCell],
        of table: CopiedTable,
        to statement: PreparedStatement
    ) throws {
        let scope: [CopiedTable.Kind] = table.scope == .all ? [] : [.text]
        for (place, (cell, kind)) in zip(cells, scope + table.columns.map(\.kind)).enumerated() {
            try statement.bind(cell, kind, at: Int32(place + 1))
        }
    }

    /// The number of a replica, or the one that it will have: nothing else writes meanwhile.
    private static func number(of replica: ReplicaName, in database: Database) throws -> Int64 {
        let known = try Int64.fetchOne(
            database,
            sql: "SELECT number FROM godwit_line WHERE name = ?",
            arguments: [replica.text]
        )
        if let known { return known }
        return try Int64.fetchOne(
            database,
            sql: "SELECT coalesce(max(number), 0) + 1 FROM godwit_line"
        ) ?? 1
    }

    private static func columns(of table: CopiedTable) -> String {
        table.columns.map(\.name).joined(separator: ", ")
    }
}

extension CopiedTable {
    /// The column of the replica, in a store.
    fileprivate var scopeColumn: String? {
        switch scope {
        case .line: "line"
        case .replica: "replica"
        case .all: nil
        }
    }
}

extension PreparedStatement {
    /// The columns of a table, from the first one on.
    fileprivate func cells(of table: CopiedTable) -> [CopiedCell] {
        table.columns.enumerated().map { place, column in
            let place = Int32(place)
            if isNull(place) { return .null }
            return switch column.kind {
            case .integer, .integerOrZero: .integer(integer(place))
            case .bytes: .bytes(Array(blob(place)))
            case .text, .name: .bytes(Array(textBytes(place)))
            }
        }
    }

    fileprivate func bind(_ cell: CopiedCell, _ kind: CopiedTable.Kind, at place: Int32) throws {
        switch (cell, kind) {
        case (.null, _): try bind(nil as [UInt8]?, at: place)
        case (.integer(let number), _): try bind(number, at: place)
        case (.bytes(let bytes), .text), (.bytes(let bytes), .name):
            try bind(String(decoding: bytes, as: UTF8.self), at: place)
        case (.bytes(let bytes), _): try bind(bytes, at: place)
        }
    }
}
#endif
