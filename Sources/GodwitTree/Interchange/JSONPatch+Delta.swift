// From a patch to a delta, and back.
//
// The deltas of the operations are composed in pairs, and the results again, so that k operations
// cost O(k log k). What a `replace` really changes is found at the end, by comparing with the base.

extension JSONPatch {
    /// The change that this patch makes to `base`, with what its operations meant: what is moved
    /// within a list moves, and what is replaced inside an item is an edit of that item.
    ///
    /// What a `replace` puts in the place of an old value is compared with it, as by
    /// ``Delta/diff(_:_:policy:inPieces:)``. What moves from one container to another is removed
    /// there and put in here. A `test` leaves nothing behind.
    ///
    /// - Complexity: O(*k* log *k*) for *k* operations, and what the differences cost of containers
    ///   that are replaced.
    /// - Throws: What ``applied(to:budget:)`` throws.
    public func delta(
        on base: Value,
        budget: ReadBudget = .standard
    ) throws(TreeError) -> Delta {
        // What fails, or is too large, is refused before anything is composed.
        _ = try applied(to: base, budget: budget)
        var machine = PatchMachine(document: base, budget: budget)
        var composition = Composition()
        for operation in operations { try composition.append(machine.perform(operation)) }
        return try composition.whole().refined(on: base)
    }
}

/// Deltas that follow each other, composed like the digits of a binary number are added up.
private struct Composition {
    /// Each is of twice as many deltas as the next, or more.
    private var parts: [(delta: Delta, count: Int)] = []

    mutating func append(_ delta: Delta) throws(TreeError) {
        guard delta != .keep else { return }
        parts.append((delta, 1))
        while parts.count > 1, parts[parts.count - 2].count == parts[parts.count - 1].count {
            try joinLast()
        }
    }

    mutating func whole() throws(TreeError) -> Delta {
        while parts.count > 1 { try joinLast() }
        return parts.first?.delta ?? .keep
    }

    private mutating func joinLast() throws(TreeError) {
        let last = parts.removeLast()
        let before = parts.removeLast()
        let both = try before.delta.composed(with: last.delta)
        parts.append((both, before.count + last.count))
    }
}

extension Delta {
    /// The same change of this base, with no part that leaves it as it is, and with differences in
    /// the place of whole values; the delta is known to fit.
    fileprivate func refined(on base: Value) -> Delta {
        switch (self, base) {
        case (.set(let value), _): return .diff(base, value)
        case (.map(let delta), .map(let map)):
            let entries = delta.entries.compactMap { entry -> MapDelta.Entry? in
                switch (map[entry.key], entry.change) {
                case (nil, .remove): nil
                case (let old?, .apply(let delta)):
                    MapDelta.Entry(key: entry.key, change: .apply(delta.refined(on: old)))
                default: entry
                }
            }
            return .map(entries)
        case (.list(let delta), .list(let items)):
            let recipe = delta.recipe.replacingEdits { position, delta in
                .edited(position, delta.refined(on: items[position]))
            }
            return .list(recipe)
        default:
            return self
        }
    }
}
