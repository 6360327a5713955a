internal import GodwitStore
package import GodwitTree

/// The objects of one collection, as a count and a sum of their hashes.
package struct CollectionSum: Hashable, Sendable {
    package var count: Int64
    package var sum: SetHash

    package static let empty = CollectionSum(count: 0, sum: .zero)

    package init(count: Int64, sum: SetHash) {
        self.count = count
        self.sum = sum
    }

    /// What an object adds to the sum.
    static func hash(of object: VersionedValue, at key: ObjectKey) -> SetHash {
        let place: Value = [
            .string(key.collection), .string(key.key), .bytes(object.value.digest.bytes),
            .int(Int64(object.version)),
        ]
        return SetHash(member: place.canonicalBytes, purpose: "godwit object 3")
    }

    mutating func replace(_ old: VersionedValue?, with new: VersionedValue?, at key: ObjectKey) {
        replace(
            old.map { Self.hash(of: $0, at: key) },
            with: new.map { Self.hash(of: $0, at: key) }
        )
    }

    fileprivate mutating func replace(_ old: SetHash?, with new: SetHash?) {
        if let old {
            count -= 1
            sum -= old
        }
        if let new {
            count += 1
            sum += new
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
/// costs two hashes, and a collection that changes two more, whatever the size of the replica.
package struct ContentSum: Sendable {
    /// The collections that are known one by one.
    package private(set) var collections: [Key: CollectionSum] = [:]
    /// All contributions before the changes, also of collections that are not known one by one.
    private var total = SetHash.zero
    /// What the collections that have changed had before.
    private var replaced: [Key: CollectionSum] = [:]

    /// The sum of no objects.
    package static let empty = ContentSum()

    init() {}

    /// What was stored: the sum of all, and some of the collections.
    package init(total: SetHash, collections: [Key: CollectionSum]) {
        self.total = total
        self.collections = collections
    }

    /// The sum of all collections, for storage.
    package var all: SetHash {
        replaced.reduce(into: total) { total, old in
            total -= old.value.contribution(of: old.key)
            total += (collections[old.key] ?? .empty).contribution(of: old.key)
        }
    }

    /// The same sum, with some of the collections known one by one.
    func with(only names: Set<Key>) -> ContentSum {
        ContentSum(total: all, collections: collections.filter { names.contains($0.key) })
    }

    /// The collections in which another sum differs, of those that either knows.
    package func changes(to other: ContentSum) -> [Key: CollectionSum] {
        let names = Set(collections.keys).union(other.collections.keys)
        return Dictionary(uniqueKeysWithValues: names.map { ($0, other.collections[$0] ?? .empty) })
            .filter { name, sum in sum != collections[name] ?? .empty }
    }

    /// The content half of a state's id.
    package var digest: ContentDigest {
        ContentDigest(of: [all.bytes], purpose: "godwit content 3")
    }

    mutating func replace(_ old: VersionedValue?, with new: VersionedValue?, at key: ObjectKey) {
        guard old != new else { return }
        replace(old, withHash: new.map { CollectionSum.hash(of: $0, at: key) }, at: key)
    }

    /// - Parameter hash: What the new object adds; nil where there is none.
    mutating func replace(_ old: VersionedValue?, withHash hash: SetHash?, at key: ObjectKey) {
        var collection = collections[key.collection] ?? .empty
        if replaced[key.collection] == nil { replaced[key.collection] = collection }
        collection.replace(old.map { CollectionSum.hash(of: $0, at: key) }, with: hash)
        collections[key.collection] = collection == .empty ? nil : collection
    }
}

extension ContentSum: Hashable {
    package static func == (left: ContentSum, right: ContentSum) -> Bool {
        left.collections == right.collections && left.all == right.all
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(collections) }
}
