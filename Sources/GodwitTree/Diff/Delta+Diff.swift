// Finding the change between two values.
//
// Equal parts are found by their digests and cost nothing. Maps are compared key by key. In lists
// the same item is looked for on both sides (`ListMatching`); what stays in order is left in
// place, what does not moves, and what differs inside is edited. Prose is compared by words
// (`TextDiff`).

extension Delta {
    /// The change that leads from `old` to `new`; `keep` exactly when they are equal.
    ///
    /// If a set is more than 16 bytes shorter, diff returns the set. To a merge it is all the same.
    ///
    /// Items of lists are told apart by an identity: a field that has a scalar in each item, each its
    /// own, in all versions. The usual names, such as `id`, `key`, `name`, `title` or `sku`, go
    /// first, whatever their case; else the field that most items keep. Items without an identity are
    /// found by equal content; then rows by the text that they begin with, if it is their own and no
    /// other row is more like them; then by resemblance (half of their words, where those that most
    /// items have do not count); then by their place between the same two neighbours. An item with
    /// another declared identity is another item, and so is an unequal one without an identity under
    /// the rule union.
    ///
    /// - Parameters:
    ///   - old: The value before.
    ///   - new: The value after.
    ///   - policy: Where it declares by which key the items of a list are told apart, that key is used.
    ///   - inPieces: Whether to return separate changes even if a set is shorter.
    /// - Complexity: O(*n* log *n*) in the sizes of the lists that differ, O(*n*) for the rest,
    ///   and nothing for equal chunks whose digests are known.
    public static func diff(
        _ old: Value,
        _ new: Value,
        policy: MergePolicy = .standard,
        inPieces: Bool = false
    ) -> Delta {
        let delta = diff(old, new, policy.root)
        return !inPieces && delta.isLonger(thanToSet: new) ? .set(new) : delta
    }

    private func isLonger(thanToSet new: Value) -> Bool {
        let limit = canonicalBytes.count - 16
        // A number is taken for five bytes, and may be one.
        guard limit > 0, new.isEncoded(within: 5 * limit) else { return false }
        return Delta.set(new).canonicalBytes.count < limit
    }

    /// The change in pieces, by the rules of one place.
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
        old.changes(to: new).map { change in
            let rules = rules?.child(.key(change.key))
            return MapDelta.Entry(key: change.key, change: change.diffed(rules))
        }
    }

    private static func diff(
        _ old: Value.List,
        _ new: Value.List,
        _ rules: MergePolicy.Node?
    ) -> ListRecipe {
        let window = ListWindow(old, new)
        let identity = rules?.identity ?? ItemIdentity(of: window.surroundings)
        return window.recipe(window.matching(identity, rules)) { position, old, new in
            diff(old, new, rules?.child(.position(position)))
        }
    }
}
