internal import GRDB
internal import GodwitTree

/// The tables behind the indexes: one that lists them, and one for each.
enum IndexTable {
    static let schema = """
        CREATE TABLE godwit_index (
            number INTEGER PRIMARY KEY,
            collection TEXT NOT NULL,
            name TEXT NOT NULL,
            fields TEXT NOT NULL,
            version INTEGER NOT NULL,
            UNIQUE (collection, name)
        ) STRICT;
        """

    /// An index that the store keeps.
    struct Entry: Sendable {
        let number: Int64
        let collection: Key
        let index: Index
        /// The version of the app's type whose fields are indexed.
        let version: Int

        fileprivate var table: String { "godwit_index_\(number)" }
        fileprivate var columns: [String] { index.fields.indices.map { "f\($0)" } }
    }

    static func all(in database: Database) throws -> [Entry] {
        let sql = "SELECT number, collection, name, fields, version FROM godwit_index"
        return try Row.fetchAll(database, sql: sql).map { row in
            let text: String = try row.cell(3)
            let fields = try Value(json: text).list ?? []
            let paths = fields.map { $0.list?.compactMap { $0.text.map { Key($0) } } ?? [] }
            return Entry(
                number: try row.cell(0),
                collection: Key(try row.cell(1)),
                index: Index(name: try row.cell(2), paths: paths),
                version: try row.cell(4)
            )
        }
    }

    static func create(
        _ index: Index,
        in collection: Key,
        version: Int,
        _ database: Database
    ) throws -> Entry {
        let fields = Value.list(index.fields.map { .list($0.path.map { .string($0) }) })
        try database.execute(
            sql: """
                INSERT INTO godwit_index (collection, name, fields, version)
                VALUES (?, ?, ?, ?)
                """,
            arguments: [collection.text, index.name, fields.jsonText(), version]
        )
        let entry = Entry(
            number: database.lastInsertedRowID,
            collection: collection,
            index: index,
            version: version
        )
        let columns = (entry.columns + ["key"]).joined(separator: ", ")
        try database.execute(
            sql: """
                CREATE TABLE \(entry.table) (
                    \(entry.columns.joined(separator: " NOT NULL, ")) NOT NULL,
                    key TEXT NOT NULL,
                    PRIMARY KEY (\(columns))
                ) WITHOUT ROWID
                """
        )
        return entry
    }

    static func drop(_ entry: Entry, in database: Database) throws {
        try database.execute(sql: "DROP TABLE \(entry.table)")
        try database.execute(
            sql: "DELETE FROM godwit_index WHERE number = ?",
            arguments: [entry.number]
        )
    }
}

extension IndexTable.Entry {
    func insert(_ values: [IndexedValue], _ key: Key, in database: Database) throws {
        let marks = values.map { _ in "?" }.joined(separator: ", ")
        try run("INSERT INTO \(table) VALUES (\(marks), ?)", values, key, in: database)
    }

    func remove(_ values: [IndexedValue], _ key: Key, in database: Database) throws {
        let condition = columns.map { "\($0) = ?" }.joined(separator: " AND ")
        try run("DELETE FROM \(table) WHERE \(condition) AND key = ?", values, key, in: database)
    }

    private func run(
        _ sql: String,
        _ values: [IndexedValue],
        _ key: Key,
        in database: Database
    ) throws {
        let statement = try PreparedStatement(sql, in: database)
        for (position, value) in values.enumerated() {
            try value.bind(to: statement, at: Int32(position + 1))
        }
        try statement.bind(key, at: Int32(values.count + 1))
        try statement.execute()
    }

    /// Walks the keys of a part of the index until `body` returns false.
    func forEachKey(
        _ bounds: IndexBounds,
        in database: Database,
        _ body: (String) throws -> Bool
    ) throws {
        var (conditions, values) = ([String](), [IndexedValue]())
        for (column, value) in zip(columns, bounds.prefix) {
            conditions.append("\(column) = ?")
            values.append(value)
        }
        if bounds.prefix.count < columns.count {
            let column = columns[bounds.prefix.count]
            if let lower = bounds.lower {
                conditions.append("\(column) >= ?")
                values.append(lower)
            }
            if let upper = bounds.upper {
                conditions.append("\(column) < ?")
                values.append(upper)
            }
        }
        let direction = bounds.order == .descending ? " DESC" : ""
        let order = (columns + ["key"]).map { $0 + direction }.joined(separator: ", ")
        let sql =
            "SELECT key FROM \(table)"
            + (conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND "))
            + " ORDER BY \(order)" + (bounds.limit == nil ? "" : " LIMIT ?")
        let statement = try PreparedStatement(sql, in: database)
        defer { statement.reset() }
        for (position, value) in values.enumerated() {
            try value.bind(to: statement, at: Int32(position + 1))
        }
        if let limit = bounds.limit {
            try statement.bind(Int64(limit), at: Int32(values.count + 1))
        }
        while try statement.step(), try body(statement.text(0)) {}
    }

    /// How many entries the index has, for the integrity check.
    func count(in database: Database) throws -> Int {
        try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM \(table)") ?? 0
    }

    func contains(_ values: [IndexedValue], _ key: Key, in database: Database) throws -> Bool {
        let condition = columns.map { "\($0) = ?" }.joined(separator: " AND ")
        let sql = "SELECT 1 FROM \(table) WHERE \(condition) AND key = ?"
        let statement = try PreparedStatement(sql, in: database)
        defer { statement.reset() }
        for (position, value) in values.enumerated() {
            try value.bind(to: statement, at: Int32(position + 1))
        }
        try statement.bind(key, at: Int32(values.count + 1))
        return try statement.step()
    }
}

extension Index {
    fileprivate init(name: String, paths: [[Key]]) {
        self.name = name
        fields = paths.map { Field(path: $0) }
    }
}

extension Field {
    fileprivate init(path: [Key]) { self.path = path }
}
