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
    /// The objects that are the same, but whose metadata changed, or which were touched.
    public private(set) var touched: Set<ObjectKey>
    /// Whether anything may have changed besides: the observer has fallen too far behind, or
    /// another process has done more than the store has written down.
    public private(set) var isReset: Bool
    /// Whether another process has committed some of it.
    package private(set) var isFromElsewhere: Bool

    init(
        commit: CommitNumber,
        inserted: Set<ObjectKey> = [],
        updated: Set<ObjectKey> = [],
        removed: Set<ObjectKey> = [],
        touched: Set<ObjectKey> = [],
        isReset: Bool = false,
        isFromElsewhere: Bool = false
    ) {
        first = commit
        last = commit
        self.inserted = inserted
        self.updated = updated
        self.removed = removed
        self.touched = touched
        self.isReset = isReset
        self.isFromElsewhere = isFromElsewhere
    }

    /// All keys that were inserted, updated, removed or touched.
    public var keys: Set<ObjectKey> {
        inserted.union(updated).union(removed).union(touched)
    }

    func filtered(_ isIncluded: (ObjectKey) -> Bool) -> ChangeSet {
        var result = self
        result.inserted = inserted.filter(isIncluded)
        result.updated = updated.filter(isIncluded)
        result.removed = removed.filter(isIncluded)
        result.touched = touched.filter(isIncluded)
        return result
    }

    /// How many keys several commits may come to before they become a reset.
    static let mergedMax = 100_000

    /// Adds a later commit, so that only the net effect of both remains.
    mutating func merge(_ next: ChangeSet) {
        precondition(next.first > last || next.isReset, "Change sets are merged in their order")
        last = max(last, next.last)
        isReset = isReset || next.isReset
        isFromElsewhere = isFromElsewhere || next.isFromElsewhere
        for key in next.inserted {
            touched.remove(key)
            if removed.remove(key) != nil { updated.insert(key) } else { inserted.insert(key) }
        }
        for key in next.updated where !inserted.contains(key) {
            touched.remove(key)
            updated.insert(key)
        }
        for key in next.touched where !inserted.contains(key) && !updated.contains(key) {
            touched.insert(key)
        }
        for key in next.removed {
            let wasInserted = inserted.remove(key) != nil
            updated.remove(key)
            touched.remove(key)
            if !wasInserted { removed.insert(key) }
        }
        if inserted.count + updated.count + removed.count + touched.count > Self.mergedMax {
            (inserted, updated, removed, touched) = ([], [], [], [])
            isReset = true
        }
    }
}
