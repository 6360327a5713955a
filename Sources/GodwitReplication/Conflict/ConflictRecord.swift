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
    /// What a decision about each of them needs.
    private(set) var openings: [Key: Opening]

    /// Where a conflict can be decided otherwise.
    struct Opening: Hashable, Sendable {
        /// The place in the object as the merge has left it; nil when it is gone.
        let place: ValuePath?
        /// The digest of what the merge has left there; nil for nothing.
        let left: ContentDigest?
        /// The mark of the item in which the place is; nil outside of lists.
        let item: ContentDigest?
        /// The version of the object that was not taken.
        let version: Int
    }

    /// An item of a list that a decision has changed.
    struct ChangedItem {
        /// The keys that lead to it; the positions in lists may have changed since.
        let list: [Key]
        /// The marks that it may have had before the decision.
        let old: Set<ContentDigest>
        let new: ContentDigest
    }

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
        let digest = ContentDigest(of: [name.canonicalBytes], purpose: "godwit conflict 3")
        return ObjectKey(
            collection: collection(about: object.collection),
            key: Key(digest.description)
        )
    }
}

extension ConflictRecord {
    /// The record with more conflicts about an object; notices are left out.
    ///
    /// - Parameter result: The merged object.
    static func record(
        _ old: VersionedValue?,
        adding conflicts: [MergeConflict],
        about object: ObjectKey,
        in result: Value?
    ) -> VersionedValue? {
        var sides = Value.Map(old).entries
        for conflict in conflicts where !conflict.conflict.isNotice && sides.count < countMax {
            let side = Value(conflict, in: result)
            sides[Key(side.digest.description)] = side
        }
        return sides.isEmpty ? nil : VersionedValue(about: object, sides)
    }

