// Containers that a side has set whole, as changes inside of them.

extension Sides<Delta> {
    /// The changes inside a container that at least one side has set whole; nil unless both sides
    /// have one of its kind there.
    func inside(_ base: Value, _ rules: MergePolicy.Node?) -> Sides<Delta>? {
        guard Side.allCases.contains(where: { self[$0].isSet }) else { return nil }
        let values = map { base.changed(by: $0) }
        switch (base, values.ours, values.theirs) {
        case (.map, .map, .map), (.list, .list, .list): break
        default: return nil
        }
        var inside = self
        if ours.isSet, theirs.isSet {
            inside = Delta.diff(base, values, rules)
        } else {
            for side in Side.allCases where self[side].isSet {
                inside[side] = .diff(base, values[side], rules)
            }
        }
        return inside == self ? nil : inside
    }

    /// These changes, told inside each container that a side has set whole and the other one keeps or
    /// changes.
    ///
    /// - Complexity: O(*k* log *n*) for changes of *k* places, and that of a diff for each set.
    func opened(_ base: Value, _ rules: MergePolicy.Node?) -> Sides<Delta> {
        guard ours != .keep, theirs != .keep, ours != theirs else { return self }
        if let inside = inside(base, rules) { return inside.opened(base, rules) }
        guard case (.map(let map), .map(let ours), .map(let theirs)) = (base, ours, theirs) else {
            return self
        }
        var entries = Sides<[MapDelta.Entry]>(both: [])
        MapDelta.walk(ours, theirs) { key, our, their in
            var changes = Sides<MapDelta.Change?>(ours: our, theirs: their)
            if let value = map[key], our != .remove, their != .remove {
                let (sides, rules) = (changes.map { $0?.delta ?? .keep }, rules?.child(.key(key)))
                let areBoth = our != nil && their != nil
                let opened = areBoth ? sides.opened(value, rules) : sides.inside(value, rules)
                changes = (opened ?? sides).map { $0 == .keep ? nil : .apply($0) }
            }
            for side in Side.allCases {
                guard let change = changes[side] else { continue }
                entries[side].append(MapDelta.Entry(key: key, change: change))
            }
        }
        return entries.map { .map($0) }
    }
}

extension Delta {
    fileprivate var isSet: Bool { if case .set = self { true } else { false } }
}
