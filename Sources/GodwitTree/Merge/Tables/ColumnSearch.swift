/// The search for the columns of an old table in a new one.
///
///   (1) Columns are found by their names, where they have some; one without, or with another name, by most
///       of its cells, or in its place if these are empty or rows.
///   (2) Without names, columns have moved where most rows have their cells in one other order, unless that
///       sorts each row, or the columns have words: people, say, change places in rows too. Else columns are
///       those with the most cells in common, in their order (the heaviest common subsequence); most cells
///       must be equal, and no cell that a row has once may stand in another column. Then columns are matched
///       by place where as many went as came.
struct ColumnSearch {
    /// The column of the old table for each one of the new; nil for a new one.
    private(set) var sources: [Int?]
    /// The old and the new versions of some rows.
    private let rows: [TableRow]
    private let width: Int

    private static let rowsMax = 128
    /// Each column without a name is compared with each other one.
    private static let unnamedMax = 256
    private static let pairsMax = 1 << 12
    /// The points of a chart for each day of eleven years.
    static let columnsMax = 1 << 12

    /// - Returns: nil if the rows do not say which columns are which.
    /// - Complexity: O(*w*) for *w* columns with names, O(*w*²) for others, times a bounded number of rows.
    init?(_ rows: [TableRow], _ header: TableHeader, of side: Side, width: Int, newWidth: Int) {
        guard max(width, newWidth) <= Self.columnsMax, !rows.isEmpty else { return nil }
        self.width = width
        let step = (rows.count + Self.rowsMax - 1) / Self.rowsMax
        self.rows = stride(from: 0, to: rows.count, by: step).map { rows[$0] }
        sources = Array(repeating: nil, count: newWidth)
        if let old = header.base.positions(width), let new = header.sides[side].positions(newWidth)
        {
            matchNames(old, new)
            // A row of names says nothing of other names.
            let rowCount = self.rows.count - (header.isAmongRows ? 1 : 0)
            matchUnnamed(header, of: side, rowCount: rowCount)
            matchRenamed(header, of: side, rowCount: rowCount)
            matchPlaces { search, old, new in 2 * search.likeness(old, new) > Double(rowCount) }
            let distinct = header.row != nil ? self.rows.filter(\.isDistinct) : []
            guard !distinct.contains(where: mostlyContradicts) else { return nil }
        } else {
            guard rows.count > 1, max(width, newWidth) <= Self.unnamedMax else { return nil }
            if !matchMoved() {
                matchInOrder()
                guard isConvincing else { return nil }
                forgetChance()
                guard !self.rows.contains(where: contradicts) else { return nil }
            }
            matchPlaces()
        }
    }

    var newColumns: [Int] { sources.indices.filter { sources[$0] == nil } }

    /// How many cells two columns have in common.
    private func score(_ old: Int, _ new: Int) -> Int {
        rows.count { $0.old[old] == $0.new[new] }
    }

    /// How many cells two columns have in common, with the part of those that are lists.
    private func likeness(_ old: Int, _ new: Int) -> Double {
        rows.reduce(0) { sum, row in
            let (cell, newCell) = (row.old[old], row.new[new])
            guard cell != newCell else { return sum + 1 }
            guard let items = cell.list, let newItems = newCell.list, items.count == newItems.count
            else { return sum }
            return sum + Double(zip(items, newItems).count(where: ==)) / Double(items.count)
        }
    }

    private mutating func matchNames(_ old: [Value: Int], _ new: [Value: Int]) {
        for (name, column) in new { sources[column] = old[name] }
    }

    /// Matches the one column without a name with the one that has none, if no other column came or went and
    /// it stays beside another one or half of the cells are equal, or if most of them are.
    private mutating func matchUnnamed(_ header: TableHeader, of side: Side, rowCount: Int) {
        let (old, new) = (header.base.unnamed, header.sides[side].unnamed)
        guard old.count == 1, new.count == 1 else { return }
        let isOnly = newColumns == new && sources.count { $0 != nil } == width - 1
        let common = score(old[0], new[0]) - (header.isAmongRows ? 1 : 0)
        // It may have got a name, and another one without a name have come.
        let isRenamed = newColumns.contains { $0 != new[0] && score(old[0], $0) >= common }
        let isLike = 2 * common > rowCount && tellsCells(old[0], new[0])
        let isSame =
            common == rowCount || 2 * common >= rowCount && tellsCells(old[0], new[0])
            || staysBeside(old[0], new[0])
        if isOnly && isSame || isLike && !isRenamed { sources[new[0]] = old[0] }
    }

    /// Whether one of a column's neighbours, or an end of the table, is beside it as before.
    private func staysBeside(_ old: Int, _ new: Int) -> Bool {
        let before = new > 0 ? sources[new - 1] : -1
        let after = new + 1 < sources.count ? sources[new + 1] : width
        return before == old - 1 || after == old + 1
    }

    /// Whether two columns have a cell in common that is not empty.
    private func tellsCells(_ old: Int, _ new: Int) -> Bool {
        rows.contains { !$0.new[new].isBlank && $0.old[old] == $0.new[new] }
    }

