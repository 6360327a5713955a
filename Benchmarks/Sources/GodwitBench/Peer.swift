import Foundation
import GRDB
import Godwit

/// An object of about 200 bytes as apps have them.
struct Message: Codable, Sendable, Equatable {
    var id: Int
    var author: String
    var text: String
    var isRead: Bool
    var score: Double
    var tags: [String]

    init(_ id: Int, size: Int = 200) {
        self.id = id
        author = "author-\(id % 97)"
        text = String(repeating: "\(id) ", count: max(1, (size - 90) / "\(id) ".count))
        isRead = id.isMultiple(of: 3)
        score = Double(id) / 7
        tags = ["a", "tag\(id % 10)"]
    }

    /// Keys in no order, as random ones would be.
    static func key(_ number: Int) -> String {
        String(UInt64(number) &* 0x9e37_79b9_7f4a_7c15 | 1 << 63, radix: 16)
    }
}

/// The same rows in the same table, through GRDB alone.
struct GRDBPeer {
    let pool: DatabasePool

    init(path: String) throws {
        pool = try DatabasePool(path: path)
        try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
        try pool.write { database in
            try database.execute(
                sql: """
                    CREATE TABLE godwit_object (collection TEXT NOT NULL, key TEXT NOT NULL,
                        value BLOB NOT NULL, metadata BLOB, version INTEGER NOT NULL,
                        commit_number INTEGER NOT NULL, seal BLOB NOT NULL,
                        PRIMARY KEY (collection, key)) STRICT, WITHOUT ROWID
                    """
            )
        }
    }

    static let upsert = """
        INSERT INTO godwit_object (collection, key, value, version, commit_number, seal)
        VALUES ('objects', ?, ?, 1, ?, ?) ON CONFLICT (collection, key) DO UPDATE
        SET value = excluded.value, commit_number = excluded.commit_number, seal = excluded.seal
        """

    private static let seal = Data(repeating: 7, count: 16)

    func write(_ key: String, _ value: Data, _ number: Int) async throws {
        try await pool.write { database in
            try Self.insert(key, value, number, in: database)
        }
    }

    static func insert(_ key: String, _ value: Data, _ number: Int, in database: Database) throws {
        try database.cachedStatement(sql: upsert).execute(arguments: [key, value, number, seal])
    }
}
