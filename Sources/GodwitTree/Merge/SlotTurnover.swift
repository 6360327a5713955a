// Items of lists that took the places of others, where a diff took them for edits of those.
//
// A card may leave its list for another one, and another card may come into its place in the same
// step. The two look like one card under a new name, and the other side's edit of the old card
// would land on the new one.
//
//   (1) An edit after which an item has other values in each field that names it may be such a
//       turnover: in its declared identity, or in all usual names, or, without any, in all texts.
//   (2) It is one if the same change removes the new item elsewhere, with this content
//       (`isDistinctive`). If old and new have less than half of their words in common, it is one
//       also if the old item arrives elsewhere, or if the two are told by an `id`. A number as
//       `id` counts together with equal texts. An old version that is kept elsewhere is a copy.
//   (3) A turnover becomes a removal and a new item: so each is found again where it went.
//   (4) An edit that adds to an int, and the items of a list with a rule, stay as they are.
//
// Without an edit of the kind (1), the change is walked once and nothing is named.

extension Value {
    /// The change, with removals and new items for edits that put another item in a place.
    ///
    /// - Complexity: O(*k* log *n*) for a change of *k* places; O(*m*) where an item has another
    ///   name, for *m* elements in all that comes and goes.
    func withoutTurnovers(_ delta: Delta, _ rules: MergePolicy.Node?) -> Delta {
        guard hasTurnover(delta, rules) else { return delta }
        var turnover = SlotTurnover()
        turnover.note(delta, of: self, rules)
        return turnover.separated(delta, of: self, rules)
    }

    private func hasTurnover(_ delta: Delta, _ rules: MergePolicy.Node?) -> Bool {
        switch (delta, self) {
        case (.map(let delta), .map(let map)):
            delta.entries.contains { entry in
                guard case .apply(let change) = entry.change else { return false }
                return map[entry.key]?.hasTurnover(change, rules?.child(.key(entry.key))) == true
            }
        case (.list(let delta), .list(let items)):
            delta.recipe.runs.contains { run in
                guard case .edited(let position, let change) = run else { return false }
                let item = items[position]
                return item.isRenamed(by: change, in: rules)
                    || item.hasTurnover(change, rules?.child(.position(position)))
            }
        default: false
        }
    }

    /// Whether an edit of an item of a list leaves nothing of what names it.
    ///
    /// - Parameter rules: Those of the list.
    fileprivate func isRenamed(by delta: Delta, in rules: MergePolicy.Node?) -> Bool {
        guard rules?.rule == nil else { return false }
        switch (delta, self) {
        case (.set, .string), (.text, .string): return true
        case (.set, .map), (.map, .map):
            guard !delta.hasIncrement else { return false }
            if let identity = rules?.identity, let name = identity.name(of: self) {
                return identity.name(of: changed(by: delta)) != name
            }
            guard mayRename(delta) else { return false }
            let new = changed(by: delta)
            let fields = namingFields
            return !fields.isEmpty && fields.allSatisfy { new[$0.key] != $0.value }
        default: return false
        }
    }

    /// Whether a change touches a text or a usual name: a look at the change alone.
    private func mayRename(_ delta: Delta) -> Bool {
        guard case .map(let delta) = delta else { return true }
        return delta.entries.contains {
            ItemIdentity.isUsual($0.key) || self[$0.key]?.text != nil
        }
    }

    /// The usual names of a record; its texts, if it has none.
    private var namingFields: [Map.Element] {
        guard case .map(let map) = self else { return [] }
        let names = map.filter {
            ItemIdentity.isUsual($0.key) && $0.value.isScalar && $0.value != .null
        }
        return names.isEmpty ? map.filter { $0.value.text != nil } : names
    }
}

/// What a change takes out of the places of a value, and what it puts in.
private struct SlotTurnover {
    private enum Name: Hashable {
        case content(ItemContent)
        case identity(Value)

