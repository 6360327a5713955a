// Rows of cells, such as a name, two times and a number.
//
// A cell that gets the value which its neighbour had looks as if the neighbour had moved, and the other
// side's edit would go along into another column. So where a row has as many cells in all three versions,
// and in each place those of one kind, a cell is named by its place. Cells of one kind alone may be a
// set, or a list that people sort; but two dates or times are a span.

extension Merger {
    /// Merges a row of cells, place by place; a span that both sides changed in one place is one value.
    ///
    /// - Returns: nil if the list is no such row, or neither side moves, removes or puts in anything.
    @inline(never)
    mutating func mergeRow(
        _ base: Value.List,
        _ deltas: Sides<ListDelta>,
        _ place: MergePlace
    ) -> MergeNode? {
        guard place.rules == nil, deltas.ours != deltas.theirs, base.count <= Self.rowMax,
            !deltas.ours.recipe.staysInPlace || !deltas.theirs.recipe.staysInPlace,
            !deltas.ours.hasIncrement, !deltas.theirs.hasIncrement
        else { return nil }
        let lists = deltas.map(base.changed)
        guard let row = CellRow([base, lists.ours, lists.theirs]) else { return nil }
        let areBothChanged = base.indices.contains { place in
            lists.ours[place] != base[place] && lists.theirs[place] != base[place]
                && lists.ours[place] != lists.theirs[place]
        }
        if row.isSpan, areBothChanged {
            return choice(.bothSet, .list(base), lists.map { .list($0) }, place)
        }
        let edits = lists.map { list in
            base.indices.compactMap { place in
                base[place] == list[place]
                    ? nil
                    : ListDelta.Edit(position: place, delta: .diff(base[place], list[place], nil))
            }
        }
        guard let ours = try? ListDelta(edits: edits.ours),
            let theirs = try? ListDelta(edits: edits.theirs)
        else { return nil }
        return mergeItems(base, Sides(ours: ours, theirs: theirs), place, areCells: true)
    }

    private static let rowMax = 64
}

/// Three versions of a list that have a cell of one kind in each place.
private struct CellRow {
    /// Whether these are two dates or times.
    let isSpan: Bool

    /// - Returns: nil if the lists are not equally long, or their items tell nothing about places.
    init?(_ lists: [Value.List]) {
        guard let width = lists.first?.count, width > 1, lists.allSatisfy({ $0.count == width })
        else { return nil }
        var kinds: Set<String> = []
        for place in 0..<width {
            let cells = lists.map { $0[place] }.filter { $0 != .null }
            guard let kind = cells.first?.cellKind, cells.allSatisfy({ $0.cellKind == kind })
            else { return nil }
            kinds.insert(kind)
        }
        isSpan = width == 2 && kinds == [Value.timeKind]
        guard isSpan || kinds.count > 1 else { return nil }
    }
}

extension Value {
    fileprivate static let timeKind = "time"

    /// The kind of a cell: numbers are of one kind, and texts are words or a date, a time or the like; nil
    /// for a container.
    var cellKind: String? {
        if isContainer { return nil }
        guard let text, !text.isEmpty else { return likeKind }
        let isTime =
            isMeasure && text.contains { "-:/".contains($0) } && text.contains(where: \.isNumber)
        return isTime ? Self.timeKind : likeKind
    }
}
