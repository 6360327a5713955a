// Items of lists that took the places of others, where a diff took them for edits of those.
//
// A card may leave its list for another one, and another card may come into its place in the same
// step. The two look like one card under a new name, and the other side's edit of the old card
// would land on the new one.
//
//   (1) An edit after which an item has other values in each field that names it may be such a
//       turnover: in its declared identity, in its `id`, or in all usual names, or, without any, in
//       all texts.
//   (2) Names and content that the same change removes or inserts elsewhere say whether it is one
//       (`SlotDecision`).
//   (3) A turnover becomes a removal and a new item: so each is found again where it went. Where the
//       names say that it may be one, and no more, both sides' edits stay together and are reported.
//   (4) An edit that adds to an int, the items of a list with a rule, and the cells of a row stay as
//       they are.
//
// Without an edit of the kind (1), the change is walked once and nothing is named.

/// Where a value is.
struct SlotPlace {
    let rules: MergePolicy.Node?
    /// Whether it is an item of a list.
    let isItem: Bool

    func child(_ step: ValuePath.Step) -> SlotPlace {
        let isItem = if case .position = step { true } else { false }
        return SlotPlace(rules: rules?.child(step), isItem: isItem)
    }
}

/// A side's removals and edits of the items of a list.
struct ItemChanges {
    /// The items that it removes or moves to another list.
    private(set) var gone: Set<Int> = []
    private(set) var edits: [Int: Delta] = [:]

    init(_ delta: Delta) {
        guard case .list(let delta) = delta else { return }
        let recipe = delta.recipe
        gone = Set(recipe.removes.joined())
        edits = recipe.edits
    }
}

extension Delta {
    /// The change of a value in a map.
    fileprivate func change(of key: Key) -> Delta {
        guard case .map(let delta) = self else { return .keep }
        return delta[key]?.delta ?? .keep
    }
}

/// The names that a change takes out of the places of a value, and those that it puts in.
struct SlotTurnover {
    enum Name: Hashable {
        /// An `id` that is more than a number.
        case id(Value)
        case content(ItemContent)
        /// A number as `id`, with all texts.
        case number(Value, Value.Map)
        /// Any other name of an item, which others may have too.
        case label(Value.Map)

        var isID: Bool { if case .id = self { true } else { false } }
        var isContent: Bool { if case .content = self { true } else { false } }
        var isNumber: Bool { if case .number = self { true } else { false } }
        var isLabel: Bool { if case .label = self { true } else { false } }
    }

    /// The removed items by their names.
    private(set) var removed: [Name: Value] = [:]
    /// The inserted items by their names.
    private(set) var inserted: [Name: Value] = [:]
    /// How many items that were inserted, or got other texts, have these.
    private var insertedTexts: [Value.Map: Int] = [:]
    private(set) var departed: [Name: Int] = [:]
    private(set) var arrived: [Name: Int] = [:]
    /// Edits of items that may be turnovers.
    private(set) var doubtful: Set<ValuePath> = []
    /// Turnovers of items that may have been copied.
    private(set) var unsure: Set<ValuePath> = []
    private var path = ValuePath()
}

// MARK: - Names

extension SlotTurnover {
    init(_ delta: Delta, of base: Value, _ place: SlotPlace) { note(delta, of: base, place) }

    private mutating func note(_ delta: Delta, of base: Value, _ place: SlotPlace) {
        switch (delta, base) {
        case (.set(let value), _):
            remove(base)
            insert(value)
        case (.map(let delta), .map(let map)):
            for entry in delta.entries {
                switch (map[entry.key], entry.change) {
                case (let value?, .remove): remove(value)
                case (let value?, .apply(let change)):
                    note(change, of: value, place.child(.key(entry.key)))
                case (nil, .apply(.set(let value))): insert(value)
                case (nil, _): break
                }
            }
        case (.list(let delta), .list(let items)):
            for position in delta.recipe.removes.joined() {
                remove(items[position], isItem: true)
            }
            for run in delta.recipe.runs {
                switch run {
                case .kept: break
                case .new(let item): insert(item, isItem: true)
                case .edited(let position, let change):
                    noteItem(items[position], change, place, at: position)
                }
            }
        default: break
        }
    }

    private mutating func noteItem(
        _ item: Value,
        _ change: Delta,
        _ place: SlotPlace,
        at position: Int
    ) {
        if item.changesText(by: change) {
            insertedTexts[item.changed(by: change).texts, default: 0] += 1
        }
        if item.isRenamed(by: change, at: position, in: place) {
            for name in Self.names(of: item) { departed[name, default: 0] += 1 }
            for name in Self.names(of: item.changed(by: change)) { arrived[name, default: 0] += 1 }
        }
        if case .set(let value) = change {
            for part in item.parts { remove(part.value, isItem: part.isItem) }
            for part in value.parts { insert(part.value, isItem: part.isItem) }
        } else {
            note(change, of: item, place.child(.position(position)))
        }
    }

