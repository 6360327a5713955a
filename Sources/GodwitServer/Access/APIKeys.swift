#if Server
internal import Foundation
internal import GRDB
public import GodwitStore

/// The API keys of a server's store: makes, lists and revokes them.
///
/// ```swift
/// let keys = try APIKeys(store)
/// let made = try await keys.create("phone", rights: Rights([.write: [try ReplicaPattern("acme.*")]]))
/// print(made.token)                      // shown once: the store has its hash
/// try await keys.revoke(made.key.id)     // takes effect on the next request
/// ```
///
/// Other processes may do the same beside a server if all of them open the store with
/// `StoreOptions.Processes.several`: each request looks the key up.
public struct APIKeys: Sendable {
    private let store: Store

    /// How often the use of a key is noted at most, in seconds.
    private static let useInterval = 60.0
    private static let lifetimeMax = Duration.seconds(100 * 366 * 24 * 3_600)

    /// - Throws: `StoreError`.
    public init(_ store: Store) throws {
        try store.prepare(AccessSchema.schema)
        self.store = store
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
        try await store.write { transaction in
            try AccessKeyTable.insert(row, in: transaction.connection)
            transaction.touch()
        }
        return NewAPIKey(key: key, token: text.text)
    }

    /// The keys of a store, the oldest first, also of one that is open for reading alone.
    public static func all(in store: Store) async throws -> APIKeyList {
        try await store.read { transaction in
            let database = transaction.connection
            // A server without access control has made no table.
            guard try database.tableExists("godwit_access_key") else {
                return APIKeyList()
            }
            return try AccessKeyTable.all(in: database)
        }
    }

    /// Takes a key away: it lets no request in any more, and ends open streams of events within 30 seconds.
    ///
    /// - Throws: ``AccessError/unknownKey(_:)``.
    public func revoke(_ id: String) async throws {
        try await store.write { transaction in
            guard try AccessKeyTable.remove(id, in: transaction.connection) else {
                throw AccessError.unknownKey(id)
            }
            transaction.touch()
        }
    }

    private var now: Date { store.options.clock.now() }
}

extension APIKeys {
    /// Whom a token lets in.
    ///
    /// - Throws: ``AccessRefusal``, `StoreError`.
    func principal(_ token: BearerToken) async throws -> Principal {
        guard let text = APIKeyText(token.text) else { throw AccessRefusal.invalid("it is no key") }
        let row = try await store.read { try AccessKeyTable.row(text.id, in: $0.connection) }
        guard let row else { throw AccessRefusal.invalid("there is no key \(text.id)") }
        guard text.matches(row.hash) else {
            throw AccessRefusal.invalid("the secret of the key \(text.id) is wrong")
        }
        guard !row.key.isExpired(at: now) else {
            throw AccessRefusal.expired("the key \(text.id) has expired")
        }
        noteUse(of: row.key)
        return Principal(identity: .key(name: row.key.name), rights: row.key.rights)
    }

    /// Nothing depends on the note: no request waits for it, or fails with it.
    private func noteUse(of key: APIKey) {
        let now = now
        if let last = key.lastUsed, abs(now.timeIntervalSince(last)) < Self.useInterval { return }
        _ = try? store.writeLater(durability: .relaxed) { transaction in
            try AccessKeyTable.noteUse(of: key.id, at: now.milliseconds, in: transaction.connection)
            transaction.touch()
        }
    }
}
#endif
