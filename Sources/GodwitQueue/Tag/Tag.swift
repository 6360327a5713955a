internal import GRDB
public import GodwitStore
public import GodwitTree

/// The revision that a cloud gave: an ETag, a rev, a generation.
///
/// It is kept under the name of what it is about, a path for instance; the identifier tells
/// several revisions of one thing apart.
public struct Tag: Hashable, Sendable {
    public let key: String
    public let identifier: String
    /// A string, an integer, a double or bytes; nil for none.
    public let value: Value?

    public init(_ value: Value?, for key: String, identifier: String = "") {
        self.key = key
        self.identifier = identifier
        self.value = value
    }
}

extension Tag {
    var encoded: Value {
        .list([.string(Key(key)), .string(Key(identifier)), value ?? .null])
    }

    init(encoded: Value) throws {
        guard let parts = encoded.list, parts.count == 3, let key = parts[0].text,
            let identifier = parts[1].text
        else { throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "not a tag") }
        self.init(parts[2] == .null ? nil : parts[2], for: key, identifier: identifier)
    }
}

extension Transaction where Self: ~Copyable {
    /// The last known revision of something; nil when none was recorded.
    public borrowing func tag(for key: String, identifier: String = "") throws -> Value? {
        guard try hasQueue() else { return nil }
        return try TagTable.value(of: key, identifier, in: database)
    }

    /// All revisions that are recorded under a key, by identifier.
    public borrowing func tags(for key: String) throws -> [String: Value] {
        guard try hasQueue() else { return [:] }
        return try TagTable.values(of: key, in: database)
    }
}

extension WriteTransaction {
    /// Records a revision; nil removes it.
    ///
    /// - Throws: ``QueueError/unsuitableTag(_:)`` unless it is a string, a number or bytes.
    public borrowing func setTag(
        _ value: Value?,
        for key: String,
        identifier: String = ""
    ) throws {
        try journal().update(in: self) { _ in }
        try TagTable.set(value, of: key, identifier, in: database)
    }

    /// Removes all revisions that are recorded under a key.
    public borrowing func removeTags(for key: String) throws {
        try journal().update(in: self) { _ in }
        try TagTable.remove(key, in: database)
    }
}

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
