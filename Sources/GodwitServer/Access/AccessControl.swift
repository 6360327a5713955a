#if Server
internal import GRDB
public import GodwitReplication
public import GodwitStore

/// Which clients a server lets in.
///
/// ```swift
/// let store = try Store(.file("/var/lib/godwit/server.sqlite"))
/// let made = try await APIKeys(store).create("phone", rights: Rights([.create: [.all]]))
/// let options = SyncOptions(access: .keys)
/// try await SyncServer(store: store, host: "0.0.0.0", options: options).run()
/// ```
///
/// A request carries an API key or a token in its header `Authorization: Bearer …`. Without access control,
/// a server lets every client do everything, and listens on loopback alone.
public enum AccessControl: Hashable, Sendable {
    /// Every client; the server has to listen on loopback.
    case open
    /// Holders of an API key of the server's store: see ``APIKeys``.
    case keys
    /// Holders of a token that another service has signed.
    case tokens(TokenRules)
    /// Holders of either.
    case keysAndTokens(TokenRules)

    var acceptsKeys: Bool {
        switch self {
        case .open, .tokens: false
        case .keys, .keysAndTokens: true
        }
    }

    /// - Throws: ``AccessError/openBeyondLoopback(address:)``.
    package func check(listeningOn address: String) throws(AccessError) {
        guard self != .open || Loopback.contains(address) else {
            throw .openBeyondLoopback(address: address)
        }
    }

    var tokenRules: TokenRules? {
        switch self {
        case .open, .keys: nil
        case .tokens(let rules), .keysAndTokens(let rules): rules
        }
    }
}

extension AccessControl {
    /// The principals to whom the ids of a replica's clients belong, by a server's store, which may be in use.
    ///
    /// - Returns: Texts such as `key phone`; nothing where the server asks for no keys and no tokens.
    /// - Throws: `StoreError`.
    public static func principals(
        in replica: ReplicaName,
        _ store: Store
    ) async throws -> [ClientID: String] {
        try await store.read { try AccessClientTable.principals(in: replica, $0.connection) }
    }

    /// Takes the id of a client from the principal that has used it first: the next one that uses it has it.
    ///
    /// For a device that changes hands, or whose holder gets another kind of token.
    ///
    /// - Returns: Whether the id belonged to a principal.
    /// - Throws: `StoreError`.
    @discardableResult
    public static func release(
        _ client: ClientID,
        of replica: ReplicaName,
        in store: Store
    ) async throws -> Bool {
        try await store.write { transaction in
            let database = transaction.connection
            // A server without access control has made no table.
            guard try database.tableExists("godwit_access_client") else { return false }
            let isReleased = try AccessClientTable.remove(client, of: replica, in: database)
            if isReleased { transaction.touch() }
            return isReleased
        }
    }
}
#endif
