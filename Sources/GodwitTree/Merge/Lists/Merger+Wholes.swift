// Lists that are one value, or rows of cells: to merge them item by item would invent a list that
// neither side wrote.
//
//   (1) Lists that both sides put in the place of an empty one are as if both had created them.
//   (2) If both sides have replaced all items, or one has and the other one has added or edited some,
//       the lists exclude each other. In a list of records, or of words, each item is a thing of its
//       own: there both must have replaced all, or one by things of another kind. Words beside options,
//       such as `--debug`, are a command.
//   (3) Where items repeat themselves near the changes, and both sides leave each item in its place,
//       an item is named by its place: content says nothing about which one it is. New items may
//       follow at the end.
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
            let lists = deltas.map(base.changed)
            guard lists.ours.excludes(lists.theirs) else { return nil }
            return mergeCreated(.list(base), lists.map { .list($0) }, place)
        }
        if base.isRing {
            let lists = deltas.map(base.changed)
            if lists.ours.first != base.first || lists.theirs.first != base.first {
                return choice(.bothSet, .list(base), lists.map { .list($0) }, place)
            }
        }
        let parts = deltas.map(\.parts)
        let rewrites = parts.map { $0.replacesOrEdits(base) }
        guard rewrites.ours || rewrites.theirs else { return nil }
        let replaces = parts.map { $0.replaces(base) }
        let lists = deltas.map(base.changed)
        let areArguments =
            base.count > 1 && !base.allSatisfy(\.isOption)
            && [base, lists.ours, lists.theirs].contains { $0.contains(where: \.isOption) }
        let isOfThings = base[0].map != nil || base[0].text != nil && !areArguments
        let excludes = Side.allCases.contains { side in
            guard areArguments ? rewrites[side] : replaces[side] else { return false }
            if parts[side].changesKind(of: base) { return !parts[side.other].isEmpty }
            return !isOfThings && parts[side.other].hasMore
        }
        let bothReplace =
            (replaces.ours || replaces.theirs) && base[0].map == nil
            && rewrites.ours && rewrites.theirs
        guard excludes || bothReplace else { return nil }
        let isEmptied = lists.ours.isEmpty || lists.theirs.isEmpty
        guard
            isEmptied
                || !lists.ours.contains(inOrder: lists.theirs)
                    && !lists.theirs.contains(inOrder: lists.ours)
        else { return nil }
        return choice(.bothSet, .list(base), lists.map { .list($0) }, place)
    }

    /// The changes as edits of cells, and new items at the end; nil if the list is no row of cells.
    ///
    /// - Complexity: O(*n*) in the number of items between the first change and the last one.
    func cells(_ base: Value.List, _ deltas: Sides<ListDelta>) -> Sides<ListDelta>? {
        guard let range = cellRange(base, deltas) else { return nil }
        let near = near(range, in: base)
        guard Set(near.map { ItemContent(base[$0]) }).count < near.count,
            let ours = cells(base, deltas.ours, range),
            let theirs = cells(base, deltas.theirs, range)
        else { return nil }
        return Sides(ours: ours, theirs: theirs)
    }

    /// The items between the first change and the last one, where a side removes, moves or puts in some.
    func cellRange(_ base: Value.List, _ deltas: Sides<ListDelta>) -> Range<Int>? {
        let recipes = deltas.map(\.recipe)
        guard deltas.ours != deltas.theirs,
            !recipes.ours.staysInPlace || !recipes.theirs.staysInPlace,
            !deltas.ours.hasIncrement, !deltas.theirs.hasIncrement
        else { return nil }
        let start = min(recipes.ours.firstChange, recipes.theirs.firstChange, base.count)
        let end = min(max(recipes.ours.tail, recipes.theirs.tail), base.count)
        return start <= end && end - start <= Self.cellMax ? start..<end : nil
    }

    /// Some items, and a few around them.
    func near(_ range: Range<Int>, in base: Value.List) -> Range<Int> {
        max(0, range.lowerBound - Self.nearMax)..<min(base.count, range.upperBound + Self.nearMax)
    }

    private static let cellMax = 1 << 20
    private static let nearMax = 8

    private func cells(
        _ base: Value.List,
        _ delta: ListDelta,
        _ range: Range<Int>
    ) -> ListDelta? {
        let list = base.changed(by: delta)
        guard list.count == base.count || list.count > base.count && delta.recipe.tail == base.count
        else { return nil }
        let edits = range.compactMap { index in
            base[index] == list[index]
                ? nil : ListDelta.Edit(position: index, delta: .diff(base[index], list[index], nil))
        }
        let added = (base.count..<list.count).map { position in
            ListDelta.Insert(position: position, value: list[position])
        }
        let editsMax = cellEditsMax(base, delta, edits, list, isLonger: !added.isEmpty)
        guard edits.count <= editsMax else { return nil }
        return try? ListDelta(inserts: added, edits: edits)
    }

    /// How many edits of cells a change may be: one that shifts items would be more.
    ///
    /// Numbers and flags tell less than words about whether a change shifts items. So do words in a
    /// list of a few that occur again and again, such as a roster, unless one that occurs once moves.
    private func cellEditsMax(
        _ base: Value.List,
        _ delta: ListDelta,
        _ edits: [ListDelta.Edit],
        _ list: Value.List,
        isLonger: Bool
    ) -> Int {
        let known = delta.parts.removes.reduce(0) { $0 + $1.count } + delta.parts.edits.count
        guard !isLonger else { return known }
        if edits.allSatisfy({ base[$0.position].isNumeric }) { return 2 * known + 2 }
        guard base.isRoster, !base.movesLoneItem(to: list) else { return known }
        return max(known, min(base.count / 2, 2 * known + 2))
    }
}

