public import GodwitStore
public import GodwitTree

// What merges could not take is kept in objects of the replica itself.
//
//   (1) A record is written in the commit of the merge that caused it, so it is there when the
//       change that it keeps is gone.
//   (2) Two records about one object merge as sets: a change that either side adds is there, and a
//       change that either side settles is gone. A record without changes goes.

/// The changes of one object that merges did not take: an object of the replica itself.
///
/// The records about the objects of a collection are a collection of their own, which is in the same
/// replicas. Every device has them, and an app that settles a conflict on one device settles it on
/// all.
public struct ConflictRecord: Hashable, Sendable {
    /// The object that the conflicts are about.
    public let object: ObjectKey
    /// The conflicts, by a digest of their content.
    public private(set) var conflicts: [Key: Conflict]

    private static let prefix = "godwit.conflicts."

    /// The collection of the records about the objects of another collection.
    public static func collection(about collection: Key) -> Key { Key(prefix + collection.text) }

    /// Whether a collection is one of records.
    static func isCollection(_ name: Key) -> Bool { name.text.hasPrefix(prefix) }

    /// The most conflicts that a record keeps.
    public static let countMax = 64
    /// The largest value that a record keeps beside the change itself, in canonical bytes.
    static let contextSizeMax = 4096

    /// The key of the record about an object; nil where merges have no conflicts.
    public static func key(about object: ObjectKey) -> ObjectKey? {
        guard !object.isReserved else { return nil }
        let name: Value = [.string(object.collection), .string(object.key)]
        let digest = Digest(of: [name.canonicalBytes], purpose: "godwit conflict 3")
        return ObjectKey(
            collection: collection(about: object.collection),
            key: Key(digest.description)
        )
    }
}

extension ObjectKey {
    /// Whether the object belongs to the replica's own collections.
    var isReserved: Bool { collection.text.hasPrefix("godwit.") }
}

extension ConflictRecord {
    /// The record with more conflicts about an object; notices are left out.
    static func record(
        _ old: VersionedValue?,
        adding conflicts: [Conflict],
        about object: ObjectKey
    ) -> VersionedValue? {
        var sides = Value.Map(old).entries
        for conflict in conflicts where !conflict.isNotice && sides.count < countMax {
            let side = Value(conflict)
            sides[Key(side.digest.description)] = side
        }
        return sides.isEmpty ? nil : VersionedValue(about: object, sides)
    }

    /// The record without a conflict that is settled; nil when it was the last one.
    static func record(_ old: Value, without id: Key) -> Value? {
        guard var map = old.map else { return nil }
        var sides = map["conflicts"]?.map ?? Value.Map()
        sides[id] = nil
        map["conflicts"] = .map(sides)
        return sides.isEmpty ? nil : .map(map)
    }

    /// What two changed records have in common with each other and with the changes since (2).
    static func merge(
        _ base: VersionedValue?,
        _ ours: VersionedValue?,
        _ theirs: VersionedValue?
    ) -> VersionedValue? {
        guard var merged = (ours ?? theirs)?.value.map else { return nil }
        let (old, our, their) = (
            Value.Map(base).entries, Value.Map(ours).entries, Value.Map(theirs).entries
        )
        let sides = our.merging(their) { our, _ in our }.filter { key, _ in
            old[key] == nil || our[key] != nil && their[key] != nil
        }
        merged["conflicts"] = .map(Value.Map(sides.map { ($0.key, $0.value) }))
        return sides.isEmpty ? nil : VersionedValue(.map(merged))
    }

    /// Reads a record; nil for an object of another form.
    public init?(_ value: Value) {
        guard let name = value["object"]?.list, name.count == 2,
            case .string(let collection) = name[0], case .string(let key) = name[1],
            let entries = value["conflicts"]?.map
        else { return nil }
        object = ObjectKey(collection: collection, key: key)
        conflicts = [:]
        for entry in entries { conflicts[entry.key] = Conflict(entry.value) }
    }
}

// MARK: - The form of a record

extension VersionedValue {
    fileprivate init(about object: ObjectKey, _ conflicts: [Key: Value]) {
        self.init([
            "object": [.string(object.collection), .string(object.key)],
            "conflicts": .map(Value.Map(conflicts.map { ($0.key, $0.value) })),
        ])
    }
}

extension Value.Map {
    /// The conflicts of a record.
    fileprivate init(_ record: VersionedValue?) {
        self = record?.value["conflicts"]?.map ?? Value.Map()
    }

    fileprivate var entries: [Key: Value] {
        Dictionary(map { ($0.key, $0.value) }, uniquingKeysWith: { first, _ in first })
    }
}

extension Value {
    /// A conflict as its record keeps it: the change that was not taken, and small values beside it.
    fileprivate init(_ conflict: Conflict) {
        var map: Value.Map = [
            "path": .string(Key(Path(Array(conflict.path.steps.dropFirst(2))).description)),
            "reason": .string(Key(conflict.reason.rawValue)),
            "choice": .string(Key(conflict.choice.rawValue)),
        ]
        map["base"] = conflict.base?.kept(asContext: true)
        map["ours"] = conflict.ours?.kept(asContext: conflict.choice == .ours)
        map["theirs"] = conflict.theirs?.kept(asContext: conflict.choice == .theirs)
        self = .map(map)
    }

    /// The value for a record: bytes where it nests too deep, nil where it is large and stands in
    /// the object as well.
    private func kept(asContext isContext: Bool) -> Value? {
        if isContext, canonicalBytes.count > ConflictRecord.contextSizeMax { return nil }
        return isNested(within: WriteTransaction.objectDepthMax - 3) ? self : .bytes(canonicalBytes)
    }
}

extension Conflict {
    fileprivate init?(_ value: Value) {
        guard let path = value["path"]?.text,
            let reason = value["reason"]?.text.flatMap(Reason.init),
            let choice = value["choice"]?.text.flatMap(Choice.init)
        else { return nil }
        self.init(
            path: Path(pointer: path),
            reason: reason,
            base: value["base"],
            ours: value["ours"],
            theirs: value["theirs"],
            choice: choice
        )
    }
}
