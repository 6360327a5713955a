#if Server
internal import Crypto
public import Foundation

/// A key that lets its holder in, without its secret.
public struct APIKey: Hashable, Sendable {
    /// What the key is listed and revoked by.
    public let id: String
    /// Whose key it is; keys of one name are one principal.
    public let name: String
    public let rights: Rights
    public let created: Date
    /// When the key has last let a client in, to a minute; nil for never.
    public let lastUsed: Date?
    /// From when on the key lets no client in; nil for never.
    public let expires: Date?

    func isExpired(at now: Date) -> Bool { expires.map { now >= $0 } ?? false }
}

/// The API keys of a store.
public struct APIKeyList: Hashable, Sendable {
    /// The keys, the oldest first.
    public internal(set) var keys: [APIKey] = []
    /// The ids of keys whose rows are damaged: they let no client in, and can be revoked.
    public internal(set) var damaged: [String] = []

    public var isEmpty: Bool { keys.isEmpty && damaged.isEmpty }
}

/// A key that was just made: the only moment in which its secret is known.
public struct NewAPIKey: Sendable {
    public let key: APIKey
    /// What a client sends as `Authorization: Bearer …`; the store has its hash alone.
    public let token: String
}

extension NewAPIKey: CustomStringConvertible, CustomReflectable {
    public var description: String { "the new key \(key.id)" }
    public var customMirror: Mirror { Mirror(self, children: ["key": key]) }
}

/// The text of an API key: `godwit_`, the id, and the secret.
struct APIKeyText {
    let id: String
    private let secret: [UInt8]

    static let prefix = "godwit_"
    private static let idSize = 8
    private static let secretSize = 32

    /// Draws a key from the system's secure random numbers.
    init() {
        var source = SystemRandomNumberGenerator()
        func bytes(_ count: Int) -> [UInt8] {
            (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &source) }
        }
        id = bytes(Self.idSize).map { String(format: "%02x", $0) }.joined()
        secret = bytes(Self.secretSize)
    }

    init?(_ text: String) {
        let parts = text.dropFirst(Self.prefix.count).split(separator: "_", maxSplits: 1)
        guard text.hasPrefix(Self.prefix), parts.count == 2, parts[0].utf8.count == 2 * Self.idSize,
            let secret = Base64URL.decoded(parts[1]), secret.count == Self.secretSize
        else { return nil }
        (id, self.secret) = (String(parts[0]), secret)
    }

    var text: String { "\(Self.prefix)\(id)_\(Base64URL.encoded(secret))" }

    /// What the store keeps of the secret, which has 256 random bits: it needs no slow hash.
    var hash: [UInt8] { Array(SHA256.hash(data: secret)) }

    /// Takes the same time wherever the first difference is.
    func matches(_ hash: [UInt8]) -> Bool {
        let own = self.hash
        guard own.count == hash.count else { return false }
        return zip(own, hash).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

extension Date {
    init(milliseconds: Int64) { self.init(timeIntervalSince1970: Double(milliseconds) / 1_000) }

    var milliseconds: Int64 { Int64((timeIntervalSince1970 * 1_000).rounded(.down)) }
}
#endif
