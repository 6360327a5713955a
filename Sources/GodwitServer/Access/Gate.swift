#if Server
internal import Foundation
internal import GodwitReplication
internal import GodwitStore
internal import GodwitTree
internal import HTTPTypes
internal import Logging

/// Finds the principal of a request, and decides which messages of a client it may send.
struct Gate: Sendable {
    private let storage: any AccessStorage
    private let control: AccessControl
    private let keys: APIKeys?
    private let tokenKeys: (any TokenKeySource)?
    private let clientMax: Int

    /// - Parameter clientMax: How many ids of clients one principal may have in a replica.
    /// - Throws: ``AccessError/unusableKeySet(path:reason:)``, ``StoreError``.
    init(
        _ storage: any AccessStorage,
        _ control: AccessControl,
        clientMax: Int = .max,
        logger: Logger
    ) async throws {
        (self.storage, self.control, self.clientMax) = (storage, control, clientMax)
        if control != .open { try storage.prepare() }
        keys = control.acceptsKeys ? try APIKeys(storage) : nil
        tokenKeys = try await control.tokenRules?.source(clock: storage.clock, logger: logger)
        if control == .open, try await !storage.keys().isEmpty {
            logger.warning("the store has API keys, and every client is let in: see --keys")
        }
    }

    var isOpen: Bool { control == .open }

    /// The principal that makes the request.
    ///
    /// The gate looks the key or token up again each time, so that one that was revoked lets no request in.
    ///
    /// - Throws: ``AccessRefusal``, ``StoreError``.
    func principal(_ headers: HTTPFields) async throws -> Principal {
        guard control != .open else { return .everyone }
        let token = try BearerToken(headers)
        if token.text.hasPrefix(APIKeyText.prefix) {
            guard let keys else {
                throw AccessRefusal.invalid("keys are not asked for: see --keys")
            }
            return try await keys.principal(token)
        }
        guard let rules = control.tokenRules, let tokenKeys else {
            throw AccessRefusal.invalid("it is no key, and tokens are not asked for: see --jwks")
        }
        let signed = try SignedToken(token.text)
        let claims = try await tokenKeys.keys(for: signed.keyID).claims(of: signed)
        return try rules.principal(claims, at: storage.clock.now().timeIntervalSince1970)
    }

    /// The principals to whom the ids of a replica's clients belong; none on a server without access control.
    func principals(in name: ReplicaName) async throws -> [ClientID: String] {
        isOpen ? [:] : try await storage.principals(in: name)
    }

    /// What a message may do to a replica.
    ///
    /// The id of a client belongs to the principal that uses it first.
    ///
    /// - Parameter requireReplica: Called before an id is bound, to throw where there is no such replica.
    /// - Throws: ``AccessRefusal/foreignClient(_:)``, ``AccessRefusal/tooManyClients(_:)``,
    ///   ``StoreError``, and what `requireReplica` throws.
    func admit(
        _ scope: MessageScope,
        of principal: Principal,
        to name: ReplicaName,
        requireReplica: () async throws -> Void = {}
    ) async throws -> ReplicaRight {
        let right: ReplicaRight = principal.rights.allows(.write, name) ? .write : .read
        guard control != .open else { return right }
        // By bytes: two texts that are one for Swift may be two principals.
        let identity = Key("\(principal.identity)")
        let clients = [scope.client, scope.former ?? scope.client]
        let owners = try await storage.principals(of: clients, in: name)
        for (client, owner) in zip(clients, owners) where (owner ?? identity) != identity {
            throw AccessRefusal.foreignClient(client)
        }
        // A message that is refused binds nothing.
        if owners[0] == nil, right == .write || !scope.carriesChanges {
            try await requireReplica()
            // Requests at the same moment may each add one beyond the limit.
            guard try await storage.clientCount(of: name, for: identity) < clientMax else {
                throw AccessRefusal.tooManyClients(name)
            }
            try await storage.bind(scope.client, of: name, to: identity)
        }
        return right
    }
}
#endif