extension ListRecipe {
    /// Where the first item stands to which something happens, or before which one is put in.
    fileprivate var firstChange: Int {
        if case .kept(let range)? = runs.first, range.lowerBound == 0 {
            range.upperBound
        } else {
            0
        }
    }
}

extension ListDelta.Parts {
    /// Whether others stand in the place of all items.
    fileprivate func replaces(_ base: Value.List) -> Bool {
        edits.isEmpty && !inserts.isEmpty && replacesOrEdits(base)
    }

    /// Whether others stand in the place of all items, or as many others, which pass for edits.
    fileprivate func replacesOrEdits(_ base: Value.List) -> Bool {
        guard moves.isEmpty, !inserts.isEmpty || !edits.isEmpty,
            removes.reduce(0, { $0 + $1.count }) + edits.count == base.count
        else { return false }
        return edits.allSatisfy { edit in
            let item = base[edit.position]
            return item.isScalar
                && Resemblance(item).score(with: Resemblance(item.changed(by: edit.delta))) == 0
        }
    }

    fileprivate func changesKind(of base: Value.List) -> Bool {
        inserts.contains { $0.value.kind != base[0].kind }
    }

    fileprivate var hasMore: Bool { !inserts.isEmpty || !edits.isEmpty }
    fileprivate var isEmpty: Bool { !hasMore && removes.isEmpty && moves.isEmpty }
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
    private static let rosterMax = 1 << 10

    /// Whether this is a list of a few items that occur again and again.
    fileprivate var isRoster: Bool {
        count <= Self.rosterMax && 2 * Set(map(ItemContent.init)).count <= count
    }

    /// Whether an item that occurs once in both lists stands elsewhere in the other one.
    fileprivate func movesLoneItem(to other: Value.List) -> Bool {
        let places = ListMatching.uniquePositions(of: map(ItemContent.init))
        let otherPlaces = ListMatching.uniquePositions(of: other.map(ItemContent.init))
        return places.contains { content, place in
            otherPlaces[content].map { $0 != place } ?? false
        }
    }

    /// Whether these are points, of which the last is the first.
    fileprivate var isRing: Bool {
        guard count >= Self.ringMin, let first, let last, first == last else { return false }
        return first.list?.isTuple == true
    }
}
