public import GodwitTree

/// Where an object is: its collection, and its key in there.
public struct ObjectKey: Hashable, Sendable {
    public let collection: Key
    public let key: Key
    /// Computed once: a write looks its key up in half a dozen tables, and most of the keys it
    /// meets there are told apart without a look at their text.
    let hash: Int

    public init(collection: Key, key: Key) {
        var hasher = Hasher()
        hasher.combine(collection)
        hasher.combine(key)
        self.init(collection: collection, key: key, hash: hasher.finalize())
    }

    init(collection: Key, key: Key, hash: Int) {
        self.collection = collection
        self.key = key
        self.hash = hash
    }

    public static func == (left: ObjectKey, right: ObjectKey) -> Bool {
        left.hash == right.hash && left.key == right.key && left.collection == right.collection
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}

extension ObjectKey: Comparable, CustomStringConvertible {
    public static func < (left: ObjectKey, right: ObjectKey) -> Bool {
        (left.collection, left.key) < (right.collection, right.key)
    }

    public var description: String { "\(collection)/\(key)" }
}

extension ObjectKey {
    /// No object's place, for what concerns none.
    static let none = ObjectKey(collection: "", key: "")
}

extension ObjectKey {
    /// Whether the object is in one of Godwit's own collections.
    package var isReserved: Bool { collection.text.hasPrefix("godwit.") }
}
