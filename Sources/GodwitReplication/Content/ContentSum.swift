internal import GodwitStore
public import GodwitTree

/// The objects of one collection, as a count and a sum of their hashes.
public struct CollectionSum: Hashable, Sendable {
    public internal(set) var count: Int64
    public internal(set) var sum: SetHash

    public static let empty = CollectionSum(count: 0, sum: .zero)

    /// What an object adds to the sum.
    static func hash(of object: VersionedValue, at key: ObjectKey) -> SetHash {
        let place: Value = [
            .string(key.collection), .string(key.key), .bytes(object.value.digest.bytes),
            .int(Int64(object.version)),
        ]
        return SetHash(member: place.canonicalBytes, purpose: "godwit object 3")
    }

    mutating func replace(_ old: VersionedValue?, with new: VersionedValue?, at key: ObjectKey) {
        if let old {
            count -= 1
            sum -= Self.hash(of: old, at: key)
        }
        if let new {
            count += 1
            sum += Self.hash(of: new, at: key)
        }
    }

    /// What the collection adds to the sum of the replica; nothing when it is empty.
    fileprivate func contribution(of name: Key) -> SetHash {
        guard self != .empty else { return .zero }
        let place: Value = [.string(name), .int(count), .bytes(sum.bytes)]
        return SetHash(member: place.canonicalBytes, purpose: "godwit collection 3")
    }
}

/// What a replica contains, as one sum for each collection.
///
/// Two replicas with equal objects have equal sums, however they came about. An object that changes
/// costs four hashes, whatever the size of the replica.
public struct ContentSum: Hashable, Sendable {
    /// The collections that are known one by one.
    public private(set) var collections: [Key: CollectionSum] = [:]
    /// All contributions, also of collections that are not known one by one.
    private var total = SetHash.zero

    /// The sum of no objects.
    public static let empty = ContentSum()

    init() {}

    /// What was stored: the sum of all, and some of the collections.
    init(total: SetHash, collections: [Key: CollectionSum]) {
        self.total = total
        self.collections = collections
    }

    /// The sum of all collections, for storage.
    var all: SetHash { total }

    /// The same sum, with some of the collections known one by one.
    func with(only names: Set<Key>) -> ContentSum {
        ContentSum(total: total, collections: collections.filter { names.contains($0.key) })
    }

    /// The collections in which another sum differs, of those that either knows.
    func changes(to other: ContentSum) -> [Key: CollectionSum] {
        let names = Set(collections.keys).union(other.collections.keys)
        return Dictionary(uniqueKeysWithValues: names.map { ($0, other.collections[$0] ?? .empty) })
            .filter { name, sum in sum != collections[name] ?? .empty }
    }

    /// The content half of a state's id.
    public var digest: Digest { Digest(of: [total.bytes], purpose: "godwit content 3") }

    mutating func replace(_ old: VersionedValue?, with new: VersionedValue?, at key: ObjectKey) {
        guard old != new else { return }
        var collection = collections[key.collection] ?? .empty
        total -= collection.contribution(of: key.collection)
        collection.replace(old, with: new, at: key)
        total += collection.contribution(of: key.collection)
        collections[key.collection] = collection == .empty ? nil : collection
    }
}
