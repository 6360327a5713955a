extension Merger {
    mutating func mergeMaps(
        _ base: Value.Map,
        _ deltas: Sides<Delta>,
        _ place: MergePlace
    ) -> MergeNode {
        guard case .map(let ours) = deltas.ours, case .map(let theirs) = deltas.theirs else {
            return merge(.map(base), deltas, place)
        }
        let map = MergedMap(base, deltas, place)
        let outer = around
        let sides = Sides(ours: ours, theirs: theirs)
        around = MapAround(base: base, deltas: sides, rules: place.rules)
        defer { around = outer }
        let changes = lists(base, sides, place)
        MapDelta.walk(changes.ours, changes.theirs) { key, our, their in
            let sides = Sides(ours: our, theirs: their)
            let node = merge(base[key], sides, place.child(.key(key)))
            if case .inserted(let insertion) = node { mergeNewRow(insertion, in: place) }
            map.entries.append((key, node))
        }
        return .map(map)
    }

    /// The node under one key.
    private mutating func merge(
        _ base: Value?,
        _ changes: Sides<MapDelta.Change?>,
        _ place: MergePlace
    ) -> MergeNode {
        var changes = changes
        for side in Side.allCases where changes[side.other] == .remove {
            guard let base, case .apply(let edit)? = changes[side], edit.keeps(base) else {
                continue
            }
            changes[side] = nil
        }
        for side in Side.allCases where changes[side] == .remove && changes[side.other] == nil {
            if let base { noteRemovedAlone(base, by: side) }
        }
        switch (changes.ours, changes.theirs) {
        case (nil, nil): return .kept
        case (nil, .apply(let edit)?) where base != nil:
            return merge(base, Sides(ours: .keep, theirs: edit), place)
        case (.apply(let edit)?, nil) where base != nil:
            return merge(base, Sides(ours: edit, theirs: .keep), place)
        case (nil, let change?): return change.node(of: .theirs, base, place, &insertions)
        case (let change?, nil): return change.node(of: .ours, base, place, &insertions)
        case (.remove?, .remove?):
            if let base { noteRemoval(of: base, place) }
            return .same(.remove)
        case (.apply(let ours)?, .apply(let theirs)?):
            if base == nil, case .set(let our) = ours, case .set(let their) = theirs {
                return mergePair(Sides(ours: our, theirs: their), place)
            }
            return merge(base, Sides(ours: ours, theirs: theirs), place)
        case (.remove?, .apply(let edit)?):
            guard let base else { return .one(.theirs, .apply(edit)) }
            return removed(by: .ours, base, edit, place)
        case (.apply(let edit)?, .remove?):
            guard let base else { return .one(.ours, .apply(edit)) }
            return removed(by: .theirs, base, edit, place)
        }
    }
}

extension MapDelta.Change {
    /// The node for a change that one side alone makes under a key.
    fileprivate func node(
        of side: Side,
        _ base: Value?,
        _ place: MergePlace,
        _ insertions: inout [Insertion]
    ) -> MergeNode {
        if case .remove = self, let base, place.rules?.isUnion == true {
            let sides = Sides<Value?>(
                ours: side == .ours ? nil : base,
                theirs: side == .theirs ? nil : base
            )
            return .decided(base, MergeVersions(base: base, sides: sides))
        }
        guard base == nil, case .apply(.set(let value)) = self else { return .one(side, self) }
        let insertion = Insertion(side, value, place)
        insertions.append(insertion)
        return .inserted(insertion)
    }
}

extension Value {
    /// Whether this is a container with something in it.
    var isFilled: Bool {
        switch self {
        case .list(let items): !items.isEmpty
        case .map(let map): !map.isEmpty
        default: false
        }
    }
}

// MARK: - Changes that are close to each other

extension MergedMap {
    private static let partlyMax = 8
    /// Only small records are checked for nearby changes.
    private static let smallMax = 12
    private static let sameActMin = 5
    /// The least number of one-sided changes for a notice.
    private static let closeMin = 3

    /// Whether the two changes are so close that people should look at them: both sides made part
    /// of their changes alike, or one edited a field of a small record while the other added or
    /// removed one, as if to give the field a new name.
    var isDoubtful: Bool {
        if place.isNew || isOfTwoItems { return isOfTwoItems }
        var tally = FieldTally(fieldCount: base.count)
        for (key, node) in entries { tally.note(node, base: base[key]) }
        let alone = tally.alone
        let aloneCount = alone.ours + alone.theirs
        if tally.same > 0, aloneCount > 0 {
            let isPartly = alone.ours > 0 && alone.theirs > 0
            if isPartly, tally.fieldCount <= Self.partlyMax { return true }
            if tally.same >= Self.sameActMin, tally.same >= 4 * aloneCount { return true }
            if tally.isRemovedByBoth, tally.added.ours + tally.added.theirs > 0 { return true }
        }
        guard tally.fieldCount <= Self.smallMax, aloneCount >= Self.closeMin else { return false }
        return Side.allCases.contains { side in
            tally.edited[side] > 0 && tally.added[side.other] + tally.removed[side.other] > 0
        }
    }
}

/// How many fields of a record the sides have changed, and in which way.
private struct FieldTally {
    /// The fields of the base and the new ones.
    private(set) var fieldCount: Int
    /// Those that both sides changed alike.
    private(set) var same = 0
    private(set) var isRemovedByBoth = false
    // Those that one side changed.
    private(set) var edited = Sides(both: 0)
    private(set) var removed = Sides(both: 0)
    private(set) var added = Sides(both: 0)
    private var others = Sides(both: 0)

    init(fieldCount: Int) { self.fieldCount = fieldCount }

    /// How many fields each side changed alone.
    var alone: Sides<Int> {
        func alone(_ side: Side) -> Int {
            edited[side] + added[side] + removed[side] + others[side]
        }
        return Sides(ours: alone(.ours), theirs: alone(.theirs))
    }

    mutating func note(_ node: MergeNode, base: Value?) {
        switch node {
        case .same(let change):
            same += 1
            if case .remove = change { isRemovedByBoth = true }
            if base == nil { fieldCount += 1 }
        case .one(let side, .apply(let delta)):
            if base?.isScalar == true, delta.isScalar {
                edited[side] += 1
            } else {
                others[side] += 1
            }
        case .one(let side, .remove): removed[side] += 1
        case .inserted(let insertion) where !insertion.isDestination:
            added[insertion.side] += 1
            fieldCount += 1
        default: break
        }
    }
}

extension Delta {
    /// Whether this sets a scalar, or changes one.
    fileprivate var isScalar: Bool {
        switch self {
        case .set(let value): value.isScalar
        case .text, .increment: true
        case .keep, .map, .list: false
        }
    }
}
