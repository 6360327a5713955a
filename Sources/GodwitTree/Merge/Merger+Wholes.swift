// Lists that are one value, or rows of cells: to merge them item by item would invent a list that
// neither side wrote.
//
//   (1) Lists that both sides put in the place of an empty one are as if both had created them.
//   (2) If both sides have replaced all items, or one has and the other one has added or edited some,
//       the lists exclude each other. In a list of records, or of words, each item is a thing of its
//       own: there both must have replaced all, or one by things of another kind.
//   (3) In a list that repeats itself, and that both sides leave as long as it was, an item is named
//       by its place: content says nothing about which one it is.
//   (4) A closed ring of points is one value as soon as a side gives it another end.

extension Merger {
    /// - Returns: nil if the lists can be merged item by item.
    mutating func mergeWholes(
        _ base: Value.List,
        _ deltas: Sides<ListDelta>,
        _ place: MergePlace
    ) -> MergeNode? {
        guard place.rules == nil, deltas.ours != deltas.theirs else { return nil }
        if base.isEmpty {
            let lists = deltas.map { Value.list(base).changed(by: .list($0.recipe)) }
            guard let ours = lists.ours.list, let theirs = lists.theirs.list, ours.excludes(theirs)
            else { return nil }
            return mergeCreated(.list(base), lists, place)
        }
        if base.isRing {
            let lists = deltas.map { Value.list(base).changed(by: .list($0.recipe)) }
            if lists.ours.list?.first != base.first || lists.theirs.list?.first != base.first {
                return choice(.bothSet, .list(base), lists.map { $0 }, place)
            }
        }
        let parts = deltas.map(\.parts)
        let replaces = parts.map { $0.replaces(base) }
        let isOfThings = base[0].map != nil || base[0].text != nil
        let excludes = Side.allCases.contains { side in
            replaces[side] && parts[side.other].hasMore
                && (!isOfThings || parts[side].changesKind(of: base))
        }
        let bothReplace = replaces.ours && replaces.theirs && base[0].map == nil
        guard excludes || bothReplace else { return nil }
        let lists = deltas.map { Value.list(base).changed(by: .list($0.recipe)) }
        guard let ours = lists.ours.list, let theirs = lists.theirs.list,
            !ours.contains(inOrder: theirs), !theirs.contains(inOrder: ours)
        else { return nil }
        return choice(.bothSet, .list(base), lists.map { $0 }, place)
    }

    /// The changes as edits of cells; nil if the list is no row of them.
    ///
    /// - Complexity: O(*n*) for up to ``cellMax`` items.
    func cells(_ base: Value.List, _ deltas: Sides<ListDelta>) -> Sides<ListDelta>? {
        guard (2...Self.cellMax).contains(base.count), deltas.ours != deltas.theirs,
            deltas.ours.recipe.keepsCount, deltas.theirs.recipe.keepsCount,
            Set(base.map(ItemContent.init)).count < base.count
        else { return nil }
        let ours = cells(base, deltas.ours)
        guard let ours, let theirs = cells(base, deltas.theirs) else { return nil }
        return Sides(ours: ours, theirs: theirs)
    }

    private static let cellMax = 1 << 16

    private func cells(_ base: Value.List, _ delta: ListDelta) -> ListDelta? {
        let changed = Value.list(base).changed(by: .list(delta.recipe))
        guard !Delta.list(delta.recipe).hasIncrement, let list = changed.list,
            list.count == base.count
        else { return nil }
        let edits = zip(base, list).enumerated().compactMap { index, pair in
            pair.0 == pair.1
                ? nil : ListDelta.Edit(position: index, delta: .diff(pair.0, pair.1, nil))
        }
        // What shifts items is no edit of cells. Numbers and flags tell less about that than words.
        let known = delta.parts.removes.reduce(0) { $0 + $1.count } + delta.parts.edits.count
        let isOfNumbers = edits.allSatisfy { base[$0.position].isNumeric }
        guard edits.count <= (isOfNumbers ? 2 * known + 2 : known) else { return nil }
        return try? ListDelta(edits: edits)
    }
}

extension ListRecipe {
    /// Whether the list is as long as before.
    fileprivate var keepsCount: Bool { count == tail }
}

extension ListDelta.Parts {
    /// Whether others stand in the place of all items.
    fileprivate func replaces(_ base: Value.List) -> Bool {
        moves.isEmpty && edits.isEmpty && !inserts.isEmpty
            && removes.reduce(0) { $0 + $1.count } == base.count
    }

    fileprivate func changesKind(of base: Value.List) -> Bool {
        inserts.contains { $0.value.kind != base[0].kind }
    }

    fileprivate var hasMore: Bool { !inserts.isEmpty || !edits.isEmpty }
}

extension Value {
    /// Whether this is a number, a flag or nothing.
    fileprivate var isNumeric: Bool {
        switch self {
        case .null, .bool, .int, .double: true
        case .string, .bytes, .list, .map: false
        }
    }
}

extension Value.List {
    private static let ringMin = 4

    /// Whether these are points, of which the last is the first.
    fileprivate var isRing: Bool {
        guard count >= Self.ringMin, let first, let last, first == last else { return false }
        return first.list?.isTuple == true
    }
}
