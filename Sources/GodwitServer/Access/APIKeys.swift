#if Server
internal import Foundation
public import GodwitStore

/// The API keys of a server's store: makes, lists and revokes them.
///
/// ```swift
/// let keys = try APIKeys(store)
/// let made = try await keys.create("phone", rights: Rights([.write: ["acme.*"]]))
/// print(made.token)                      // shown once: the store has its hash
/// try await keys.revoke(made.key.id)     // takes effect on the next request
/// ```
///
/// Other processes may do the same beside a server if all of them open the store with
/// `StoreOptions.Processes.several`: each request looks the key up.
public struct APIKeys: Sendable {
    private let storage: any AccessStorage

    /// How often the use of a key is noted at most, in seconds.
    private static let useInterval = 60.0
    private static let lifetimeMax = Duration.seconds(100 * 366 * 24 * 3_600)

    /// - Throws: `StoreError`.
    public init(_ store: Store) throws {
        try self.init(StoreAccess(store: store))
    }

    init(_ storage: any AccessStorage) throws {
        try storage.prepare()
        self.storage = storage
    }

    /// Makes a key; when it is returned, it is durable.
    ///
    /// - Parameters:
    ///   - name: What the key is called in lists; keys of one name are one principal.
    ///   - rights: What its holder may do.
    ///   - lifetime: For how long it lets its holder in; nil until it is revoked.
    /// - Throws: ``AccessError/invalidName(_:)``, ``AccessError/invalidLifetime``,
    ///   ``AccessError/invalidRights(reason:)``, `StoreError`.
    public func create(
        _ name: String,
        rights: Rights,
        lifetime: Duration? = nil
    ) async throws -> NewAPIKey {
        // A list of keys must show each name as it is.
        let isPlain = name.unicodeScalars.allSatisfy { scalar in
            scalar.properties.generalCategory != .control && !scalar.properties.isBidiControl
        }
        guard isPlain, (1...128).contains(name.count), !name.contains(where: \.isNewline) else {
            throw AccessError.invalidName(name)
        }
        guard lifetime.map({ .seconds(1) <= $0 && $0 <= Self.lifetimeMax }) ?? true else {
            throw AccessError.invalidLifetime
        }
        // What could not be read again is not written.
        _ = try Rights(rights.value)
        let (text, now) = (APIKeyText(), now)
        let key = APIKey(
            id: text.id,
            name: name,
            rights: rights,
            created: now,
            lastUsed: nil,
            expires: lifetime.map { now + TimeInterval($0.components.seconds) }
        )
        let row = AccessKeyTable.Row(key: key, hash: text.hash)
        try await storage.insert(row)
        return NewAPIKey(key: key, token: text.text)
    }

    /// The keys of a store, the oldest first, also of one that is open for reading alone.
    public static func all(in store: Store) async throws -> APIKeyList {
        try await StoreAccess(store: store).keys()
    }

    /// The keys, the oldest first.
    public func all() async throws -> APIKeyList { try await storage.keys() }

    /// Takes a key away: it lets no request in any more, and ends open streams of events within 30 seconds.
    ///
    /// - Throws: ``AccessError/unknownKey(_:)``.
    public func revoke(_ id: String) async throws {
        guard try await storage.remove(id) else { throw AccessError.unknownKey(id) }
    }

    private var now: Date { storage.clock.now() }
}

extension APIKeys {
    /// Whom a token lets in.
    ///
    /// - Throws: ``AccessRefusal``, `StoreError`.
    func principal(_ token: BearerToken) async throws -> Principal {
        guard let text = APIKeyText(token.text) else { throw AccessRefusal.invalid("it is no key") }
        guard let row = try await storage.row(text.id) else {
            throw AccessRefusal.invalid("there is no key \(text.id)")
        }
        guard text.matches(row.hash) else {
            throw AccessRefusal.invalid("the secret of the key \(text.id) is wrong")
        }
        guard !row.key.isExpired(at: now) else {
            throw AccessRefusal.expired("the key \(text.id) has expired")
        }
        await noteUse(of: row.key)
        return Principal(identity: .key(name: row.key.name), rights: row.key.rights)
    }

    private func noteUse(of key: APIKey) async {
        let now = now
        if let last = key.lastUsed, abs(now.timeIntervalSince(last)) < Self.useInterval { return }
        await storage.noteUse(of: key.id, at: now.milliseconds)
    }
}
#endif
