package import GodwitStore
package import GodwitTree

// An app's rules for merges are objects of the replica, so that its server and all devices merge by them.
//
//   (1) The rules for the objects of a collection are one object in a collection of their own, which
//       is in the same replicas.
//   (2) A device writes its rules when it opens the replica, and before a request, if theirs is the higher
//       version. Of two versions the higher one stays; of equal ones the head's.
//   (3) A program merges by its own rules, unless those of the replica have a higher version.
//   (4) The rules of a program for a collection are those of the app, and those of the collection's type.
//       Their version is the sum of both versions: it grows if either does.
//   (5) Rules that a program cannot read have no version, and hold nowhere.

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

    /// How deep an object is in a replica: a collection is no value.
    fileprivate static let objectDepth = 2
    /// The largest object with rules that a server takes, in canonical bytes.
    static let sizeMax = 64 << 10

    /// The rules in an object; nil if there are none, or none that can be read.
    static func policy(in value: Value?) -> MergePolicy? {
        value.flatMap { MergePolicy($0) }?.wholeBelow(objectDepth)
    }

    /// The version of the rules; 0 for rules that cannot be read.
    static func version(of value: Value?) -> Int { policy(in: value)?.version ?? 0 }

    /// The rules of the higher version (2).
    static func merge(_ ours: VersionedValue?, _ theirs: VersionedValue?) -> VersionedValue? {
        version(of: ours?.value) < version(of: theirs?.value) ? theirs : ours ?? theirs
    }
}

/// The rules of a program (4).
struct ProgramRules: Sendable {
    /// The rules of the app and of all types.
    let policy: MergePolicy
    /// The versions of what the types declare, by the collections' names.
    private let versions: [Key: Int]

    init(_ policy: MergePolicy, of types: [Key: MergePolicy] = [:]) {
        var all = MergePolicy(version: policy.version)
        for (collection, rules) in types {
            all.include(rules, at: ValuePath([.key(collection), .key("*")]).description)
        }
        all.include(policy)
        self.policy = all.wholeBelow(PolicyRecord.objectDepth)
        versions = types.mapValues(\.version)
    }

    func version(for collection: Key) -> Int {
        let (sum, isTooLarge) = policy.version.addingReportingOverflow(versions[collection] ?? 0)
        return isTooLarge ? .max : sum
    }

    /// The rules for a collection, as an object of the replica; nil for rules that other programs do not read.
    func record(for collection: Key) -> Value? {
        var policy = policy
        policy.version = version(for: collection)
        let value = policy.value(at: collection)
        let isRead =
            PolicyRecord.version(of: value) == policy.version
            && value.canonicalBytes.count <= PolicyRecord.sizeMax
        return isRead ? value : nil
    }
}

/// The rules by which objects merge: a program's own, or the replica's where these are newer.
struct MergeRules: Sendable {
    private let own: ProgramRules
    private var found: [Key: MergePolicy] = [:]

    init(_ own: ProgramRules) { self.own = own }

    /// The rules for an object.
    ///
    /// - Parameter object: An object of the replica.
    mutating func policy(
        for key: ObjectKey,
        in object: (ObjectKey) -> VersionedValue?
    ) -> MergePolicy {
        if let policy = found[key.collection] { return policy }
        let record = PolicyRecord.key(about: key).flatMap(object)?.value
        let newer = PolicyRecord.policy(in: record).flatMap {
            $0.version > own.version(for: key.collection) ? $0 : nil
        }
        found[key.collection] = newer ?? own.policy
        return newer ?? own.policy
    }
}

extension Sequence<ObjectKey> {
    /// The keys, those of rules first: what arrives with rules merges by them.
    var rulesFirst: [ObjectKey] {
        var (rules, others): ([ObjectKey], [ObjectKey]) = ([], [])
        for key in self {
            if PolicyRecord.isCollection(key.collection) {
                rules.append(key)
            } else {
                others.append(key)
            }
        }
        return rules + others
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

extension Sequence<ObjectKey> {
    /// The keys, and those of the records of their conflicts and of the rules for them.
    ///
    /// - Parameter hasObjects: Whether a collection has any: most have no records.
    package func withRecords(where hasObjects: (Key) throws -> Bool) rethrows -> Set<ObjectKey> {
        var keys = Set(self)
        for (collection, objects) in Dictionary(grouping: self, by: \.collection) {
            if try hasObjects(ConflictRecord.collection(about: collection)) {
                keys.formUnion(objects.compactMap(ConflictRecord.key))
            }
            if try hasObjects(PolicyRecord.collection(about: collection)) {
                keys.formUnion(objects.prefix(1).compactMap(PolicyRecord.key))
            }
        }
        return keys
    }
}
