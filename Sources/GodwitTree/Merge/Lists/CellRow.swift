// Rows of cells, such as a name, two times and a number.
//
// A cell that gets the value which its neighbour had looks as if the neighbour had moved, and the other
// side's edit would go along into another column. So where a row has as many cells in all three versions,
// and in each place those of one kind, as the rows beside it have, a cell is named by its place. A list
// that stands alone may have any order, and cells of one kind may be a set; but two dates or times are a
// span.

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
        guard let row = CellRow([base, lists.ours, lists.theirs]),
            row.isSpan || isRow(row, at: place)
        else { return nil }
        let areBothChanged = base.indices.contains { place in
            lists.ours[place] != base[place] && lists.theirs[place] != base[place]
                && lists.ours[place] != lists.theirs[place]
        }
        if row.isSpan {
            return areBothChanged
                ? choice(.bothSet, .list(base), lists.map { .list($0) }, place) : nil
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

    /// Whether the list stands among others as long, of which one has the same kinds of cells.
    private func isRow(_ row: CellRow, at place: MergePlace) -> Bool {
        guard place.list != nil, case .position(let position)? = place.inBase.steps.last,
            let siblings, siblings.indices.contains(position)
        else { return false }
        let start = max(0, position - Self.nearRowMax)
        let near = start..<min(siblings.count, position + Self.nearRowMax + 1)
        let rows = near.filter { $0 != position }.map { siblings[$0].list }
        return rows.allSatisfy { $0?.count == row.kinds.count }
            && rows.contains { $0.map(row.hasKinds) == true }
    }

    private static let rowMax = 64
    private static let nearRowMax = 8
}

/// Three versions of a list that have a cell of one kind in each place.
private struct CellRow {
    /// The kinds of the cells; nil for an empty one.
    let kinds: [String?]

    /// - Returns: nil if the lists are not equally long, or their items tell nothing about places.
    init?(_ lists: [Value.List]) {
        guard let width = lists.first?.count, width > 1, lists.allSatisfy({ $0.count == width })
        else { return nil }
        var kinds: [String?] = []
        for place in 0..<width {
            let cells = lists.map { $0[place] }.filter { $0 != .null }
            let kind = cells.first?.cellKind
            guard cells.allSatisfy({ $0.cellKind == kind && kind != nil }) else { return nil }
            kinds.append(kind)
        }
        self.kinds = kinds
        guard isSpan || Set(kinds.compactMap(\.self)).count > 1 else { return nil }
    }

    /// Whether these are two dates or times.
    var isSpan: Bool { kinds == [Value.timeKind, Value.timeKind] }

    func hasKinds(_ row: Value.List) -> Bool {
        zip(row, kinds).allSatisfy { cell, kind in
            kind == nil || cell == .null || cell.cellKind == kind
        }
    }
}

extension Value {
    fileprivate static let timeKind = "time"

    /// The kind of a cell: numbers are of one kind, and texts are words, or dates and times; nil for a
    /// container.
    fileprivate var cellKind: String? {
        isContainer ? nil : isTime ? Self.timeKind : likeKind
    }

    private static let timeSizeMax = 32

    /// Whether this is a date, with a time or without, or a time of day such as `9:30`.
    var isTime: Bool {
        guard let text, text.utf8.count <= Self.timeSizeMax else { return false }
        if Vote.beginsWithDate(text.utf8) { return true }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { $0.count <= 2 ? Int($0) : nil }
        return (2...3).contains(parts.count) && numbers.count == parts.count
            && (0...24).contains(numbers[0])
            && parts.dropFirst().allSatisfy { $0.count == 2 }
            && numbers.dropFirst().allSatisfy { (0..<60).contains($0) }
    }
}
