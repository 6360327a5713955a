// Lists side by side: the labels and the values of a chart, a table by columns.
//
// Lists of a map are the rows of a table if they are of scalars, of rows of these, or of records without names,
// and of one length in the base and on each side, and a side has put in, removed or moved items, all in the same
// places: what stands at one position belongs together. One of them has the names of the others, which are
// not all sets of words; or they are numbers, but no sets of ids. Records with names may be those of the rows of a
// matrix, or of values that move with them. A list of that length that one side adds, and that is no set of
// words, is a row as well; one that does not follow the others is none.

struct ParallelLists {
    let table: Table
    /// The changes of the map, told by columns.
    let deltas: Sides<MapDelta>

    private static let listsMin = 2
    private static let fieldsMax = 256
    /// Of so many lists that a side has made others of one leads the others.
    private static let leadersMax = 8
    /// Two numbers are a point, or a range.
    private static let numbersMin = 3

    /// - Returns: nil if the lists of the map are none.
    init?(_ base: Value.Map, _ deltas: Sides<MapDelta>) {
        guard base.count <= Self.fieldsMax, deltas.ours != deltas.theirs else { return nil }
        let leaders = Side.allCases.lazy.flatMap { deltas[$0].entries }
            .filter { $0.change.delta?.isOtherList == true }
        var best: (count: Int, lists: ParallelLists)?
        for leader in leaders.prefix(Self.leadersMax)
        where best?.lists.keys.contains(leader.key) != true {
            guard
                let lists = ParallelLists(base, deltas, leader: leader.key, names: .cells)
                    ?? ParallelLists(base, deltas, leader: leader.key, names: .records)
            else { continue }
            let count = lists.keys.count
            if count > best?.count ?? 0 { best = (count, lists) }
        }
        guard let best else { return nil }
        self = best.lists
    }

    /// What the names stand in: one of the lists of cells, or the records beside a matrix.
    fileprivate enum NameList { case cells, records }

    private var keys: Set<Key> {
        if case .fields(let keys) = table.rows { keys } else { [] }
    }

    private init?(
        _ base: Value.Map,
        _ deltas: Sides<MapDelta>,
        leader: Key,
        names: NameList
    ) {
        guard let width = base[leader]?.list?.count, (2...ColumnSearch.columnsMax).contains(width),
            let first = Self.row(leader, base, deltas, at: 0, names)
        else { return nil }
        let lead = first.map(Leader.init)
        var (keys, rows) = ([Key](), Sides<[TableRow]>(both: []))
        let lists = base.filter { $0.value.list?.count == width }
        let isAsLong = Side.allCases.allSatisfy { lead[$0].row.new.count == width }
        // Equal items do not tell that they have moved: other lists do.
        for areEqual in [false, true] {
            for entry in lists where entry.value.list?.areEqual == areEqual {
                guard
                    let row = Self.row(entry.key, base, deltas, at: keys.count, names, behind: lead)
                else { continue }
                let isPlain =
                    areEqual && isAsLong && keys.count < Self.listsMin && row.ours.old[0].isNumber
                guard
                    Side.allCases.allSatisfy({ row[$0].follows(lead[$0], isPlain: isPlain) })
                else { continue }
                keys.append(entry.key)
                for side in Side.allCases { rows[side].append(row[side]) }
            }
        }
        var header = TableHeader(rows, width: width)
        // Words that are as many as the names, and not told by them, are a set of their own.
        let others = rows.ours.indices.filter { place in
            let list = rows.ours[place].old
            let mayBeOther =
                switch names {
                case .cells:
                    list.areWords || list.contains { !$0.deepTexts.isEmpty && $0.map != nil }
                case .records: !list.isMatrix
                }
            return place != header.row && mayBeOther
                && !header.agrees(with: rows.map { [$0[place]] }, width: width)
        }
        for place in others.reversed() {
            keys.remove(at: place)
            for side in Side.allCases { rows[side].remove(at: place) }
        }
        if !others.isEmpty { header = TableHeader(rows, width: width) }
        guard keys.count >= Self.listsMin, Self.areSideBySide(rows.ours.map(\.old), header),
            rows.ours[0].new.count != width || rows.theirs[0].new.count != width
                || header.hasMovedNames(width),
            let table = Table(.fields(Set(keys)), rows, header, width: width),
            let our = Self.delta(deltas.ours, base, table, .ours),
            let their = Self.delta(deltas.theirs, base, table, .theirs)
        else { return nil }
        self.table = table
        self.deltas = Sides(ours: our, theirs: their)
    }

