#if Server && PostgreSQL
internal import Foundation
internal import GodwitPostgreSQL
internal import GodwitReplication
internal import GodwitStore
internal import GodwitTree

/// The keys in the database of a server's replicas, for all nodes; the migrations make the tables.
struct PostgreSQLAccess: AccessStorage {
    let database: PostgreSQLDatabase

    var clock: StoreClock { database.options.clock }

    func prepare() {}

    func insert(_ row: AccessKeyTable.Row) async throws {
        try await database.write { session in
            // It may be the second attempt after a commit that lost its connection.
            _ = try session.query(
                """
                INSERT INTO godwit_access_key (id, name, hash, rights, created, expires)
                VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (id) DO NOTHING
                """,
                [
                    .text(row.key.id), .text(row.key.name), .bytes(row.hash),
                    .text(row.key.rights.value.jsonText()), .integer(row.key.created.milliseconds),
                    .integer(row.key.expires?.milliseconds),
                ]
            )
        }
    }

    private static let columns = "id, name, hash, rights, created, used, expires"

    func keys() async throws -> APIKeyList {
        try await database.read { session in
            let rows = try session.query(
                "SELECT \(Self.columns) FROM godwit_access_key ORDER BY created, id"
            )
            var list = APIKeyList()
            for row in 0..<rows.count {
                do {
                    list.keys.append(try rows.key(row).key)
                } catch AccessError.damagedKey(let id) {
                    list.damaged.append(id)
                }
            }
            return list
        }
    }

    func remove(_ id: String) async throws -> Bool {
        try await database.write { session in
            try session.query("DELETE FROM godwit_access_key WHERE id = $1", [.text(id)])
                .changedCount > 0
        }
    }

    func row(_ id: String) async throws -> AccessKeyTable.Row? {
        try await database.read { session in
            let rows = try session.query(
                "SELECT \(Self.columns) FROM godwit_access_key WHERE id = $1",
                [.text(id)]
            )
            return rows.count > 0 ? try rows.key(0) : nil
        }
    }

    func noteUse(of id: String, at time: Int64) async {
        try? await database.write { session in
            _ = try session.query(
                "UPDATE godwit_access_key SET used = $2 WHERE id = $1",
                [.text(id), .integer(time)]
            )
        }
    }

    func principals(of clients: [ClientID], in name: ReplicaName) async throws -> [Key?] {
        try await database.read { session in
            try clients.map { try Self.principal(of: $0, in: name, session) }
        }
    }

    func principals(in name: ReplicaName) async throws -> [ClientID: String] {
        try await database.read { session in
            let rows = try session.query(
                "SELECT client, principal FROM godwit_access_client WHERE line = $1",
                [LineNumber(name).parameter]
            )
            var principals: [ClientID: String] = [:]
            for row in 0..<rows.count {
                guard let identifier = Identifier(bytes: rows.bytes(row, 0)) else { continue }
                principals[ClientID(identifier)] = rows.text(row, 1)
            }
            return principals
        }
    }

    func clientCount(of name: ReplicaName, for identity: Key) async throws -> Int {
        try await database.read { session in
            let rows = try session.query(
                """
                SELECT COUNT(*) FROM godwit_access_client WHERE line = $1 AND principal = $2
                """,
                [LineNumber(name).parameter, .bytes(Array(identity.text.utf8))]
            )
            return Int(try rows.integer(0, 0))
        }
    }

    func bind(_ client: ClientID, of name: ReplicaName, to identity: Key) async throws {
        try await database.write { session in
            _ = try session.query(
                """
                INSERT INTO godwit_access_client (line, client, principal) VALUES ($1, $2, $3)
                ON CONFLICT (line, client) DO NOTHING
                """,
                [
                    LineNumber(name).parameter, .bytes(client.identifier.bytes),
                    .bytes(Array(identity.text.utf8)),
                ]
            )
            // Another request may have been faster.
            guard try Self.principal(of: client, in: name, session) == identity else {
                throw AccessRefusal.foreignClient(client)
            }
        }
    }

    private static func principal(
        of client: ClientID,
        in name: ReplicaName,
        _ session: PostgreSQLSession
    ) throws -> Key? {
        let rows = try session.query(
            "SELECT principal FROM godwit_access_client WHERE line = $1 AND client = $2",
            [LineNumber(name).parameter, .bytes(client.identifier.bytes)]
        )
        return rows.count > 0 ? Key(rows.text(0, 0)) : nil
    }
}

extension PostgreSQLRows {
    /// - Throws: ``AccessError/damagedKey(_:)``.
    fileprivate func key(_ row: Int) throws -> AccessKeyTable.Row {
        let id = text(row, 0)
        guard let value = try? Value(json: text(row, 3)), let rights = try? Rights(value) else {
            throw AccessError.damagedKey(id)
        }
        let key = APIKey(
            id: id,
            name: text(row, 1),
            rights: rights,
            created: .init(milliseconds: try integer(row, 4)),
            lastUsed: try optionalInteger(row, 5).map { .init(milliseconds: $0) },
            expires: try optionalInteger(row, 6).map { .init(milliseconds: $0) }
        )
        return AccessKeyTable.Row(key: key, hash: bytes(row, 2))
    }
}
#endif
