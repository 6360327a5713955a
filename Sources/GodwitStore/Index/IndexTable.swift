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
        let index: StoreIndex
        /// What the fields are of an object that was stored without them.
        let defaults: [Value?]
        /// The version of the app's type whose fields are indexed.
        let version: Int

        var table: String { "godwit_index_\(number)" }
        var columns: [String] { index.fields.indices.map { "f\($0)" } }
    }

    static func all(in database: Database) throws -> [Entry] {
        let sql = "SELECT number, collection, name, fields, version FROM godwit_index"
        return try Row.fetchAll(database, sql: sql).map { row in
            let stored = try Value(json: try row.cell(3))
            let fields = (stored["fields"] ?? stored).list ?? []
            let tokens = stored["text"]?.text.flatMap { TextTokens(rawValue: $0) }
            return Entry(
                number: try row.cell(0),
                collection: Key(try row.cell(1)),
                index: StoreIndex(
                    name: try row.cell(2),
                    fields: fields.map { Field(stored: $0) },
                    kind: tokens.map { .text($0) } ?? .ordered
                ),
                defaults: fields.map { $0["default"] },
                version: try row.cell(4)
            )
        }
    }

    static func create(
        _ index: StoreIndex,
        _ rules: CollectionRules,
        in database: Database
    ) throws -> Entry {
        let defaults = rules.defaults(of: index)
        let fields = Value.list(Value.List(zip(index.fields, defaults).map { $0.stored(or: $1) }))
        let stored: Value =
            if case .text(let tokens) = index.kind {
                ["text": .string(Key(tokens.rawValue)), "fields": fields]
            } else {
                fields
            }
        try database.execute(
            sql: """
                INSERT INTO godwit_index (collection, name, fields, version)
                VALUES (?, ?, ?, ?)
                """,
            arguments: [rules.name.text, index.name, stored.jsonText(), rules.version]
        )
        let entry = Entry(
            number: database.lastInsertedRowID,
            collection: rules.name,
            index: index,
            defaults: defaults,
            version: rules.version
        )
        try entry.createTable(in: database)
        return entry
    }

    static func drop(_ entry: Entry, in database: Database) throws {
        try entry.dropTable(in: database)
        try database.execute(
            sql: "DELETE FROM godwit_index WHERE number = ?",
            arguments: [entry.number]
        )
    }
}

extension IndexTable.Entry {
    fileprivate func createTable(in database: Database) throws {
        if case .text(let tokens) = index.kind {
            return try createTexts(tokens, in: database)
        }
        let columns = (columns + ["key"]).joined(separator: ", ")
        try database.execute(
            sql: """
                CREATE TABLE \(table) (
                    \(self.columns.joined(separator: " NOT NULL, ")) NOT NULL,
                    key TEXT NOT NULL,
                    PRIMARY KEY (\(columns))
                ) WITHOUT ROWID
                """
        )
    }

    fileprivate func dropTable(in database: Database) throws {
        if isText { try dropTexts(in: database) }
        try database.execute(sql: "DROP TABLE \(table)")
    }

    var isText: Bool { index.kind != .ordered }

    func insert(_ values: [IndexedValue], _ key: Key, in database: Database) throws {
        if isText { return try insertTexts(values, key, in: database) }
        let marks = values.map { _ in "?" }.joined(separator: ", ")
        try run("INSERT INTO \(table) VALUES (\(marks), ?)", values, key, in: database)
    }

    func remove(_ values: [IndexedValue], _ key: Key, in database: Database) throws {
        if isText { return try removeTexts(key, in: database) }
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

    /// Walks a part of the index until `body` returns false.
    ///
    /// - Parameter column: Which field `body` gets besides the key; nil for none.
    func forEachEntry(
        _ bounds: IndexBounds,
        column: Int?,
        in database: Database,
        _ body: (String, IndexedValue?) throws -> Bool
    ) throws {
        var (conditions, values) = ([String](), [IndexedValue]())
        for (column, value) in zip(columns, bounds.prefix) {
            conditions.append("\(column) = ?")
            values.append(value)
        }
        if bounds.prefix.count < columns.count {
            let column = columns[bounds.prefix.count]
            if let lower = bounds.range.lower {
                conditions.append("\(column) \(lower.isIncluded ? ">=" : ">") ?")
                values.append(lower.value)
            }
            if let upper = bounds.range.upper {
                conditions.append("\(column) \(upper.isIncluded ? "<=" : "<") ?")
                values.append(upper.value)
            }
        }
        let direction = bounds.order == .descending ? " DESC" : ""
        let order = (columns + ["key"]).map { $0 + direction }.joined(separator: ", ")
        let sql =
            "SELECT key\(column.map { ", f\($0)" } ?? "") FROM \(table)"
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
        while try statement.step() {
            let value = column == nil ? nil : IndexedValue(statement, column: 1)
            guard try body(statement.text(0), value) else { return }
        }
    }

    /// How many entries the index has, for the integrity check.
    func count(in database: Database) throws -> Int {
        try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM \(table)") ?? 0
    }

    func contains(_ values: [IndexedValue], _ key: Key, in database: Database) throws -> Bool {
        let condition = columns.map { "\($0) = ?" }.joined(separator: " AND ")
        let source = isText ? "\(table) JOIN \(keyTable) ON id = \(table).rowid" : table
        let sql = "SELECT 1 FROM \(source) WHERE \(condition) AND key = ?"
        let statement = try PreparedStatement(sql, in: database)
        defer { statement.reset() }
        for (position, value) in values.enumerated() {
            try value.bind(to: statement, at: Int32(position + 1))
        }
        try statement.bind(key, at: Int32(values.count + 1))
        return try statement.step()
    }
}

extension Field {
    /// The path as a list, beside a default value if there is one.
    fileprivate func stored(or defaultValue: Value?) -> Value {
        let path = Value.list(Value.List(path.map { .string($0) }))
        return defaultValue.map { ["path": path, "default": $0] } ?? path
    }

    fileprivate init(stored: Value) {
        let path = (stored["path"] ?? stored).list ?? []
        self.init(path: path.compactMap { $0.text.map { Key($0) } })
    }
}