    private mutating func remove(_ value: Value, isItem: Bool = false) {
        Self.forEachItem(in: value, isItem: isItem) { item in
            for name in Self.names(of: item) {
                removed[name] = item
                departed[name, default: 0] += 1
            }
        }
    }

    private mutating func insert(_ value: Value, isItem: Bool = false) {
        Self.forEachItem(in: value, isItem: isItem) { item in
            for name in Self.names(of: item) {
                inserted[name] = item
                arrived[name, default: 0] += 1
            }
            if item.tellsTexts { insertedTexts[item.texts, default: 0] += 1 }
        }
    }

    /// Calls `body` for a value and all in it, where it is a record or an item of a list.
    private static func forEachItem(in value: Value, isItem: Bool, _ body: (Value) -> Void) {
        if isItem || value.map != nil { body(value) }
        for part in value.parts { forEachItem(in: part.value, isItem: part.isItem, body) }
    }

    /// Whether an edit that leaves a name, or a text, has put another item in the place of a record.
    private func decision(_ item: Value, by change: Delta) -> SlotDecision {
        guard item.changesText(by: change) else { return .edit }
        let content = Name.content(ItemContent(item.changed(by: change)))
        if removed[content] != nil { return .turnover }
        return insertedTexts[item.texts] == 1 ? .unsure : .edit
    }

    static func names(of item: Value) -> Set<Name> {
        var names: Set<Name> = []
        if item.isDistinctive { names.insert(.content(ItemContent(item))) }
        if let name = item.usualName {
            names.insert(item.isSurelyNamed ? .id(name) : .number(name, item.texts))
        }
        let label = item.namingFields
        if !label.isEmpty {
            names.insert(.label(Value.Map(label.map { ($0.key, $0.value) })))
        }
        return names
    }
}

// MARK: - Separation

extension SlotTurnover {
    /// - Parameter other: What the other side does at this place.
    mutating func separated(
        _ delta: Delta,
        of base: Value,
        _ place: SlotPlace,
        beside other: Delta
    ) -> Delta {
        switch (delta, base) {
        case (.map(let delta), .map(let map)):
            .map(
                delta.entries.map { entry in
                    guard case .apply(let change) = entry.change, let value = map[entry.key] else {
                        return entry
                    }
                    path.steps.append(.key(entry.key))
                    defer { path.steps.removeLast() }
                    let part = separated(
                        change,
                        of: value,
                        place.child(.key(entry.key)),
                        beside: other.change(of: entry.key)
                    )
                    return MapDelta.Entry(key: entry.key, change: .apply(part))
                }
            )
        case (.list(let delta), .list(let items)):
            .list(separated(delta.recipe, of: items, place, beside: ItemChanges(other)))
        default: delta
        }
    }

    private mutating func separated(
        _ recipe: ListRecipe,
        of items: Value.List,
        _ place: SlotPlace,
        beside other: ItemChanges
    ) -> ListRecipe {
        var result = ListRecipe()
        lazy var isOneEdit = recipe.editsAlike(items)
        for run in recipe.runs {
            guard case .edited(let position, let change) = run else {
                result.append(run)
                continue
            }
            let item = items[position]
            path.steps.append(.position(position))
            defer { path.steps.removeLast() }
            let isRenamed = item.isRenamed(by: change, at: position, in: place)
            let isGone = other.gone.contains(position)
            var decision: SlotDecision =
                isRenamed
                ? decision(position, of: items, by: change, isGone: isGone)
                : place.rules == nil ? decision(item, by: change) : .edit
            if decision != .edit, place.rules?.identity == nil, isOneEdit { decision = .edit }
            if decision == .doubtful { doubtful.insert(path) }
            if decision == .unsure { unsure.insert(path) }
            if decision.isTurnover {
                result.append(.new(item.changed(by: change)))
                continue
            }
            let part = separated(
                change,
                of: item,
                place.child(.position(position)),
                beside: other.edits[position] ?? .keep
            )
            result.append(.edited(position, part))
        }
        result.finish(tail: recipe.tail)
        return result
    }
}

extension ListRecipe {
    /// Whether what the recipe edits is changed alike, as times are that are put off.
    fileprivate func editsAlike(_ items: Value.List) -> Bool {
        var steps = RowSteps()
        for case .edited(let position, let change) in runs {
            guard steps.take(items[position], items[position].changed(by: change)) else {
                return false
            }
        }
        return steps.areOneEdit(hasIdentity: true)
    }
}