    /// Whether lists of one length have names and values, or numbers that tell which of them belong together:
    /// else they are sets that are equally large by chance.
    private static func areSideBySide(_ lists: [Value.List], _ header: TableHeader) -> Bool {
        let values = lists.enumerated().filter { place, list in
            place != header.row && !list.areWords
        }
        if header.row != nil, header.base.areTexts { return !values.isEmpty }
        let numbers = values.map(\.element) + (header.row.map { [lists[$0]] } ?? [])
        let cells = numbers.flatMap { $0.map(\.self) }
        let areIDs = cells.allSatisfy { $0.integer != nil } && Set(cells).count == cells.count
        return numbers.count >= listsMin && lists[0].count >= numbersMin && !areIDs
    }

    /// A list of cells as a row, as both sides have it; nil where one has none.
    private static func row(
        _ key: Key,
        _ base: Value.Map,
        _ deltas: Sides<MapDelta>,
        at position: Int,
        _ names: NameList,
        behind lead: Sides<Leader>? = nil
    ) -> Sides<TableRow>? {
        guard let value = base[key], let old = value.list, old.isRow(names) else { return nil }
        let rows = deltas.map { delta -> TableRow? in
            let change = delta[key]
            if case .remove? = change { return nil }
            return value.changed(by: change?.delta ?? .keep).list.map {
                TableRow(position: position, old: old, new: $0)
            }
        }
        guard let ours = rows.ours, let theirs = rows.theirs else { return nil }
        let row = Sides(ours: ours, theirs: theirs)
        // Rows whose columns a side has changed are a table of their own.
        let areTable = TableShape(old, deltas.lists(under: key), in: nil) != nil
        guard !areTable || lead.map(row.areRows) == true else { return nil }
        return row
    }

    private static func delta(
        _ delta: MapDelta,
        _ base: Value.Map,
        _ table: Table,
        _ side: Side
    ) -> MapDelta? {
        guard case .fields(let keys) = table.rows else { return nil }
        var entries: [MapDelta.Entry] = []
        for entry in delta.entries {
            guard keys.contains(entry.key), let row = base[entry.key]?.list,
                case .apply(let change) = entry.change
            else {
                entries.append(entry)
                continue
            }
            guard let told = table.sides[side].delta(change, of: row) else { return nil }
            entries.append(MapDelta.Entry(key: entry.key, change: .apply(told)))
        }
        guard !table.sides[side].isUnchanged else { return MapDelta(ascending: entries) }
        // A list that looks as before has its items moved too.
        for key in keys where delta[key] == nil {
            guard let row = base[key]?.list, let told = table.sides[side].delta(.keep, of: row)
            else { return nil }
            entries.append(MapDelta.Entry(key: key, change: .apply(told)))
        }
        return MapDelta(ascending: entries.sorted { $0.key < $1.key })
    }
}

extension Sides<MapDelta> {
    /// The changes of a list under a key; none for what is another change.
    func lists(under key: Key) -> Sides<ListDelta> {
        map { delta in
            guard case .list(let list)? = delta[key]?.delta else { return ListDelta(ListRecipe()) }
            return list
        }
    }
}

extension Sides<TableRow> {
    /// Whether lists of cells, some of which have other cells, are as wide as before, and a side has moved them
    /// as the names beside them.
    fileprivate func areRows(behind lead: Sides<Leader>) -> Bool {
        let widths = Set([ours.old, ours.new, theirs.new].flatMap { $0.map { $0.list?.count } })
        return widths.count == 1 && Side.allCases.contains { self[$0].isMoved(as: lead[$0]) }
            && !Side.allCases.contains { !lead[$0].isChanged && self[$0].movesColumns }
    }
}

