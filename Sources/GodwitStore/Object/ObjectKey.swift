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

extension Store {
    /// The name of a collection, and the type of the objects in it.
    ///
    /// ```swift
    /// let contacts = Store.Collection<Contact>("contacts")
    /// try await store.write { try $0.set(robbie, for: "robbie", in: contacts) }
    /// ```
    public struct Collection<Object: Codable & Sendable>: Sendable {
        public let name: Key

        public init(_ name: Key) { self.name = name }

        func key(_ key: String) -> ObjectKey { ObjectKey(collection: name, key: Key(key)) }
    }
}
