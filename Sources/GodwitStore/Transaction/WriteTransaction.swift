public import GRDB
public import GodwitTree

/// The only way to change a store: all of its changes are committed, or none.
public struct WriteTransaction: Transaction, ~Copyable {
    public let database: Database

    /// The number that this transaction will have as a commit, if it changes something.
    public let commit: CommitNumber

    let draft: CommitDraft

    /// The deepest object that a store takes: a replica puts two levels above it.
    public static let objectDepthMax = Value.depthMax - 2
}

extension WriteTransaction {
    /// Puts an object under a key, in the place of the one that was there.
    ///
    /// - Throws: `EncodingError`, ``StoreError/tooDeep(_:limit:)``, or GRDB's `DatabaseError`.
    public borrowing func set<Object>(
        _ object: Object,
        for key: String,
        in collection: Store.Collection<Object>
    ) throws {
        try setValue(ValueEncoder().encode(object), of: collection.key(key))
    }

    /// Puts plain data under a key.
    ///
    /// Data that is there already is no change.
    public borrowing func setValue(_ value: Value, of key: ObjectKey) throws {
        guard value.isNested(within: Self.objectDepthMax) else {
            throw StoreError.tooDeep(key, limit: Self.objectDepthMax)
        }
        let bytes = value.canonicalBytes
        let digest = Value.digest(ofCanonicalBytes: bytes).bytes
        let old = try ObjectTable.digest(of: key, in: database)
        guard old != digest else { return }
        try ObjectTable.set(key, to: (bytes, digest), commit: commit, in: database)
        draft.record(key, existed: old != nil, value: value)
    }

    /// Removes the object under a key; without one, nothing happens.
    public borrowing func remove<Object>(
        _ key: String,
        in collection: Store.Collection<Object>
    ) throws {
        try removeValue(of: collection.key(key))
    }

    /// Removes the object under a key; without one, nothing happens.
    public borrowing func removeValue(of key: ObjectKey) throws {
        guard try ObjectTable.digest(of: key, in: database) != nil else { return }
        try ObjectTable.remove(key, in: database)
        draft.record(key, existed: true, value: nil)
    }

    /// Makes a commit of this transaction although no object changes.
    ///
    /// Whoever writes tables of their own beside the objects calls this, so that what they wrote
    /// belongs to a commit.
    public borrowing func touch() { draft.isTouched = true }

    /// A new identifier, from the source that the store was opened with.
    public borrowing func newIdentifier() -> Identifier { draft.identifiers.next() }
}

/// What a transaction has changed so far.
final class CommitDraft {
    private struct Change {
        let existed: Bool
        var value: Value?
    }

    let identifiers: Identifiers
    var isTouched = false
    private var changes: [ObjectKey: Change] = [:]

    init(identifiers: Identifiers) { self.identifiers = identifiers }

    var isEmpty: Bool { objects.isEmpty && !isTouched }

    func record(_ key: ObjectKey, existed: Bool, value: Value?) {
        let first = changes[key]?.existed ?? existed
        changes[key] = Change(existed: first, value: value)
    }

    /// The objects that are different now, with their new values.
    var objects: [ObjectKey: Value?] {
        changes.filter { $0.value.existed || $0.value.value != nil }.mapValues(\.value)
    }

    func changeSet(commit: CommitNumber) -> ChangeSet {
        let keys = { (existed: Bool, exists: Bool) in
            Set(
                self.changes.filter {
                    $0.value.existed == existed && ($0.value.value != nil) == exists
                }.keys
            )
        }
        return ChangeSet(
            commit: commit,
            inserted: keys(false, true),
            updated: keys(true, true),
            removed: keys(true, false)
        )
    }
}