extension TableRow {
    /// Whether a list has changed as another one has: if it has kept its items while the other one moved some,
    /// it has not, unless they look the same.
    ///
    /// - Parameter isPlain: Whether nothing tells that equal items have moved.
    fileprivate func follows(_ leader: Leader, isPlain: Bool) -> Bool {
        guard new.count == leader.row.new.count else { return false }
        guard new == old, new.count == old.count else { return true }
        let moves = leader.sources.enumerated().filter { new, old in old != nil && old != new }
        return moves.isEmpty || !isPlain && moves.allSatisfy { new[$0] == $1.map { old[$0] } }
    }

    /// Whether rows stay with their names: most are found where these went, and not by columns.
    fileprivate func isMoved(as names: Leader) -> Bool {
        guard names.isChanged, new.count == names.row.new.count else { return false }
        let pairs = names.sources.enumerated().compactMap { new, old in old.map { ($0, new) } }
        let rows = pairs.map { (old[$0].list ?? [], new[$1].list ?? []) }
        guard 2 * rows.count(where: { $0 == $1 }) >= max(rows.count, 1) else { return false }
        guard new.count == old.count, old[0].list?.count == old.count else { return true }
        let byRows = rows.reduce(0) { sum, row in sum + zip(row.0, row.1).count(where: ==) }
        let byColumns = zip(old, new).reduce(0) { sum, row in
            sum + pairs.count { row.0.list?[$0] == row.1.list?[$1] }
        }
        return byRows > byColumns
    }

    /// Whether some rows have their cells in another order, and no row has others.
    fileprivate var movesColumns: Bool {
        guard new.count == old.count else { return false }
        let changed = zip(old, new).filter { $0 != $1 }
        return changed.count > 1
            && changed.allSatisfy { row, newRow in
                func counts(_ row: Value) -> [ItemContent: Int] {
                    Dictionary((row.list ?? []).map { (ItemContent($0), 1) }, uniquingKeysWith: +)
                }
                return counts(row) == counts(newRow)
            }
    }
}

/// One of several lists side by side, whose items tell where those of the others have gone.
private struct Leader {
    let row: TableRow
    let isChanged: Bool
    /// The place in the old list of each new item, by its name.
    let sources: [Int?]

    init(_ row: TableRow) {
        self.row = row
        isChanged = row.new != row.old
        func names(_ list: Value.List) -> [Value?] {
            TableHeader.Names(beside: list)?.values ?? Array(list)
        }
        let places = ListMatching.uniquePositions(of: names(row.old))
        var sources = [Int?](repeating: nil, count: row.new.count)
        for (name, place) in ListMatching.uniquePositions(of: names(row.new)) {
            sources[place] = places[name]
        }
        self.sources = sources
    }
}

extension Delta {
    /// Whether this puts items into a list, removes or moves some.
    fileprivate var isOtherList: Bool {
        guard case .list(let list) = self else { return false }
        return !list.recipe.staysInPlace
    }
}

extension Value.List {
    /// Whether it may be one of the lists side by side.
    fileprivate func isRow(_ names: ParallelLists.NameList) -> Bool {
        switch names {
        case .cells: allSatisfy(\.isCell)
        case .records:
            isMatrix || allSatisfy(\.isScalar)
                || first?.map != nil && TableHeader.Names(beside: self)?.areTexts == true
        }
    }

    /// Whether each item is like the others, and none is a row of cells.
    fileprivate var areEqual: Bool { allSatisfy { $0 == self[0] && $0.list == nil } }

    /// Whether its items are rows of cells.
    fileprivate var isMatrix: Bool { allSatisfy { $0.list?.allSatisfy(\.isScalar) == true } }
}

extension Value {
    /// Whether it is a scalar or a row of these, or has no name that could tell it from others.
    fileprivate var isCell: Bool {
        isScalar || list?.allSatisfy(\.isScalar) == true || deepTexts.isEmpty
            || map != nil && usualName == nil
    }
}
