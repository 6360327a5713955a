internal import GRDB
internal import GodwitTree

// A full-text index: a table of FTS5 with the texts, and one that gives each object's key a row id.

extension IndexTable.Entry {
    /// The row ids of the objects.
    var keyTable: String { "\(table)_key" }

    func createTexts(_ tokens: TextTokens, in database: Database) throws {
        let tokenizer =
            switch tokens {
            case .words: "unicode61 remove_diacritics 2"
            case .trigrams: "trigram"
            }
        let columns = columns.joined(separator: ", ")
        try database.execute(
            sql: """
                CREATE VIRTUAL TABLE \(table) USING fts5(\(columns), tokenize = '\(tokenizer)');
                DROP TABLE IF EXISTS \(keyTable);
                CREATE TABLE \(keyTable) (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE) STRICT;
                """
        )
    }

    func dropTexts(in database: Database) throws {
        try database.execute(sql: "DROP TABLE \(keyTable)")
    }

    func insertTexts(_ values: [IndexedValue], _ key: Key, in database: Database) throws {
        let keyStatement = try PreparedStatement(
            "INSERT INTO \(keyTable) (key) VALUES (?)",
            in: database
        )
        try keyStatement.bind(key, at: 1)
        try keyStatement.execute()
        let marks = values.map { _ in ", ?" }.joined()
        let columns = (["rowid"] + columns).joined(separator: ", ")
        let statement = try PreparedStatement(
            "INSERT INTO \(table) (\(columns)) VALUES (?\(marks))",
            in: database
        )
        try statement.bind(database.lastInsertedRowID, at: 1)
        for (position, value) in values.enumerated() {
            try value.bind(to: statement, at: Int32(position + 2))
        }
        try statement.execute()
    }

    func removeTexts(_ key: Key, in database: Database) throws {
        for sql in [
            "DELETE FROM \(table) WHERE rowid = (SELECT id FROM \(keyTable) WHERE key = ?)",
            "DELETE FROM \(keyTable) WHERE key = ?",
        ] {
            let statement = try PreparedStatement(sql, in: database)
            try statement.bind(key, at: 1)
            try statement.execute()
        }
    }
}

/// An entry of a full-text index that a search has found.
struct TextMatch {
    let key: String
    /// How well it fits (BM25): the less, the better.
    let rank: Double
    fileprivate let rowID: Int64

    /// The marks around what fits; no text of an index has these.
    static let start: Unicode.Scalar = "\u{1}"
    static let end: Unicode.Scalar = "\u{2}"
}

extension IndexTable.Entry {
    /// Walks the entries that match an expression of FTS5, the best first, until `body` returns false.
    func forEachMatch(
        _ expression: String,
        in database: Database,
        _ body: (TextMatch) throws -> Bool
    ) throws {
        let statement = try PreparedStatement(
            """
            SELECT key, rank, id FROM \(table) JOIN \(keyTable) ON id = \(table).rowid
            WHERE \(table) MATCH ? ORDER BY rank, key
            """,
            in: database
        )
        defer { statement.reset() }
        try statement.bind(expression, at: 1)
        while try statement.step() {
            let match = TextMatch(
                key: statement.text(0),
                rank: statement.double(1),
                rowID: statement.integer(2)
            )
            guard try body(match) else { return }
        }
    }

    /// A part of the texts with marks around what fits.
    func snippet(
        of match: TextMatch,
        _ expression: String,
        in database: Database
    ) throws -> String {
        let statement = try PreparedStatement(
            """
            SELECT snippet(\(table), -1, '\(TextMatch.start)', '\(TextMatch.end)', '…', 16)
            FROM \(table) WHERE \(table) MATCH ? AND rowid = ?
            """,
            in: database
        )
        defer { statement.reset() }
        try statement.bind(expression, at: 1)
        try statement.bind(match.rowID, at: 2)
        return try statement.step() ? statement.text(0) : ""
    }
}

extension Value {
    /// The texts of a value and within it, one on each line, without what marks matches in snippets.
    var indexedText: String {
        var text = texts
        text.unicodeScalars.removeAll { $0 == TextMatch.start || $0 == TextMatch.end }
        return text
    }

    /// The texts of a value and within it, one on each line.
    private var texts: String {
        switch self {
        case .string(let key): key.text
        case .list(let items): items.map(\.texts).filter { !$0.isEmpty }.joined(separator: "\n")
        case .map(let map): map.map(\.value.texts).filter { !$0.isEmpty }.joined(separator: "\n")
        default: ""
        }
    }
}
