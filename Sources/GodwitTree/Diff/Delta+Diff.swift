// Finding the change between two values.
//
// Equal parts are found by their digests and cost nothing. Maps are compared key by key. In lists
// the same item is looked for on both sides (`ListMatching`); what stays in order is left in
// place, what does not moves, and what differs inside is edited. Prose is compared by words
// (`TextDiff`).

extension Delta {
    /// The change that leads from `old` to `new`; `keep` exactly when they are equal.
    ///
    /// Where little is left of `old`, to set `new` says it in fewer bytes: a change is at most 64
    /// bytes longer than that. To a merge it is all the same.
    ///
    /// - Parameter policy: Where it declares by which key the items of a list are told apart,
    ///   that key is used.
    /// - Complexity: O(*n* log *n*) in the sizes of the lists that differ, O(*n*) for the rest,
    ///   and nothing for equal chunks whose digests are known.
    public static func diff(
        _ old: Value,
        _ new: Value,
        policy: MergePolicy = .standard
    ) -> Delta {
        let delta = diff(old, new, policy.root)
        return delta.isMuchLonger(thanToSet: new) ? .set(new) : delta
    }

    private func isMuchLonger(thanToSet new: Value) -> Bool {
        let limit = canonicalBytes.count - 64
        // A number is taken for five bytes, and may be one.
        guard limit > 0, new.isEncoded(within: 5 * limit) else { return false }
        return Delta.set(new).canonicalBytes.count < limit
    }

    /// The same, piece by piece however long that is, for what looks at the pieces.
    static func diff(_ old: Value, _ new: Value, _ rules: MergePolicy.Node?) -> Delta {
        switch (old, new) {
        case (.map(let old), .map(let new)):
            return old.tree.isSame(as: new.tree) ? .keep : .map(diff(old, new, rules))
        case (.list(let old), .list(let new)):
            return old.tree.isSame(as: new.tree) ? .keep : .list(diff(old, new, rules))
        case (.string(let oldText), .string(let newText)):
            if oldText == newText { return .keep }
            return TextDiff.delta(from: oldText, to: newText) ?? .set(new)
        default:
            return old == new ? .keep : .set(new)
        }
    }

    private static func diff(
        _ old: Value.Map,
        _ new: Value.Map,
        _ rules: MergePolicy.Node?
    ) -> [MapDelta.Entry] {
        let (oldRange, newRange) = old.tree.differingRanges(from: new.tree)
        var changes: [MapDelta.Entry] = []
        var rest = old[oldRange]
        for entry in new[newRange] {
            while let gone = rest.first, gone.key < entry.key {
                changes.append(MapDelta.Entry(key: gone.key, change: .remove))
                rest.removeFirst()
            }
            var delta = Delta.set(entry.value)
            if let same = rest.first, same.key == entry.key {
                rest.removeFirst()
                delta = diff(same.value, entry.value, rules?.child(.key(entry.key)))
                if delta == .keep { continue }
            }
            changes.append(MapDelta.Entry(key: entry.key, change: .apply(delta)))
        }
        changes += rest.map { MapDelta.Entry(key: $0.key, change: .remove) }
        return changes
    }

    private static func diff(
        _ old: Value.List,
        _ new: Value.List,
        _ rules: MergePolicy.Node?
    ) -> ListRecipe {
        let (oldRange, newRange) = old.tree.differingRanges(from: new.tree)
        var matching = ListMatching(
            old: Array(old[oldRange]),
            new: Array(new[newRange]),
            declared: rules?.identity
        )
        matching.matchAll()

        var recipe = ListRecipe()
        recipe.append(.kept(0..<oldRange.lowerBound))
        for (value, source) in zip(matching.new, matching.sources) {
            if let source {
                let position = oldRange.lowerBound + source
                let delta = diff(matching.old[source], value, rules?.child(.position(position)))
                recipe.append(.edited(position, delta))
            } else {
                recipe.append(.new(value))
            }
        }
        recipe.finish(tail: oldRange.upperBound)
        return recipe
    }
}
