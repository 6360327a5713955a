public import GodwitTree

/// What happened to one object in a transaction: its old and its new value at hand.
public struct ObjectChange: Sendable {
    public enum Kind: Hashable, Sendable {
        case inserted, updated, removed
        /// Only the metadata is different.
        case describedAnew
        /// Nothing is different; the app asked that observers look again.
        case touched
    }

    public let key: ObjectKey
    let old: StoredObject?
    let new: StoredObject?
    let isTouched: Bool

    /// Whether a ``Retention`` has removed the object.
    public let isExpired: Bool

    /// The edits that made the new value from the old one, as `WriteTransaction.edit(_:in:_:)` has
    /// recorded them; nil if the transaction has also changed the object in another way.
    public let recordedDelta: Delta?

    /// The net effect; nil when the object is as it was before.
    public var kind: Kind? {
        switch (old, new) {
        case (nil, nil): nil
        case (nil, _?): .inserted
        case (_?, nil): .removed
        case (let old?, let new?):
            if old.bytes != new.bytes || old.version != new.version {
                .updated
            } else if old.metadata != new.metadata {
                .describedAnew
            } else if isTouched {
                .touched
            } else {
                nil
            }
        }
    }

    /// The value before the transaction; nil when there was none.
    public func oldValue() throws -> Value? { try old?.value(at: key) }

    /// The value after it; nil when the object was removed.
    public func newValue() throws -> Value? { try new?.value(at: key) }

    /// The change from the old value to the new one: the recorded edits, else the difference.
    ///
    /// - Returns: nil unless the object was there before and is there now.
    public func delta() throws -> Delta? {
        if let recordedDelta { return recordedDelta }
        guard let old = try oldValue(), let new = try newValue() else { return nil }
        return Delta.diff(old, new)
    }

    /// The canonical bytes of the value before the transaction, and after it.
    package var bytes: (old: [UInt8]?, new: [UInt8]?) { (old?.bytes, new?.bytes) }

    /// The versions of the types that wrote the value before the transaction, and after it.
    package var versions: (old: Int?, new: Int?) { (old?.version, new?.version) }

    /// The object before the transaction, in the app's type.
    public func old<Object>(in collection: StoreCollection<Object>) throws -> Object? {
        try old?.object(at: key, in: collection)
    }

    /// The object after it, in the app's type.
    public func new<Object>(in collection: StoreCollection<Object>) throws -> Object? {
        try new?.object(at: key, in: collection)
    }
}
