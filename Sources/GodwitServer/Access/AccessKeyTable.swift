#if Server
internal import GRDB
internal import GodwitStore
internal import GodwitTree

/// The rows of API keys; times are in milliseconds since 1970.
enum AccessKeyTable {
    /// A key, and the hash of its secret.
    struct Row {
        let key: APIKey
        let hash: [UInt8]
    }

    static func insert(_ row: Row, in database: Database) throws {
        let statement = try PreparedStatement(
            """
            INSERT INTO godwit_access_key (id, name, hash, rights, created, used, expires)
            VALUES (?, ?, ?, ?, ?, NULL, ?)
            """,
            in: database
        )
        try statement.bind(row.key.id, at: 1)
        try statement.bind(row.key.name, at: 2)
        try statement.bind(row.hash, at: 3)
        try statement.bind(row.key.rights.value.jsonText(), at: 4)
        try statement.bind(row.key.created.milliseconds, at: 5)
        if let expires = row.key.expires {
            try statement.bind(expires.milliseconds, at: 6)
        } else {
            try statement.bind(nil as [UInt8]?, at: 6)
        }
        try statement.execute()
    }

    static func row(_ id: String, in database: Database) throws -> Row? {
        let statement = try PreparedStatement(
            """
            SELECT id, name, hash, rights, created, used, expires FROM godwit_access_key
            WHERE id = ?
            """,
            in: database
        )
        defer { statement.reset() }
        try statement.bind(id, at: 1)
        return try statement.step() ? try statement.row() : nil
    }

    /// All keys, the oldest first; a damaged row hides no other one.
    static func all(in database: Database) throws -> APIKeyList {
        let statement = try PreparedStatement(
            """
            SELECT id, name, hash, rights, created, used, expires FROM godwit_access_key
            ORDER BY created, id
            """,
            in: database
        )
        defer { statement.reset() }
        var list = APIKeyList()
        while try statement.step() {
            do {
                list.keys.append(try statement.row().key)
            } catch AccessError.damagedKey(let id) {
                list.damaged.append(id)
            }
        }
        return list
    }

    /// - Returns: Whether there was such a key.
    static func remove(_ id: String, in database: Database) throws -> Bool {
        let statement = try PreparedStatement(
            "DELETE FROM godwit_access_key WHERE id = ?",
            in: database
        )
        try statement.bind(id, at: 1)
        try statement.execute()
        return statement.changedRowCount > 0
    }

    static func noteUse(of id: String, at time: Int64, in database: Database) throws {
        let statement = try PreparedStatement(
            "UPDATE godwit_access_key SET used = ? WHERE id = ?",
            in: database
        )
        try statement.bind(time, at: 1)
        try statement.bind(id, at: 2)
        try statement.execute()
    }
}

extension PreparedStatement {
    /// - Throws: ``AccessError/damagedKey(_:)``.
    fileprivate func row() throws -> AccessKeyTable.Row {
        let id = text(0)
        guard let value = try? Value(json: text(3)), let rights = try? Rights(value) else {
            throw AccessError.damagedKey(id)
        }
        let key = APIKey(
            id: id,
            name: text(1),
            rights: rights,
            created: .init(milliseconds: integer(4)),
            lastUsed: isNull(5) ? nil : .init(milliseconds: integer(5)),
            expires: isNull(6) ? nil : .init(milliseconds: integer(6))
        )
        return AccessKeyTable.Row(key: key, hash: Array(blob(2)))
    }
}
#endif
