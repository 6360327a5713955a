/// What one commit changed: its net effect on the objects.
///
/// An observer that falls behind gets several commits in one change set, as one range without a
/// gap: `first` is always the number after the last one it has seen.
public struct ChangeSet: Hashable, Sendable {
    /// The first of the commits that this change set covers.
    public private(set) var first: CommitNumber
    /// The last of them; the same as `first` unless commits were merged.
    public private(set) var last: CommitNumber
    public private(set) var inserted: Set<ObjectKey>
    public private(set) var updated: Set<ObjectKey>
    public private(set) var removed: Set<ObjectKey>

    init(
        commit: CommitNumber,
        inserted: Set<ObjectKey> = [],
        updated: Set<ObjectKey> = [],
        removed: Set<ObjectKey> = []
    ) {
        first = commit
        last = commit
        self.inserted = inserted
        self.updated = updated
        self.removed = removed
    }

    /// All keys that were inserted, updated or removed.
    public var keys: Set<ObjectKey> { inserted.union(updated).union(removed) }

    /// Adds the next commit, so that only the net effect of both remains.
    mutating func merge(_ next: ChangeSet) {
        precondition(next.first == last.next, "Change sets are merged without a gap")
        last = next.last
        for key in next.inserted {
            if removed.remove(key) != nil { updated.insert(key) } else { inserted.insert(key) }
        }
        for key in next.updated where !inserted.contains(key) { updated.insert(key) }
        for key in next.removed {
            let wasInserted = inserted.remove(key) != nil
            updated.remove(key)
            if !wasInserted { removed.insert(key) }
        }
    }
}
