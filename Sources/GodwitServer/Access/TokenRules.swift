#if Server
internal import GodwitTree

/// Which tokens a server takes: who signs them, and for whom.
///
/// ```swift
/// var rules = TokenRules(keySet: "/etc/godwit/jwks.json", issuer: "https://id.example.com")
/// rules.audience = "godwit"
/// ```
///
/// Tokens are JSON Web Tokens (RFC 7519) with RS256, ES256, EdDSA or HS256. Each key of the set has one
/// algorithm, and a token names its key by `kid`. A token has to have `iss`, `sub` and `exp`; the claim
/// `godwit` has its rights: `{"read": ["acme.*"], "write": ["acme.orders"]}`. The server reads a file
/// again when it changes, and fetches the set of an address when it is ten minutes old, and when a token names
/// a key that the set does not have.
public struct TokenRules: Hashable, Sendable {
    /// The path of a JSON Web Key Set (RFC 7517), or its address, such as
    /// `https://id.example.com/.well-known/jwks.json`.
    public var keySet: String
    /// What the claim `iss` has to be.
    public var issuer: String
    /// What the claim `aud` has to be, or to have among others; nil for tokens without that claim: one that
    /// names an audience is for another server then.
    public var audience: String?

    /// By how much the clocks of issuer and server may differ, in seconds.
    public static let leewayInSeconds = 30.0

    public init(keySet: String, issuer: String, audience: String? = nil) {
        (self.keySet, self.issuer, self.audience) = (keySet, issuer, audience)
    }
}

extension TokenRules {
    /// Decides about claims that are genuine.
    ///
    /// - Parameter now: The calendar's time, in seconds since 1970.
    func principal(_ claims: Value, at now: Double) throws(AccessRefusal) -> Principal {
        guard claims["iss"] == .string(Key(issuer)) else {
            throw .invalid("it is of another issuer")
        }
        guard takes(audience: claims["aud"]) else { throw .invalid("it is for another audience") }
        guard let subject = claims["sub"]?.text, (1...256).contains(subject.utf8.count),
            !subject.contains(where: \.isNewline)
        else { throw .invalid("it has no subject of 1 to 256 bytes") }
        guard let end = claims["exp"]?.seconds else { throw .invalid("it has no end") }
        guard now < end + Self.leewayInSeconds else { throw .expired("it has expired") }
        if let start = claims["nbf"] {
            guard let start = start.seconds else { throw .invalid("its start is no time") }
            guard start <= now + Self.leewayInSeconds else { throw .invalid("it is not valid yet") }
        }
        do throws(AccessError) {
            let rights = try claims["godwit"].map { claim throws(AccessError) in try Rights(claim) }
            let identity = Principal.Identity.subject(subject, issuer: issuer)
            return Principal(identity: identity, rights: rights ?? .none)
        } catch {
            throw .invalid("\(error)")
        }
    }

    /// RFC 7519, section 4.1.3: a text, or a list of them.
    private func takes(audience claim: Value?) -> Bool {
        guard let audience else { return claim == nil }
        return claim == .string(Key(audience))
            || claim?.list?.contains(.string(Key(audience))) ?? false
    }
}

extension Value {
    /// A time since 1970, as RFC 7519 has it: a number that may have a fraction.
    fileprivate var seconds: Double? {
        switch self {
        case .int(let int): Double(int)
        case .double(let double): double.double.isFinite ? double.double : nil
        default: nil
        }
    }
}
#endif
