#if Server
internal import GodwitReplication

/// On whose behalf a request is made, and what that allows.
public struct Principal: Hashable, Sendable {
    /// Who the principal is; the ids of clients are bound to it.
    public enum Identity: Hashable, Sendable {
        /// Any client of a server without access control.
        case everyone
        /// The holder of an API key; keys of one name are one identity, so that a key can be replaced.
        case key(name: String)
        /// The subject of a token.
        case subject(String, issuer: String)
    }

    public let identity: Identity
    public let rights: Rights

    static let everyone = Principal(identity: .everyone, rights: .all)
}

extension Principal.Identity: CustomStringConvertible {
    public var description: String {
        switch self {
        case .everyone: "everyone"
        case .key(let name): "key \(name)"
        // Neither part has a line break.
        case .subject(let subject, let issuer): "subject \(subject)\nof \(issuer)"
        }
    }
}

extension Principal {
    /// Refuses what the principal may not do, as if a replica that it may not read were not there.
    func require(_ permission: Permission, _ name: ReplicaName) throws(AccessRefusal) {
        guard rights.allows(.read, name) else { throw .hidden(name) }
        guard rights.allows(permission, name) else { throw .notPermitted(permission, name) }
    }
}
#endif
