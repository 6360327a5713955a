// Finding two changes of one base.
//
// Two versions are compared with their base together, so that items are told apart by the same
// field on both sides: a field that only looks like an identity in one version is none.

extension Delta {
    /// The changes that lead from one base to two values.
    static func diff(
        _ base: Value,
        _ new: Sides<Value>,
        _ rules: MergePolicy.Node?
    ) -> Sides<Delta> {
        switch (base, new.ours, new.theirs) {
        case (.map(let base), .map(let ours), .map(let theirs)):
            return diff(base, Sides(ours: ours, theirs: theirs), rules)
        case (.list(let base), .list(let ours), .list(let theirs)):
            return diff(base, Sides(ours: ours, theirs: theirs), rules)
        default:
            return new.map { diff(base, $0, rules) }
        }
    }

    private static func diff(
        _ base: Value.Map,
        _ new: Sides<Value.Map>,
        _ rules: MergePolicy.Node?
    ) -> Sides<Delta> {
        let changes = new.map { base.changes(to: $0) }
        var entries = Sides<[MapDelta.Entry]>(both: [])
        MapChange.walk(changes) { key, sides in
            let rules = rules?.child(.key(key))
            if let ours = sides.ours, let theirs = sides.theirs, let old = ours.old,
                let our = ours.new, let their = theirs.new
            {
                let deltas = diff(old, Sides(ours: our, theirs: their), rules)
                entries.ours.append(MapDelta.Entry(key: key, change: .apply(deltas.ours)))
                entries.theirs.append(MapDelta.Entry(key: key, change: .apply(deltas.theirs)))
                return
            }
            for side in Side.allCases {
                guard let change = sides[side] else { continue }
                entries[side].append(MapDelta.Entry(key: key, change: change.diffed(rules)))
            }
        }
        return entries.map { .map($0) }
    }

    private static func diff(
        _ base: Value.List,
        _ new: Sides<Value.List>,
        _ rules: MergePolicy.Node?
    ) -> Sides<Delta> {
        let windows = new.map { ListWindow(base, $0) }
        let lists = windows.ours.surroundings + windows.theirs.surroundings
        let identity = rules?.identity ?? ItemIdentity(of: lists)
        let matchings = windows.map { $0.matching(identity, rules) }
        let edits = Sides(
            ours: windows.ours.edits(matchings.ours),
            theirs: windows.theirs.edits(matchings.theirs)
        )
        var known = Sides<[Int: Delta]>(both: [:])
        for (position, our) in edits.ours {
            guard let their = edits.theirs[position] else { continue }
            let rules = rules?.child(.position(position))
            let deltas = diff(base[position], Sides(ours: our, theirs: their), rules)
            (known.ours[position], known.theirs[position]) = (deltas.ours, deltas.theirs)
        }
        func recipe(_ side: Side) -> Delta {
            .list(
                windows[side].recipe(matchings[side]) { position, old, new in
                    known[side][position] ?? diff(old, new, rules?.child(.position(position)))
                }
            )
        }
        return Sides(ours: recipe(.ours), theirs: recipe(.theirs))
    }
}

/// The old and the new value of a key, where they may differ.
struct MapChange {
    let key: Key
    let old: Value?
    let new: Value?

    func diffed(_ rules: MergePolicy.Node?) -> MapDelta.Change {
        guard let new else { return .remove }
        return .apply(old.map { .diff($0, new, rules) } ?? .set(new))
    }

    /// Calls `body` for each key that either side may have changed, in canonical order.
    fileprivate static func walk(
        _ changes: Sides<[MapChange]>,
        _ body: (Key, Sides<MapChange?>) -> Void
    ) {
        var (ours, theirs) = (changes.ours[...], changes.theirs[...])
        while let key = [ours.first?.key, theirs.first?.key].compactMap({ $0 }).min() {
            let our = ours.first?.key == key ? ours.popFirst() : nil
            let their = theirs.first?.key == key ? theirs.popFirst() : nil
            body(key, Sides(ours: our, theirs: their))
        }
    }
}

extension Value.Map {
    /// The keys whose values may differ, in canonical order.
    ///
    /// - Complexity: O(log *n* + *m*), for *m* entries in the chunks that differ.
    func changes(to new: Value.Map) -> [MapChange] {
        let (oldRange, newRange) = tree.differingRanges(from: new.tree)
        var changes: [MapChange] = []
        var rest = self[oldRange]
        for entry in new[newRange] {
            while let gone = rest.first, gone.key < entry.key {
                changes.append(MapChange(key: gone.key, old: gone.value, new: nil))
                rest.removeFirst()
            }
            if let same = rest.first, same.key == entry.key {
                rest.removeFirst()
                changes.append(MapChange(key: entry.key, old: same.value, new: entry.value))
            } else {
                changes.append(MapChange(key: entry.key, old: nil, new: entry.value))
            }
        }
        return changes + rest.map { MapChange(key: $0.key, old: $0.value, new: nil) }
    }
}
