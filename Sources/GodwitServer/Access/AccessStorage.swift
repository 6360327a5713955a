#if Server
internal import Foundation
internal import GRDB
internal import GodwitReplication
internal import GodwitStore
internal import GodwitTree

/// Where a server keeps its API keys, and whose the ids of clients are.
protocol AccessStorage: Sendable {
    var clock: StoreClock { get }

    /// Makes the tables, if there are none.
    func prepare() throws

    func insert(_ row: AccessKeyTable.Row) async throws

    /// All keys, the oldest first.
    func keys() async throws -> APIKeyList

    /// - Returns: Whether there was such a key.
    func remove(_ id: String) async throws -> Bool

    func row(_ id: String) async throws -> AccessKeyTable.Row?

    /// Notes that a key was used. Nothing depends on it: it does not fail.
    func noteUse(of id: String, at time: Int64) async

    /// The principals to whom some ids belong; nil for one that no principal has used.
    func principals(of clients: [ClientID], in name: ReplicaName) async throws -> [Key?]

    /// The principals to whom the ids of a replica belong.
    func principals(in name: ReplicaName) async throws -> [ClientID: String]

    /// How many ids of a replica belong to one principal.
    func clientCount(of name: ReplicaName, for identity: Key) async throws -> Int

    /// Gives an id to a principal.
    ///
    /// - Throws: ``AccessRefusal/foreignClient(_:)`` when another one was faster.
    func bind(_ client: ClientID, of name: ReplicaName, to identity: Key) async throws
}

/// The keys in a server's store.
struct StoreAccess: AccessStorage {
    let store: Store

    var clock: StoreClock { store.options.clock }

    func prepare() throws { try store.prepare(AccessSchema.schema) }

    func insert(_ row: AccessKeyTable.Row) async throws {
        try await store.write { transaction in
            try AccessKeyTable.insert(row, in: transaction.connection)
            transaction.touch()
        }
    }

    func keys() async throws -> APIKeyList {
        try await store.read { transaction in
            let database = transaction.connection
            // A server without access control has made no table.
            guard try database.tableExists("godwit_access_key") else { return APIKeyList() }
            return try AccessKeyTable.all(in: database)
        }
    }

    func remove(_ id: String) async throws -> Bool {
        try await store.write { transaction in
            guard try AccessKeyTable.remove(id, in: transaction.connection) else { return false }
            transaction.touch()
            return true
        }
    }

    func row(_ id: String) async throws -> AccessKeyTable.Row? {
        try await store.read { try AccessKeyTable.row(id, in: $0.connection) }
    }

    func noteUse(of id: String, at time: Int64) async {
        // No request waits for it.
        _ = try? store.writeLater(durability: .relaxed) { transaction in
            try AccessKeyTable.noteUse(of: id, at: time, in: transaction.connection)
            transaction.touch()
        }
    }

    func principals(of clients: [ClientID], in name: ReplicaName) async throws -> [Key?] {
        try await store.read { transaction in
            let database = transaction.connection
            return try clients.map {
                try AccessClientTable.principal(of: $0, in: name, database).map { Key($0) }
            }
        }
    }

    func principals(in name: ReplicaName) async throws -> [ClientID: String] {
        try await store.read { try AccessClientTable.principals(in: name, $0.connection) }
    }

    func clientCount(of name: ReplicaName, for identity: Key) async throws -> Int {
        try await store.read {
            try AccessClientTable.count(of: name, for: identity.text, in: $0.connection)
        }
    }

    func bind(_ client: ClientID, of name: ReplicaName, to identity: Key) async throws {
        try await store.write { transaction in
            let database = transaction.connection
            // Another request may have been faster.
            let owner = try AccessClientTable.principal(of: client, in: name, database).map {
                Key($0)
            }
            guard (owner ?? identity) == identity else {
                throw AccessRefusal.foreignClient(client)
            }
            guard owner == nil else { return }
            try AccessClientTable.bind(client, in: name, to: identity.text, database)
            transaction.touch()
        }
    }
}
#endif
