public import GodwitTree

/// Where an object is: its collection, and its key in there.
public struct ObjectKey: Hashable, Sendable {
    public let collection: Key
    public let key: Key

    public init(collection: Key, key: Key) {
        self.collection = collection
        self.key = key
    }
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
