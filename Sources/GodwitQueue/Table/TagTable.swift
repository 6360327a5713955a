internal import GRDB
internal import GodwitStore
internal import GodwitTree

/// The rows of the tags; each in SQLite's own type, to be read by hand.
enum TagTable {
    static let schema = """
        CREATE TABLE godwit_tag (
            key TEXT NOT NULL,
            identifier TEXT NOT NULL,
            tag ANY NOT NULL,
            PRIMARY KEY (key, identifier)
        ) STRICT, WITHOUT ROWID;
        """

    static func set(
        _ value: Value?,
        of key: String,
        _ identifier: String,
        in database: Database
    ) throws {
        guard let value else {
            return try database.execute(
                sql: "DELETE FROM godwit_tag WHERE key = ? AND identifier = ?",
                arguments: [key, identifier]
            )
        }
        let statement = try PreparedStatement(
            "INSERT OR REPLACE INTO godwit_tag (key, identifier, tag) VALUES (?1, ?2, ?3)",
            in: database
        )
        try statement.bind(key, at: 1)
        try statement.bind(identifier, at: 2)
        switch value {
        case .string(let text): try statement.bind(text, at: 3)
        case .int(let number): try statement.bind(number, at: 3)
        case .double(let number): try statement.bind(number.double, at: 3)
        case .bytes(let bytes): try statement.bind(bytes, at: 3)
        case .null, .bool, .list, .map: throw QueueError.unsuitableTag(value)
        }
        try statement.execute()
    }

    static func value(
        of key: String,
        _ identifier: String,
        in database: Database
    ) throws -> Value? {
        let statement = try PreparedStatement(
            "SELECT tag FROM godwit_tag WHERE key = ?1 AND identifier = ?2",
            in: database
        )
        defer { statement.reset() }
        try statement.bind(key, at: 1)
        try statement.bind(identifier, at: 2)
        return try statement.step() ? statement.value(0) : nil
    }

    static func values(of key: String, in database: Database) throws -> [String: Value] {
        let statement = try PreparedStatement(
            "SELECT identifier, tag FROM godwit_tag WHERE key = ?1",
            in: database
        )
        defer { statement.reset() }
        try statement.bind(key, at: 1)
        var values: [String: Value] = [:]
        while try statement.step() { values[statement.text(0)] = statement.value(1) }
        return values
    }

    static func remove(_ key: String, in database: Database) throws {
        try database.execute(sql: "DELETE FROM godwit_tag WHERE key = ?", arguments: [key])
    }
}
