// Tables: rows of cells whose columns a side has changed.
//
// A row alone does not say which of its equal cells went, or before which one a new cell stands: the
// names of the columns do, or the other rows.
//
//   (1) A list is a table if most of its rows, lists or records with a list under one key, are of one length
//       in the base and of one length on each side, and a side has put in, removed or moved cells in all of
//       them. The others, a note or a footer, are no rows. Its columns have names (`TableHeader`), or are of
//       different kinds, or there are three rows and more of which a side has changed the same places: else
//       the rows are lists, each on its own.
//   (2) What a side does to a row is told by columns: edits of cells, and cells of columns that came and
//       went (`ColumnSearch`).
//   (3) New columns of both sides are one if they have one name, or no name and equal cells.
//   (4) A removed column goes although the other side has edited a cell of it, and that is reported.
//   (5) A row that one side has put in gets the columns of the other side, with an empty cell where a
//       column is new; below a header it may end early. A cell that it had in a removed column is reported.
//   (6) The list of names is merged as a row of the table beside it.

struct Table {
    /// Where the rows are.
    enum Rows {
        /// The items of a list, or the lists that these have under a key.
        case items(key: Key?)
        /// The lists under some keys of a map.
        case fields(Set<Key>)
    }

    let rows: Rows
    let sides: Sides<TableSide>
    /// New columns of both sides that are one, counted among the new ones of their side.
    let twins: [Sides<Int>]
    private let width: Int
    /// Whether the first row has the names of the columns.
    private let hasHeader: Bool
    /// The key of the list beside the table that has these.
    let header: Key?
    /// Whether the list of names reports the moves of columns, once for all rows.
    var isReportedByHeader = false

    /// - Parameter versions: The rows as each side has them.
    /// - Returns: nil if neither side has changed the columns.
    init?(_ rows: Rows, _ versions: Sides<[TableRow]>, _ header: TableHeader, width: Int) {
        guard let ours = TableSide(.ours, versions.ours, header, width: width),
            let theirs = TableSide(.theirs, versions.theirs, header, width: width),
            !ours.isUnchanged || !theirs.isUnchanged
        else { return nil }
        (self.rows, self.width, self.header) = (rows, width, header.list)
        hasHeader = header.isFirstRow && header.isThere(width)
        sides = Sides(ours: ours, theirs: theirs)
        twins = ours.twins(on: theirs).map { Sides(ours: $0.own, theirs: $0.other) }
    }

    /// Whether a new row of one side is one of this table, and none that is as long by chance: a range, a colour
    /// or a set of words beside two other lists.
    func hasRow(_ row: Value.List, newOn side: Side) -> Bool {
        guard isRow(row, on: side), !row.hasNames else { return false }
        guard case .fields(let keys) = rows else { return true }
        return !row.areWords && (keys.count > 2 || row.count > 2 && shiftsCells)
    }

    /// Whether a row has a cell in each column, or ends before the last ones of a table with a header of which
    /// a side has moved columns.
    private func isRow(_ row: Value.List, on side: Side) -> Bool {
        let count = sides[side].sources.count
        return row.count == count
            || hasHeader && shiftsCells && row.count >= Self.cellsMin && row.count < count
    }

    private static let cellsMin = 2

    /// Whether a list is a row of the base: another one may be a note or a footer.
    func isRow(_ cells: Value.List) -> Bool { cells.count == width }

    /// Whether a side does more than put columns in behind the others.
    var shiftsCells: Bool {
        Side.allCases.contains { !sides[$0].sources.starts(with: (0..<width).map { $0 }) }
    }

    /// Whether an item that both sides have put in says different things: the sides have its cells in other
    /// columns.
    func isApart(_ item: Value) -> Bool {
        guard case .items(key: nil) = rows, let row = item.list,
            Side.allCases.allSatisfy({ isRow(row, on: $0) })
        else { return false }
        return row.enumerated().contains { place, cell in
            !cell.isBlank && !isOneColumn(place)
        }
    }

    /// Whether both sides have the same column in a place.
    private func isOneColumn(_ place: Int) -> Bool {
        let (ours, theirs) = (sides.ours.sources, sides.theirs.sources)
        guard place < min(ours.count, theirs.count) else { return false }
        guard ours[place] == nil, theirs[place] == nil else { return ours[place] == theirs[place] }
        let new = Sides(ours: ours, theirs: theirs).map { $0[..<place].count { $0 == nil } }
        return twins.contains { $0.ours == new.ours && $0.theirs == new.theirs }
    }

    /// A grid, which has the columns of the base.
    init(gridOf width: Int) {
        (rows, self.width, twins) = (.items(key: nil), width, [])
        (hasHeader, header) = (false, nil)
        sides = Sides(both: TableSide(width: width))
    }
}

extension Table {
    /// A row that one side has put in as if the base had it, and both sides' changes of its columns.
    ///
    /// - Parameter isCommon: Whether the other side has the row, too.
    func columns(
        for row: Value.List,
        newOn side: Side,
        isCommon: Bool
    ) -> (old: Value.List, Sides<ListDelta>) {
        let (own, other) = (sides[side], sides[side.other])
        var old = Array(repeating: Value.null, count: width)
        var recipe = ListRecipe()
        for (source, cell) in zip(own.sources, row) {
            if let source { old[source] = cell }
            recipe.append(source.map { .kept($0..<($0 + 1)) } ?? .new(cell))
        }
        recipe.finish(tail: width)
        let newCells = zip(own.sources, row).compactMap { $0 == nil ? $1 : nil }
        // A row that ends early has empty cells only before others.
        let missing = Set(own.sources.dropFirst(row.count))
        let last = other.sources.lastIndex { $0 != nil && !missing.contains($0) } ?? -1
        let blank: Value = row.allSatisfy { $0.text != nil } ? "" : .null
        var (otherRecipe, newCount) = (ListRecipe(), 0)
        let sources = missing.isEmpty ? other.sources[...] : other.sources.prefix(last + 1)
        for (place, source) in sources.enumerated() {
            if let source {
                otherRecipe.append(
                    missing.contains(source) ? .new(blank) : .kept(source..<(source + 1))
                )
                continue
            }
            let twin = twins.first { $0[side.other] == newCount }.map { $0[side] }
            otherRecipe.append(
                .new(
                    twin.flatMap { $0 < newCells.count ? newCells[$0] : nil }
                        ?? (isCommon && place < row.count && row[place].isBlank ? row[place] : nil)
                        ?? other.filler(ofNew: newCount, hasHeader: hasHeader)
                )
            )
            newCount += 1
        }
        otherRecipe.finish(tail: width)
        var deltas = Sides(both: ListDelta(recipe))
        deltas[side.other] = ListDelta(otherRecipe)
        return (Value.List(old), deltas)
    }

    /// The cells of such a row that say something, in columns that the other side has removed.
    func lostCells(of row: Value.List, newOn side: Side) -> [(column: Int, cell: Value)] {
        let kept = Set(sides[side.other].sources)
        return zip(sides[side].sources, row).enumerated().compactMap { column, cell in
            guard let source = cell.0, !kept.contains(source), !cell.1.isBlank else { return nil }
            return (column, cell.1)
        }
    }
}
