internal import GodwitStore
internal import GodwitTree

// An app's rules for merges are objects of the replica, so that its server and all devices merge by them.
//
//   (1) The rules for the objects of a collection are one object in a collection of their own, which
//       is in the same replicas.
//   (2) A device writes its rules when it opens the replica, if theirs is the higher version. Of two
//       versions the higher one stays; of equal ones the head's.
//   (3) A program merges by its own rules, unless those of the replica have a higher version.

/// The rules for merges of a collection, as an object of the replica.
enum PolicyRecord {
    private static let prefix = "godwit.policy."

    static func collection(about collection: Key) -> Key { Key(prefix + collection.text) }

    static func isCollection(_ name: Key) -> Bool { name.text.hasPrefix(prefix) }

    /// The key of the rules for an object; nil for Godwit's own objects.
    static func key(about object: ObjectKey) -> ObjectKey? {
        object.isReserved ? nil : key(about: object.collection)
    }

    static func key(about collection: Key) -> ObjectKey {
        ObjectKey(collection: Self.collection(about: collection), key: "rules")
    }

    static func version(of value: Value?) -> Int64 { value?["version"]?.integer ?? 0 }

    /// The rules of the higher version (2).
    static func merge(_ ours: VersionedValue?, _ theirs: VersionedValue?) -> VersionedValue? {
        version(of: ours?.value) < version(of: theirs?.value) ? theirs : ours ?? theirs
    }
}

/// The rules by which objects merge: a program's own, or the replica's where these are newer.
struct MergeRules: Sendable {
    private let own: MergePolicy
    private var found: [Key: MergePolicy] = [:]

    init(_ own: MergePolicy) { self.own = own }

    /// The rules for an object.
    ///
    /// - Parameter object: An object of the replica.
    mutating func policy(
        for key: ObjectKey,
        in object: (ObjectKey) -> VersionedValue?
    ) -> MergePolicy {
        if let policy = found[key.collection] { return policy }
        let record = PolicyRecord.key(about: key).flatMap(object)?.value
        let isNewer = PolicyRecord.version(of: record) > own.version
        let policy = isNewer ? record.flatMap { MergePolicy($0) } ?? own : own
        found[key.collection] = policy
        return policy
    }
}

/// What a replica has of a collection beside its objects.
enum ReplicaCollection {
    /// The collections of the records of conflicts about its objects, and of the rules for them.
    static func records(about collection: Key) -> [Key] {
        if ConflictRecord.isCollection(collection) || PolicyRecord.isCollection(collection) {
            return []
        }
        return [
            ConflictRecord.collection(about: collection),
            PolicyRecord.collection(about: collection),
        ]
    }
}
