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
        MapDelta.walk(ours, theirs) { key, our, their in
            let sides = Sides(ours: our, theirs: their)
            let place = place.child(.key(key))
            map.entries.append((key, merge(base[key], sides, place)))
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
                return mergeCreated(nil, Sides(ours: our, theirs: their), place)
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

    var isScalar: Bool {
        switch self {
        case .list, .map: false
        default: true
        }
    }
}

// MARK: - Changes that are close to each other

extension MergedMap {
    /// Only small records are checked for nearby changes.
    private static let partlyMax = 8
    private static let smallMax = 12
    private static let sameActMin = 5
    /// The least number of one-sided changes for a notice.
    private static let closeMin = 3

    /// Whether the two changes are so close that people should look at them: both sides made part
    /// of their changes alike, or one edited a field of a small record while the other added or
    /// removed one, as if to give the field a new name.
    var isDoubtful: Bool {
        if place.isNew || isOfTwoItems { return isOfTwoItems }
        var (same, edited, isRemovedByBoth) = (0, Sides(both: 0), false)
        var (removed, added) = (Sides(both: 0), Sides(both: 0))
        var (others, sizes) = (Sides(both: 0), base.count)
        for (key, node) in entries {
            switch node {
            case .same(let change):
                same += 1
                if case .remove = change { isRemovedByBoth = true }
                if base[key] == nil { sizes += 1 }
            case .one(let side, .apply(let delta)):
                if base[key]?.isScalar == true, delta.isScalar {
                    edited[side] += 1
                } else {
                    others[side] += 1
                }
            case .one(let side, .remove): removed[side] += 1
            case .inserted(let insertion) where !insertion.isDestination:
                added[insertion.side] += 1
                sizes += 1
            default: break
            }
        }
        func alone(_ side: Side) -> Int {
            edited[side] + added[side] + removed[side] + others[side]
        }
        let lone = alone(.ours) + alone(.theirs)
        if same > 0, lone > 0 {
            if sizes <= Self.partlyMax, alone(.ours) > 0, alone(.theirs) > 0 { return true }
            if same >= Self.sameActMin, same >= 4 * lone { return true }
            if isRemovedByBoth, added.ours + added.theirs > 0 { return true }
        }
        guard sizes <= Self.smallMax, lone >= Self.closeMin else { return false }
        return Side.allCases.contains { side in
            edited[side] > 0 && added[side.other] + removed[side.other] > 0
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
