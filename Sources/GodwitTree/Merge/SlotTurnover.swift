// Items of lists that took the places of others, where a diff took them for edits of those.
//
// A card may leave its list for another one, and another card may come into its place in the same
// step. The two look like one card under a new name, and the other side's edit of the old card
// would land on the new one.
//
//   (1) An edit that leaves nothing of what names an item may be such a turnover: each usual name is
//       another one; without any, each text; or the item is set as a whole.
//   (2) It is one if the same change removes the new item elsewhere, or puts the old item in
//       elsewhere. An item is the same by its content, if that says enough (`isDistinctive`), or by
//       its `id`; a number as `id` counts together with equal texts.
//   (3) A turnover becomes a removal and a new item: so each is found again where it went.
//
// Without an edit of the kind (1), the change is walked once and nothing is named.

extension Value {
    /// The change, with removals and new items for edits that put another item in a place.
    ///
    /// - Complexity: O(*k* log *n*) for a change of *k* places; O(size of the change) where one of
    ///   its edits leaves no name of an item.
    func withoutTurnovers(_ delta: Delta) -> Delta {
        guard hasTurnover(delta) else { return delta }
        var turnover = SlotTurnover()
        turnover.note(delta, of: self)
        return turnover.separated(delta, of: self)
    }

    private func hasTurnover(_ delta: Delta) -> Bool {
        switch (delta, self) {
        case (.map(let delta), .map(let map)):
            delta.entries.contains { entry in
                guard case .apply(let change) = entry.change else { return false }
                return map[entry.key]?.hasTurnover(change) == true
            }
        case (.list(let delta), .list(let items)):
            delta.recipe.runs.contains { run in
                guard case .edited(let position, let change) = run else { return false }
                let item = items[position]
                return item.isRenamed(by: change) || item.hasTurnover(change)
            }
        default: false
        }
    }

    /// Whether an edit of an item leaves nothing of what names it.
    fileprivate func isRenamed(by delta: Delta) -> Bool {
        switch (delta, self) {
        case (.set, .map), (.set, .string), (.text, .string): return true
        case (.map(let delta), .map(let map)):
            let names = map.filter {
                ItemIdentity.isUsual($0.key) && $0.value.isScalar && $0.value != .null
            }
            let fields = names.isEmpty ? map.filter { $0.value.text != nil } : names
            return !fields.isEmpty && fields.allSatisfy { delta[$0.key] != nil }
        default: return false
        }
    }
}

/// What a change takes out of the places of a value, and what it puts in.
private struct SlotTurnover {
    private enum Name: Hashable {
        case content(ItemContent)
        case identity(Value)
    }

    private var departed: [Name: Int] = [:]
    private var arrived: [Name: Int] = [:]
}

// MARK: - Names

extension SlotTurnover {
    mutating func note(_ delta: Delta, of base: Value) {
        switch (delta, base) {
        case (.set(let value), _):
            Self.count(base, in: &departed)
            Self.count(value, in: &arrived)
        case (.map(let delta), .map(let map)):
            for entry in delta.entries {
                switch (map[entry.key], entry.change) {
                case (let value?, .remove): Self.count(value, in: &departed)
                case (let value?, .apply(let change)): note(change, of: value)
                case (nil, .apply(.set(let value))): Self.count(value, in: &arrived)
                case (nil, _): break
                }
            }
        case (.list(let delta), .list(let items)):
            for position in delta.recipe.removes.joined() {
                Self.count(items[position], isItem: true, in: &departed)
            }
            for run in delta.recipe.runs {
                switch run {
                case .kept: break
                case .new(let item): Self.count(item, isItem: true, in: &arrived)
                case .edited(let position, let change): noteItem(items[position], change)
                }
            }
        default: break
        }
    }

    private mutating func noteItem(_ item: Value, _ change: Delta) {
        if item.isRenamed(by: change) {
            for name in Self.names(of: item) { departed[name, default: 0] += 1 }
            for name in Self.names(of: item.changed(by: change)) { arrived[name, default: 0] += 1 }
        }
        if case .set = change, item.isScalar { return }
        note(change, of: item)
    }

    /// Counts the names of a value and of all records and items in it.
    private static func count(_ value: Value, isItem: Bool = false, in counts: inout [Name: Int]) {
        if isItem || value.map != nil {
            for name in names(of: value) { counts[name, default: 0] += 1 }
        }
        switch value {
        case .map(let map): for entry in map { count(entry.value, in: &counts) }
        case .list(let items): for item in items { count(item, isItem: true, in: &counts) }
        default: break
        }
    }

    private static func names(of item: Value) -> Set<Name> {
        var names: Set<Name> = []
        if item.isDistinctive { names.insert(.content(ItemContent(item))) }
        if let name = item.usualName {
            names.insert(.identity(item.isSurelyNamed ? name : .list([name, .map(item.texts)])))
        }
        return names
    }
}

// MARK: - Separation

extension SlotTurnover {
    func separated(_ delta: Delta, of base: Value) -> Delta {
        switch (delta, base) {
        case (.map(let delta), .map(let map)):
            .map(
                delta.entries.map { entry in
                    guard case .apply(let change) = entry.change, let value = map[entry.key] else {
                        return entry
                    }
                    return MapDelta.Entry(
                        key: entry.key,
                        change: .apply(separated(change, of: value))
                    )
                }
            )
        case (.list(let delta), .list(let items)): .list(separated(delta.recipe, of: items))
        default: delta
        }
    }

    private func separated(_ recipe: ListRecipe, of items: Value.List) -> ListRecipe {
        var result = ListRecipe()
        for run in recipe.runs {
            guard case .edited(let position, let change) = run else {
                result.append(run)
                continue
            }
            let item = items[position]
            if item.isRenamed(by: change), isTurnover(item, change) {
                result.append(.new(item.changed(by: change)))
            } else {
                result.append(.edited(position, separated(change, of: item)))
            }
        }
        result.finish(tail: recipe.tail)
        return result
    }

    /// Whether the new item came from elsewhere, or the old one went elsewhere.
    private func isTurnover(_ item: Value, _ change: Delta) -> Bool {
        let (old, new) = (Self.names(of: item), Self.names(of: item.changed(by: change)))
        return new.contains { departed[$0, default: 0] > (old.contains($0) ? 1 : 0) }
            || old.contains { arrived[$0, default: 0] > (new.contains($0) ? 1 : 0) }
    }
}