    /// The record without a conflict that is settled; nil when it was the last one.
    ///
    /// - Parameter items: The items in which it was: the record's other conflicts there are found by the
    ///   new marks.
    static func record(_ old: Value, without id: Key, _ items: [ChangedItem]) -> Value? {
        guard var map = old.map else { return nil }
        var sides = map["conflicts"]?.map ?? Value.Map()
        sides[id] = nil
        for entry in sides {
            guard var side = entry.value.map, let mark = side.digest("item"),
                let place = ValuePath(stored: side["place"]),
                let item = items.first(where: { $0.list == place.list && $0.old.contains(mark) })
            else { continue }
            side.set("item", item.new)
            sides[entry.key] = .map(side)
        }
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
        // A decision about an item gives its other conflicts a new mark.
        let newer = their.filter { key, side in our[key] == nil || our[key] == old[key] }
        let sides = our.merging(newer) { $1 }.filter { key, _ in
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
        (conflicts, openings) = ([:], [:])
        for entry in entries {
            conflicts[entry.key] = Conflict(entry.value)
            openings[entry.key] = Opening(entry.value)
        }
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
    fileprivate init(_ found: MergeConflict, in result: Value?) {
        let conflict = found.conflict
        var map: Value.Map = [
            "path": ValuePath(Array(conflict.path.steps.dropFirst(2))).stored,
            "reason": .string(Key(conflict.reason.rawValue)),
            "choice": .string(Key(conflict.choice.rawValue)),
            "version": .int(Int64(found.version)),
        ]
        if let place = found.place {
            map["place"] = place.stored
            map.set("left", result?.part(at: place.steps[...])?.digest)
            map.set("item", place.item.flatMap { result?.itemMark(at: $0) })
        }
        map.set("base", conflict.base, isContext: true)
        map.set("ours", conflict.ours, isContext: conflict.choice == .ours)
        map.set("theirs", conflict.theirs, isContext: conflict.choice == .theirs)
        self = .map(map)
    }

    /// What tells the item at a place from others like it: the digest of the field that identifies a
    /// record, or its own digest where it has none, or where others have the same.
    func itemMark(at place: ArraySlice<ValuePath.Step>) -> ContentDigest? {
        guard let item = part(at: place) else { return nil }
        guard let mark = item.identityMark else { return item.digest }
        let isOnly = places(like: place).count { part(at: $0[...])?.identityMark == mark } == 1
        return isOnly ? mark : item.digest
    }

    /// The digest of the field that identifies a record.
    var identityMark: ContentDigest? { map?.identity?.digest }

    /// The places in this value that differ from a place by the positions in lists.
    func places(like steps: ArraySlice<ValuePath.Step>) -> [[ValuePath.Step]] {
        guard let step = steps.first else { return [[]] }
        let rest = steps.dropFirst()
        switch step {
        case .key(let key):
            return self[key]?.places(like: rest).map { [step] + $0 } ?? []
        case .position:
            return (list ?? []).enumerated().flatMap { position, item in
                item.places(like: rest).map { [.position(position)] + $0 }
            }
        }
    }

    /// The part at a place; nil where there is none.
    func part(at steps: ArraySlice<ValuePath.Step>) -> Value? {
        guard let step = steps.first else { return self }
        let part: Value? =
            switch step {
            case .key(let key): self[key]
            case .position(let position):
                list.flatMap { $0.indices.contains(position) ? $0[position] : nil }
            }
        return part?.part(at: steps.dropFirst())
    }
}

extension Value.Map {
    fileprivate mutating func set(_ name: Key, _ digest: ContentDigest?) {
        self[name] = digest.map { .bytes($0.bytes) }
    }

    fileprivate func digest(_ name: Key) -> ContentDigest? {
        guard case .bytes(let bytes)? = self[name] else { return nil }
        return ContentDigest(bytes: bytes)
    }

    private static func encodedName(_ name: Key) -> Key { Key(name.text + "Bytes") }

    /// Keeps a value of a conflict: as bytes where it nests too deep for an object, and not at all where
    /// it is large and stands in the object as well.
    fileprivate mutating func set(_ name: Key, _ value: Value?, isContext: Bool) {
        guard let value else { return }
        if isContext, value.canonicalBytes.count > ConflictRecord.contextSizeMax { return }
        if value.isNested(within: WriteTransaction.objectDepthMax - 3) {
            self[name] = value
        } else {
            self[Self.encodedName(name)] = .bytes(value.canonicalBytes)
        }
    }

    fileprivate func kept(_ name: Key) -> Value? {
        guard case .bytes(let bytes)? = self[Self.encodedName(name)] else { return self[name] }
        return try? Value(canonicalBytes: bytes)
    }
}

extension ValuePath {
    /// The innermost item of a list in which the place is, or which it is; nil outside of lists.
    var item: ArraySlice<Step>? {
        items.last
    }

    /// The items in which the place is, the outermost first.
    var items: [ArraySlice<Step>] {
        steps.indices.compactMap { index in
            if case .position = steps[index] { steps[...index] } else { nil }
        }
    }

    /// The keys that lead to the innermost item.
    var list: [Key] {
        (item ?? []).compactMap { step in if case .key(let key) = step { key } else { nil } }
    }

    /// A list of keys and positions.
    fileprivate var stored: Value {
        .list(
            Value.List(
                steps.map { step in
                    switch step {
                    case .key(let key): .string(key)
                    case .position(let position): .int(Int64(position))
                    }
                }
            )
        )
    }

    fileprivate init?(stored value: Value?) {
        guard let list = value?.list else { return nil }
        var steps: [Step] = []
        for step in list {
            switch step {
            case .string(let key): steps.append(.key(key))
            case .int(let int):
                guard let position = Int(exactly: int), position >= 0 else { return nil }
                steps.append(.position(position))
            default: return nil
            }
        }
        self.init(steps)
    }
}

extension Conflict {
    fileprivate init?(_ value: Value) {
        guard let map = value.map, let path = ValuePath(stored: map["path"]),
            let reason = map["reason"]?.text.flatMap(Reason.init),
            let choice = map["choice"]?.text.flatMap(Choice.init)
        else { return nil }
        self.init(
            path: path,
            reason: reason,
            base: map.kept("base"),
            ours: map.kept("ours"),
            theirs: map.kept("theirs"),
            choice: choice
        )
    }
}

extension ConflictRecord.Opening {
    fileprivate init?(_ value: Value) {
        guard let map = value.map, let version = map["version"]?.integer.flatMap(Int.init(exactly:))
        else { return nil }
        self.version = version
        place = ValuePath(stored: map["place"])
        (left, item) = (map.digest("left"), map.digest("item"))
    }
}
