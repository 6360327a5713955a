public import Observation

/// The object under a key, for a screen: it changes as the store does.
///
/// ```swift
/// let robbie = LiveObject("robbie", of: contacts, in: store)
/// Text(robbie.object?.name ?? "")
/// ```
///
/// It follows the store until it is freed: a read that fails is tried again after the next change.
@MainActor @Observable
public final class LiveObject<Object: Codable & Sendable> {
    private let live = LiveValue<Object?>()

    public init(_ key: some StoreKey, of collection: StoreCollection<Object>, in store: Store) {
        live.follow(store.values(of: key, in: collection), store.changes(of: key, in: collection))
    }

    /// The object; nil while there is none, or none has been read yet.
    public var object: Object? { live.value ?? nil }

    /// Whether the object has been read, and why not.
    public var phase: LivePhase { live.phase }
}