        var isContent: Bool { if case .content = self { true } else { false } }
    }

    private var departed: [Name: Int] = [:]
    private var arrived: [Name: Int] = [:]

    private static let alikeScoreMin = 0.5
}

// MARK: - Names

extension SlotTurnover {
    mutating func note(_ delta: Delta, of base: Value, _ rules: MergePolicy.Node?) {
        switch (delta, base) {
        case (.set(let value), _):
            Self.count(base, in: &departed)
            Self.count(value, in: &arrived)
        case (.map(let delta), .map(let map)):
            for entry in delta.entries {
                switch (map[entry.key], entry.change) {
                case (let value?, .remove): Self.count(value, in: &departed)
                case (let value?, .apply(let change)):
                    note(change, of: value, rules?.child(.key(entry.key)))
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
                case .edited(let position, let change):
                    noteItem(items[position], change, rules, at: position)
                }
            }
        default: break
        }
    }

    private mutating func noteItem(
        _ item: Value,
        _ change: Delta,
        _ rules: MergePolicy.Node?,
        at position: Int
    ) {
        if item.isRenamed(by: change, in: rules) {
            for name in Self.names(of: item) { departed[name, default: 0] += 1 }
            for name in Self.names(of: item.changed(by: change)) { arrived[name, default: 0] += 1 }
        }
        if case .set(let value) = change {
            Self.countParts(of: item, in: &departed)
            Self.countParts(of: value, in: &arrived)
        } else {
            note(change, of: item, rules?.child(.position(position)))
        }
    }

    /// Counts the names of a value, and of all records and items in it.
    private static func count(_ value: Value, isItem: Bool = false, in counts: inout [Name: Int]) {
        if isItem || value.map != nil {
            for name in names(of: value) { counts[name, default: 0] += 1 }
        }
        countParts(of: value, in: &counts)
    }

    private static func countParts(of value: Value, in counts: inout [Name: Int]) {
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
    func separated(_ delta: Delta, of base: Value, _ rules: MergePolicy.Node?) -> Delta {
        switch (delta, base) {
        case (.map(let delta), .map(let map)):
            .map(
                delta.entries.map { entry in
                    guard case .apply(let change) = entry.change, let value = map[entry.key] else {
                        return entry
                    }
                    let part = separated(change, of: value, rules?.child(.key(entry.key)))
                    return MapDelta.Entry(key: entry.key, change: .apply(part))
                }
            )
        case (.list(let delta), .list(let items)):
            .list(separated(delta.recipe, of: items, rules))
        default: delta
        }
    }

    private func separated(
        _ recipe: ListRecipe,
        of items: Value.List,
        _ rules: MergePolicy.Node?
    ) -> ListRecipe {
        var result = ListRecipe()
        for run in recipe.runs {
            guard case .edited(let position, let change) = run else {
                result.append(run)
                continue
            }
            let item = items[position]
            if item.isRenamed(by: change, in: rules), isTurnover(item, item.changed(by: change)) {
                result.append(.new(item.changed(by: change)))
            } else {
                let part = separated(change, of: item, rules?.child(.position(position)))
                result.append(.edited(position, part))
            }
        }
        result.finish(tail: recipe.tail)
        return result
    }

    /// Whether the new item came from elsewhere, or the old one went elsewhere.
    private func isTurnover(_ item: Value, _ new: Value) -> Bool {
        let (oldNames, newNames) = (Self.names(of: item), Self.names(of: new))
        let came = newNames.filter { departed[$0, default: 0] > (oldNames.contains($0) ? 1 : 0) }
        if came.contains(where: \.isContent) { return true }
        let went = oldNames.filter { arrived[$0, default: 0] > (newNames.contains($0) ? 1 : 0) }
        guard !came.isEmpty || !went.isEmpty else { return false }
        return Resemblance(item).score(with: Resemblance(new)) < Self.alikeScoreMin
    }
}
