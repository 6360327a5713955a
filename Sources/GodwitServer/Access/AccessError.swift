#if Server
public import Foundation

/// Why access control cannot be set up, or a key cannot be made.
///
/// What a request is refused with is an answer of the server, and no error of its caller's.
public enum AccessError: Error, Hashable, Sendable {
    /// A server that lets every client in may listen on loopback alone: give it ``AccessControl/keys`` or
    /// ``AccessControl/tokens(_:)``.
    case openBeyondLoopback(address: String)
    /// It is neither the name of a replica nor the beginning of one with `*` behind it.
    case invalidPattern(String)
    /// Rights are a map of permissions to lists of patterns.
    case invalidRights(reason: String)
    /// A key's name has 1 to 128 characters, and no control character, nor one of the direction of text.
    case invalidName(String)
    /// A key lives for a second at least, and for 100 years at most.
    case invalidLifetime
    /// There is no key of this id.
    case unknownKey(String)
    /// The keys of tokens cannot be read from their file or address, or none of them can be used.
    case unusableKeySet(path: String, reason: String)
    /// The file of a certificate, or of its private key, cannot be used.
    case unusableCertificate(path: String, reason: String)
    /// It is not where a web page can be from: a scheme and a host, such as `https://app.example.com`.
    case invalidOrigin(String)
    /// A key does not sign tokens.
    case unusableSigningKey(reason: String)
    /// A text is no token that could be looked at.
    case unreadableToken(reason: String)
    /// A row of a key is not as it was written.
    case damagedKey(String)
}

extension AccessError: CustomStringConvertible, LocalizedError {
    public var description: String {
        switch self {
        case .openBeyondLoopback(let address):
            """
            without access control the server listens on loopback alone, not on \(address): make a key \
            with `godwit key new` and start it with --keys, or give it --jwks and --issuer
            """
        case .invalidPattern(let text):
            """
            "\(text)" is no pattern: the name of a replica, or the beginning of one with * behind it
            """
        case .invalidRights(let reason): "the rights cannot be read: \(reason)"
        case .invalidName:
            """
            the name of a key has 1 to 128 characters, none of them a control character or one that \
            turns the direction of text
            """
        case .invalidLifetime: "a key lives for a second at least, and for 100 years at most"
        case .unknownKey(let id): "there is no key \(id): see `godwit key ls`"
        case .unusableKeySet(let path, let reason): "the key set \(path) cannot be used: \(reason)"
        case .unusableCertificate(let path, let reason):
            "the certificate or key \(path) cannot be used: \(reason)"
        case .invalidOrigin(let text):
            """
            "\(text)" is no origin of web pages: a scheme and a host without a path, such as \
            https://app.example.com
            """
        case .unusableSigningKey(let reason): "the key cannot sign tokens: \(reason)"
        case .unreadableToken(let reason): "that is no token: \(reason)"
        case .damagedKey(let id): "the row of the key \(id) is damaged: revoke it"
        }
    }

    /// The description, which is in English.
    public var errorDescription: String? { description }
}
#endif
