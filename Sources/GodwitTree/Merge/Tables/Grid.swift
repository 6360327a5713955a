// Grids: boards, seats, pixels. Nothing names their rows.
//
// A thing that goes from one row to another makes the rows look as if they had moved. So where all three
// versions are rows of one length, most cells are like others, and a side has changed no more cells than a
// row has, a change is what it has put into each cell.

struct Grid {
    let table: Table
    /// The changes of the list as edits of cells.
    let deltas: Sides<ListDelta>
    /// The cells of the base, of which both sides have moved the only thing like it.
    let movedByBoth: [(row: Int, column: Int, thing: Value)]

    private static let changesMin = 4
    private static let cellsMax = 1 << 12

    /// - Returns: nil if the list is no grid, or both sides leave the rows where they are.
    init?(_ base: Value.List, _ deltas: Sides<ListDelta>) {
        guard deltas.ours.movesCells || deltas.theirs.movesCells, base.count > 1,
            let width = base[0].list?.count, width > 1, base.count * width <= Self.cellsMax,
            !deltas.ours.hasIncrement, !deltas.theirs.hasIncrement
        else { return nil }
        let lists = deltas.map(base.changed)
        guard
            [base, lists.ours, lists.theirs].allSatisfy({ list in
                list.count == base.count && list.allSatisfy { $0.list?.count == width }
            })
        else { return nil }
        let cells = base.flatMap { row in row.list.map { Array($0) } ?? [] }
        guard 2 * Set(cells.map(ItemContent.init)).count <= cells.count,
            !cells.contains(where: { $0.usualName != nil }), !base.haveNames(width)
        else { return nil }
        let changesMax = max(width, Self.changesMin)
        guard let ours = base.cellEdits(to: lists.ours, max: changesMax),
            let theirs = base.cellEdits(to: lists.theirs, max: changesMax)
        else { return nil }
        table = Table(gridOf: width)
        movedByBoth = Self.movedByBoth(cells, lists, width)
        self.deltas = Sides(ours: ours, theirs: theirs)
    }

    private static func movedByBoth(
        _ cells: [Value],
        _ lists: Sides<Value.List>,
        _ width: Int
    ) -> [(row: Int, column: Int, thing: Value)] {
        let places = ListMatching.uniquePositions(of: cells)
        let new = lists.map { $0.flatMap { row in row.list.map { Array($0) } ?? [] } }
        let newPlaces = new.map { ListMatching.uniquePositions(of: $0) }
        return places.sorted { $0.value < $1.value }.compactMap { thing, place in
            guard let our = newPlaces.ours[thing], let their = newPlaces.theirs[thing],
                our != place, their != place, our != their
            else { return nil }
            return (place / width, place % width, thing)
        }
    }
}

extension ListDelta {
    /// Whether this does more to a list of rows than edit cells.
    fileprivate var movesCells: Bool {
        !recipe.staysInPlace
            || recipe.runs.contains { run in
                if case .edited(_, let delta) = run { !delta.staysInPlace } else { false }
            }
    }
}

extension Value.List {
    /// Whether each row has a text of its own in one column.
    fileprivate func haveNames(_ width: Int) -> Bool {
        (0..<width).contains { column in
            let names = compactMap { $0.list?[column] }.filter { $0.text != nil && !$0.isBlank }
            return names.count == count && Set(names).count == count
        }
    }

    /// The change to a list of rows as edits of cells; nil if there are more than `max`.
    fileprivate func cellEdits(to new: Value.List, max: Int) -> ListDelta? {
        var (recipe, count) = (ListRecipe(), 0)
        for (position, (row, newRow)) in zip(self, new).enumerated() {
            var cells = ListRecipe()
            guard let old = row.list, let new = newRow.list else { return nil }
            for (column, (cell, newCell)) in zip(old, new).enumerated() {
                if cell != newCell { count += 1 }
                cells.append(.edited(column, cell == newCell ? .keep : .set(newCell)))
            }
            cells.finish(tail: old.count)
            recipe.append(.edited(position, row == newRow ? .keep : .list(ListDelta(cells))))
        }
        recipe.finish(tail: self.count)
        return count <= max ? ListDelta(recipe) : nil
    }
}