    /// Matches columns without a name, or with another one, by most of their cells: those first that have
    /// most in common.
    private mutating func matchRenamed(_ header: TableHeader, of side: Side, rowCount: Int) {
        var free = Set(0..<width).subtracting(sources.compactMap { $0 })
        guard free.count * newColumns.count <= Self.pairsMax else { return }
        let names = header.sides[side].values
        let pairs = newColumns.flatMap { new in
            free.sorted().map { old in
                // A row of names has nothing above both.
                let isBias =
                    header.isAmongRows && names[new] == nil && header.base.values[old] == nil
                return (new: new, old: old, score: score(old, new) - (isBias ? 1 : 0))
            }
        }
        for pair in pairs.sorted(by: { $0.score > $1.score }) where 2 * pair.score > rowCount {
            guard sources[pair.new] == nil, free.contains(pair.old) else { continue }
            let rivals = pairs.filter {
                ($0.new == pair.new) != ($0.old == pair.old)
                    && ($0.new == pair.new
                        ? free.contains($0.old) && $0.score == pair.score
                        : sources[$0.new] == nil && $0.score >= pair.score)
            }
            let areUnnamed = names[pair.new] == nil && header.base.values[pair.old] == nil
            let isInPlace =
                header.base.values[pair.old] == nil && pair.score >= rowCount && rivals.isEmpty
                && staysBeside(pair.old, pair.new)
            guard
                areUnnamed && tellsCells(pair.old, pair.new) || isInPlace
                    || tellsName(pair.old, pair.new, rowCount: rowCount)
            else { continue }
            // Equal columns without names cannot be told apart, and the old one may have got a name.
            guard
                names[pair.new] != nil
                    || !rivals.contains(where: { $0.new == pair.new || names[$0.new] != nil })
            else { continue }
            sources[pair.new] = pair.old
            free.remove(pair.old)
        }
    }

    /// Whether the cells that two columns have in common tell that one has got the other's name: a mark that
    /// most rows have is in other columns too.
    private func tellsName(_ old: Int, _ new: Int, rowCount: Int) -> Bool {
        let common = rows.filter { $0.old[old] == $0.new[new] }.map { $0.new[new] }
        let cells = Set(common.filter { !$0.isEmptyCell })
        return cells.count > 1 || common.count >= rowCount && cells.contains { $0 != true }
    }

    /// Whether most rows have their cells in another order, all in the same one, and none contradicts.
    private mutating func matchMoved() -> Bool {
        let orders = rows.compactMap(\.order)
        guard orders.count > 1, 2 * orders.count > rows.count, let order = orders.combined,
            rows.allSatisfy({ $0.mayHaveMoved(to: order) }),
            order.enumerated().contains(where: { isOfNoWords($0.element, movedTo: $0.offset) }),
            !rows.areSorted(by: order)
        else { return false }
        sources = order
        return true
    }

    /// Whether a column is in another place, and has no words: people, say, change places in rows too.
    private func isOfNoWords(_ old: Int?, movedTo new: Int) -> Bool {
        old.map { old in old != new && !rows.contains { $0.old[old].hasWord } } ?? false
    }

    private mutating func matchInOrder() {
        let scores = (0..<width).map { old in sources.indices.map { score(old, $0) } }
        // The best sums of what is left from a pair of columns on.
        var best = Array(repeating: Array(repeating: 0, count: sources.count + 1), count: width + 1)
        for old in (0..<width).reversed() {
            for new in sources.indices.reversed() {
                let both = scores[old][new] + best[old + 1][new + 1]
                best[old][new] = max(both, best[old + 1][new], best[old][new + 1])
            }
        }
        var (old, new) = (0, 0)
        while old < width, new < sources.count {
            let score = scores[old][new]
            if score > 0, best[old][new] == score + best[old + 1][new + 1] {
                sources[new] = old
                (old, new) = (old + 1, new + 1)
            } else if best[old][new] == best[old][new + 1] {
                new += 1
            } else {
                old += 1
            }
        }
    }

    /// Whether most cells are equal in the columns that were found.
    private var isConvincing: Bool {
        let pairs = sources.enumerated().compactMap { new, old in old.map { (old: $0, new: new) } }
        let equal = pairs.reduce(0) { $0 + score($1.old, $1.new) }
        return !pairs.isEmpty && 2 * equal > pairs.count * rows.count
    }

    /// Takes back matches of columns elsewhere that few cells tell.
    private mutating func forgetChance() {
        for (new, old) in sources.enumerated() {
            guard let old, old != new, 2 * score(old, new) <= rows.count else { continue }
            sources[new] = nil
        }
    }

    /// Whether a cell that a row has once, before and after, stands in another column.
    private func contradicts(_ row: TableRow) -> Bool { stay(row).contains(false) }

    /// Whether as many such cells stand in another column as in their own, or more.
    private func mostlyContradicts(_ row: TableRow) -> Bool {
        let stay = stay(row)
        return 2 * stay.count { $0 } <= stay.count && stay.contains(false)
    }

    /// Whether each cell that a row has once, before and after, stands in its column.
    private func stay(_ row: TableRow) -> [Bool] {
        let old = ListMatching.uniquePositions(of: row.old.map(ItemContent.init))
        let new = ListMatching.uniquePositions(of: row.new.map(ItemContent.init))
        return new.compactMap { content, column in old[content].map { sources[column] == $0 } }
    }

    /// Matches columns between the same two neighbours, where as many went as came.
    private mutating func matchPlaces(
        where mayBeOne: (_ search: ColumnSearch, _ old: Int, _ new: Int) -> Bool = { _, _, _ in true
        }
    ) {
        var (start, next) = (0, 0)
        let taken = Set(sources.compactMap { $0 })
        for end in 0...sources.count where end == sources.count || sources[end] != nil {
            let stop = end < sources.count ? sources[end] ?? width : width
            let gap = next..<max(next, stop)
            if start < end, gap.count == end - start, taken.isDisjoint(with: gap) {
                for new in start..<end {
                    let old = next + new - start
                    if mayBeOne(self, old, new) { sources[new] = old }
                }
            }
            (start, next) = (end + 1, stop + 1)
        }
    }
}

extension TableRow {
    /// Whether each cell is there once, before and after.
    fileprivate var isDistinct: Bool {
        [old, new].allSatisfy { Set($0.map(ItemContent.init)).count == $0.count }
    }
}
