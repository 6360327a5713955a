/// The columns of a table, as one side has them.
struct TableSide {
    /// The column of the base that each column of this side is; nil for a new one.
    let sources: [Int?]
    /// The cells of the new columns, row by row, by the position of the row in the base.
    private let newCells: [Int: [Value]]
    /// The names of the new columns; nil for one without.
    private let newNames: [Value?]
    /// Whether each column is where the base has it.
    let isUnchanged: Bool

    /// - Returns: nil if the rows are not equally long, or do not say which columns are which.
    init?(_ side: Side, _ rows: [TableRow], _ header: TableHeader, width: Int) {
        guard let newWidth = rows.first?.new.count,
            rows.allSatisfy({ $0.new.count == newWidth }),
            let search = ColumnSearch(rows, header, of: side, width: width, newWidth: newWidth)
        else { return nil }
        let new = search.newColumns
        let names = header.sides[side].values
        // Where nothing names the columns, two times went on from one to the next: the end is the beginning.
        let haveShifted =
            newWidth == width && !new.isEmpty && !header.isThere(width)
            && rows.allSatisfy { row in
                row.old.count(where: \.isTime) == 2
                    && zip(row.old, row.new).allSatisfy { $0 == $1 || $0.isTime && $1.isTime }
            }
        sources = haveShifted ? Array(0..<width) : search.sources
        isUnchanged = sources == Array(0..<width)
        newNames = haveShifted ? [] : new.map { $0 < names.count ? names[$0] : nil }
        newCells =
            new.isEmpty || haveShifted
            ? [:]
            : Dictionary(
                uniqueKeysWithValues: rows.map { row in
                    (row.position, new.map { row.new[$0] })
                }
            )
    }

    /// Columns as the base has them.
    init(width: Int) {
        (sources, newCells, newNames, isUnchanged) = (Array(0..<width), [:], [], true)
    }

    /// A change of a row, with each cell in its column; nil where it adds to numbers in cells that moved.
    func delta(_ delta: Delta, of row: Value.List) -> Delta? {
        if isUnchanged, delta.staysInPlace { return delta }
        guard !delta.hasIncrement, let new = Value.list(row).changed(by: delta).list else {
            return nil
        }
        var recipe = ListRecipe()
        for (source, cell) in zip(sources, new) {
            recipe.append(source.map { .edited($0, .diff(row[$0], cell, nil)) } ?? .new(cell))
        }
        recipe.finish(tail: row.count)
        return .list(ListDelta(recipe))
    }

    /// The new columns that another side has put in too, counted among the new ones of each: those with one
    /// name, and of those without a name the ones with equal cells.
    func twins(on other: TableSide) -> [(own: Int, other: Int)] {
        let unnamed = other.newNames.indices.filter { other.newNames[$0] == nil }
        var free = Set(unnamed)
        let named = ListMatching.uniquePositions(of: other.newNames)
        return newNames.indices.compactMap { column in
            if let name = newNames[column] { return named[name].map { (column, $0) } }
            let same = unnamed.first { free.contains($0) && hasSame(column, as: other, $0) }
            guard let same else { return nil }
            free.remove(same)
            return (column, same)
        }
    }

    private func hasSame(_ column: Int, as other: TableSide, _ otherColumn: Int) -> Bool {
        let common = newCells.keys.filter { other.newCells[$0] != nil }
        return !common.isEmpty
            && common.allSatisfy { newCells[$0]?[column] == other.newCells[$0]?[otherColumn] }
    }

    /// An empty cell of a new column, for a row that the other side has put in.
    ///
    /// - Parameter hasHeader: Whether the first row has the names of the columns.
    func filler(ofNew column: Int, hasHeader: Bool) -> Value {
        let rows = newCells.keys.sorted().dropFirst(hasHeader ? 1 : 0)
        let cells = rows.compactMap { newCells[$0]?[column] }
        guard let first = cells.first else { return .null }
        if first.isEmptyCell, cells.allSatisfy({ $0 == first }) { return first }
        let kinds = Set(cells.filter { $0 != .null }.map(\.kind))
        return kinds.count == 1 ? first.emptied : .null
    }
}

/// A row of the base, and what a side has made of it.
struct TableRow {
    let position: Int
    let old: Value.List
    let new: Value.List
}

extension Delta {
    /// Whether a change of a list edits items and nothing else.
    var staysInPlace: Bool {
        switch self {
        case .keep: true
        case .list(let list): list.recipe.staysInPlace
        default: false
        }
    }
}

extension Value {
    /// Whether a cell says nothing: it is blank, zero or false, or has only such in it.
    var isEmptyCell: Bool {
        switch self {
        case .bool(false), .int(0): true
        case .map(let map): map.allSatisfy(\.value.isEmptyCell)
        case .list(let items): items.allSatisfy(\.isEmptyCell)
        default: isBlank
        }
    }

    /// A cell of the same form that says nothing.
    fileprivate var emptied: Value {
        switch self {
        case .string: ""
        case .list: []
        case .map(let map): .map(Map(map.map { ($0.key, $0.value.emptied) }))
        case .null, .bool, .int, .double, .bytes: .null
        }
    }
}
