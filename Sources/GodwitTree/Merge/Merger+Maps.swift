extension Merger {
    mutating func mergeMaps(
        _ base: Value.Map,
        _ deltas: Sides<Delta>,
        _ place: MergePlace,
        isFresh: Bool = false
    ) -> MergeNode {
        guard case .map(let ours) = deltas.ours, case .map(let theirs) = deltas.theirs else {
            return merge(.map(base), deltas, place)
        }
        let map = MergedMap(base, deltas, place, isFresh: isFresh)
        let changes = Sides(ours: ours, theirs: theirs)
        let renames = renames(base, changes)
        MapDelta.walk(ours, theirs) { key, our, their in
            let sides = Sides(ours: our, theirs: their)
            let place = place.child(.key(key))
            let node: MergeNode
            if let rename = renames[key] {
                node = merge(rename, key, base, changes, place)
            } else {
                node = merge(base[key], sides, place)
            }
            map.entries.append((key, node))
        }
        if !isFresh { map.isDoubtful = map.hasNeighbouringChanges }
        return .map(map)
    }

    /// What happens under one key.
    private mutating func merge(
        _ base: Value?,
        _ changes: Sides<MapDelta.Change?>,
        _ place: MergePlace
    ) -> MergeNode {
        switch (changes.ours, changes.theirs) {
        case (nil, nil): return .kept
        case (nil, .apply(let edit)?) where base != nil:
            return merge(base, Sides(ours: .keep, theirs: edit), place)
        case (.apply(let edit)?, nil) where base != nil:
            return merge(base, Sides(ours: edit, theirs: .keep), place)
        case (nil, let change?): return change.node(of: .theirs, base, place, &insertions)
        case (let change?, nil): return change.node(of: .ours, base, place, &insertions)
        case (.remove?, .remove?): return .same(.remove)
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
    /// The node for what one side alone does under a key.
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
        let insertion = Insertion(side, value)
        insertions.append(insertion)
        return .inserted(insertion)
    }
}

// MARK: - Renamed keys

extension Merger {
    /// A key that one side gave another name while the other changed what is under it.
    private struct Rename {
        let side: Side
        let old: Key
        let new: Key
    }

    private static let renameScoreMin = 0.9
    private static let renamePairsMax = 4_000

    /// The renames that matter, by both of their keys.
    private func renames(_ base: Value.Map, _ changes: Sides<MapDelta>) -> [Key: Rename] {
        var renames: [Key: Rename] = [:]
        for side in Side.allCases {
            let gone = changes[side].entries.filter { entry in
                guard case .remove = entry.change, base[entry.key]?.isFilled == true,
                    case .apply? = changes[side.other][entry.key]
                else { return false }
                return true
            }
            guard !gone.isEmpty else { continue }
            var new = changes[side].entries.compactMap { entry -> (key: Key, value: Value)? in
                guard case .apply(.set(let value)) = entry.change, value.isFilled,
                    base[entry.key] == nil, changes[side.other][entry.key] == nil
                else { return nil }
                return (entry.key, value)
            }
            guard gone.count * new.count <= Self.renamePairsMax else { continue }
            var bags = new.map { Resemblance($0.value) }
            for key in gone.map(\.key) {
                guard let value = base[key] else { continue }
                let bag = Resemblance(value)
                let scores = bags.map { bag.score(with: $0) }
                guard let score = scores.max(), score >= Self.renameScoreMin,
                    let index = scores.firstIndex(of: score),
                    scores.count(where: { $0 == score }) == 1
                else { continue }
                bags.remove(at: index)
                let rename = Rename(side: side, old: key, new: new.remove(at: index).key)
                (renames[rename.old], renames[rename.new]) = (rename, rename)
            }
        }
        return renames
    }

    private mutating func merge(
        _ rename: Rename,
        _ key: Key,
        _ base: Value.Map,
        _ changes: Sides<MapDelta>,
        _ place: MergePlace
    ) -> MergeNode {
        guard let old = base[rename.old],
            case .apply(.set(let value))? = changes[rename.side][rename.new],
            case .apply(let edit)? = changes[rename.side.other][rename.old]
        else { return .kept }
        if key == rename.old {
            var sides = Sides<Value?>(both: nil)
            sides[rename.side.other] = old.changed(by: edit)
            let choice = MergeChoice(
                .removedAndEdited,
                MergeVersions(base: old, sides: sides),
                place
            )
            choice.picked = rename.side
            return .open(choice)
        }
        let insertion = Insertion(rename.side, value)
        insertion.origin = (old, moved(insertion, old, edit, place))
        return .inserted(insertion)
    }

    /// What both sides did to a value that one of them put elsewhere.
    mutating func moved(
        _ insertion: Insertion,
        _ base: Value,
        _ edit: Delta,
        _ place: MergePlace
    ) -> MergeNode {
        var deltas = Sides(both: edit)
        deltas[insertion.side] = .diff(base, insertion.value, place.rules)
        return merge(base, deltas, place)
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
    /// Small records are one thing to people: in larger ones, neighbours mean nothing.
    private static let partlyMax = 8
    private static let smallMax = 12
    private static let sameActMin = 5
    /// One small change on each side is no reason to look.
    private static let closeMin = 3

    /// Whether both sides made part of their changes alike, or one edited a field of a small
    /// record while the other added or removed one: the field may have a new name.
    fileprivate var hasNeighbouringChanges: Bool {
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
            case .inserted(let insertion):
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
