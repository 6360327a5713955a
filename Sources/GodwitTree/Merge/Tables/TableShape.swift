/// A list of rows whose columns a side may have changed.
struct TableShape {
    private let key: Key?
    private let width: Int
    private let base: Value.List
    private let recipes: Sides<ListRecipe>
    /// Whether only other names beside the rows tell that a side has changed the columns.
    private let isByNames: Bool

    /// How many rows are looked at for records that have names.
    private static let rowsMax = 64

    /// - Returns: nil if no side may have changed the columns of all rows.
    init?(_ base: Value.List, _ deltas: Sides<ListDelta>, in around: MapAround?) {
        (self.base, recipes) = (base, deltas.map(\.recipe))
        guard !base.isEmpty else { return nil }
        let changed = [recipes.ours, recipes.theirs].filter {
            $0.editsAll(base) || around?.haveOtherNames == true
        }
        let own = changed.lazy.compactMap(\.placeOfCells).first
        isByNames = own == nil
        guard let place = own ?? around?.placeOfCells(of: base, recipes) else { return nil }
        let key = place.key
        let counts = base.lazy.compactMap { $0.cells(key)?.count }
        let widths = Dictionary(counts.map { ($0, 1) }, uniquingKeysWith: +)
        guard base.allSatisfy({ $0.cells(key) != nil }),
            let (width, count) = widths.max(by: { $0.value < $1.value }), width > 0,
            2 * count > base.count,
            !base.prefix(Self.rowsMax).contains(where: { $0.cells(key)?.hasNames == true })
        else { return nil }
        (self.key, self.width) = (key, width)
    }

    /// Where a row has its cells.
    fileprivate enum CellPlace: Equatable {
        /// The row is a list of them.
        case row
        /// The row is a record, and a field of it has them.
        case field(Key)

        var key: Key? {
            switch self {
            case .row: nil
            case .field(let key): key
            }
        }
    }

    /// The table, and both sides' changes, told by columns; nil if neither has changed the columns.
    ///
    /// - Complexity: O(*n*) for *n* cells.
    func table(in around: MapAround?, under key: Key?) -> (Table, Sides<ListDelta>)? {
        guard let ours = rows(of: recipes.ours), let theirs = rows(of: recipes.theirs) else {
            return nil
        }
        let rows = Sides(ours: ours, theirs: theirs)
        let top = base.firstIndex { $0.cells(self.key)?.count == width } ?? 0
        let header = TableHeader(around, of: key, rows, top: top, width: width)
        guard let table = Table(.items(key: self.key), rows, header, width: width),
            isNamed(by: header, rows),
            isTable(header, table, in: around) || isWide && table.shiftsCells,
            let our = delta(recipes.ours, table.sides.ours),
            let their = delta(recipes.theirs, table.sides.theirs)
        else { return nil }
        return (table, Sides(ours: our, theirs: their))
    }

    /// Whether most cells are where names beside the rows tell, if these alone tell it, or are as many as the rows
    /// too.
    private func isNamed(by header: TableHeader, _ rows: Sides<[TableRow]>) -> Bool {
        let mayBeOfRows = base.count == width && header.hasMovedNames(width)
        guard isByNames || header.list != nil && mayBeOfRows else { return true }
        return header.list != nil && header.agrees(with: rows, width: width)
    }

    /// Whether the columns have names, or are of different kinds: else the rows are mere lists, each on its
    /// own, and records with lists have more than these in them.
    private func isTable(_ header: TableHeader, _ table: Table, in around: MapAround?) -> Bool {
        if header.isThere(width) {
            return header.isFirstRow ? key == nil : !areSets(header, table, in: around)
        }
        guard key == nil, base.count > 1, !base.allSatisfy({ $0.list?.isTuple == true }) else {
            return false
        }
        let cells = base.compactMap(\.list).filter { $0.count == width }
        let kinds = (0..<width).map { column -> Set<String> in
            Set(
                cells.map { $0[column] }.filter { !$0.isBlank }.map {
                    $0.isNumber ? "number" : $0.kind
                }
            )
        }
        return kinds.allSatisfy { $0.count == 1 } && Set(kinds).count > 1
    }

    /// Whether the rows are no cells below the names beside them: the list of one record that is as long as a
    /// list of other records, words to which a side has put in others behind, or words of which the names are
    /// some.
    private func areSets(_ header: TableHeader, _ table: Table, in around: MapAround?) -> Bool {
        let list = header.list.flatMap { around?.base[$0]?.list }
        let areRecords = list?.first?.map != nil
        let rows = base.compactMap { $0.cells(key) }
        if key != nil, areRecords, rows.count == 1 { return true }
        guard rows.allSatisfy(\.areWords) else { return false }
        let names = Set(header.base.values)
        return key != nil && rows.count < Self.rowsMin && !(areRecords && table.shiftsCells)
            || rows.allSatisfy { row in row.allSatisfy(names.contains) }
    }

    /// Whether there are so many rows of cells that they do not have one of them put in, removed or moved in the
    /// same place by chance.
    private var isWide: Bool { key == nil && base.count >= Self.rowsMin }

    private static let rowsMin = 3

    /// The rows of the base that a side has, in the order of the base.
    private func rows(of recipe: ListRecipe) -> [TableRow]? {
        var rows: [TableRow] = []
        func append(_ position: Int, _ delta: Delta) -> Bool {
            guard let old = base[position].cells(key) else { return false }
            guard old.count == width else { return true }
            guard let new = base[position].changed(by: delta).cells(key) else { return false }
            rows.append(TableRow(position: position, old: old, new: new))
            return true
        }
        for run in recipe.runs {
            switch run {
            case .edited(let position, let delta):
                guard append(position, delta) else { return nil }
            case .kept(let range): guard range.allSatisfy({ append($0, .keep) }) else { return nil }
            case .new: break
            }
        }
        let tail = min(recipe.tail, base.count)..<base.count
        guard tail.allSatisfy({ append($0, .keep) }) else { return nil }
        return rows.sorted { $0.position < $1.position }
    }

    /// A side's change, told by columns.
    private func delta(_ recipe: ListRecipe, _ side: TableSide) -> ListDelta? {
        var told = ListRecipe()
        func append(_ position: Int, _ delta: Delta) -> Bool {
            guard let delta = self.delta(delta, of: base[position], side) else { return false }
            told.append(.edited(position, delta))
            return true
        }
        for run in recipe.runs {
            switch run {
            case .edited(let position, let delta):
                guard append(position, delta) else { return nil }
            case .kept(let rows) where !side.isUnchanged:
                guard rows.allSatisfy({ append($0, .keep) }) else { return nil }
            case .kept, .new: told.append(run)
            }
        }
        guard !side.isUnchanged, recipe.tail < base.count else {
            told.finish(tail: recipe.tail)
            return ListDelta(told)
        }
        guard (recipe.tail..<base.count).allSatisfy({ append($0, .keep) }) else { return nil }
        told.finish(tail: base.count)
        return ListDelta(told)
    }

    /// A side's change of a row, told by columns; nil where it adds to numbers in cells that moved.
    private func delta(_ delta: Delta, of row: Value, _ side: TableSide) -> Delta? {
        guard let cells = row.cells(key) else { return nil }
        guard cells.count == width else { return delta }
        guard let told = side.delta(cellsDelta(in: delta), of: cells) else { return nil }
        guard let key else { return told }
        let others: [MapDelta.Entry]
        switch delta {
        case .map(let map): others = map.entries.filter { $0.key != key }
        case .keep: others = []
        default: return nil
        }
        let entries = others + [MapDelta.Entry(key: key, change: .apply(told))]
        return .map(entries.sorted { $0.key < $1.key })
    }

    private func cellsDelta(in delta: Delta) -> Delta {
        guard let key, case .map(let map) = delta else { return delta }
        return map.entries.first { $0.key == key }?.change.delta ?? .keep
    }
}

extension Value {
    /// The cells of a row.
    func cells(_ key: Key?) -> List? { key.map { map?[$0]?.list } ?? list }
}

extension Value.List {
    /// Whether there are records with names among these: things, and no cells.
    var hasNames: Bool { contains { $0.usualName != nil } }

    /// Whether these are words, each another one, as in a set: cells may be empty, or be there twice.
    var areWords: Bool {
        allSatisfy { $0.text != nil && !$0.isBlank } && Set(self).count == count
    }
}

extension MapAround {
    /// Where the first row has cells that are as many as names beside them, where a side has changed these
    /// and all rows.
    fileprivate func placeOfCells(
        of rows: Value.List,
        _ recipes: Sides<ListRecipe>
    ) -> TableShape.CellPlace? {
        for side in Side.allCases where recipes[side].editsAll(rows) {
            for names in otherNames[side] {
                if rows[0].list?.count == names.count { return .row }
                let cells = rows[0].map?.first { $0.value.list?.count == names.count }
                if let cells { return .field(cells.key) }
            }
        }
        return nil
    }
}

extension ListRecipe {
    /// Whether each row that stays is edited, or nearly each.
    ///
    /// Where several rows have their cells in another order, or the first one above mere marks and numbers,
    /// those to which it makes no difference are kept.
    fileprivate func editsAll(_ base: Value.List) -> Bool {
        var kept = [min(tail, base.count)..<base.count]
        var edited: [(position: Int, delta: Delta)] = []
        for run in runs {
            switch run {
            case .kept(let range): kept.append(range)
            case .edited(let position, let delta): edited.append((position, delta))
            case .new: break
            }
        }
        let keptCount = kept.reduce(0) { $0 + $1.count }
        guard keptCount > edited.count else { return !edited.isEmpty }
        guard placeOfCells == .row else { return false }
        let orders = edited.lazy.compactMap { row in
            TableRow(base[row.position], changedBy: row.delta)?.order
        }
        guard let order = orders.first else { return false }
        guard let first = base[edited[0].position].list else { return false }
        let rows = kept.joined().compactMap { base[$0].list }.filter { $0.count == first.count }
        guard edited.count == 1 else {
            return edited.count >= rows.count { !$0.isSame(in: order) }
        }
        return edited[0].position == base.firstIndex { $0.list?.count == first.count }
            && first.cells(movedTo: order).allSatisfy(\.hasWord)
            && rows.allSatisfy { $0.hasMarks(where: order) }
            && rows.contains { !$0.cells(movedTo: order).allSatisfy(\.isBlank) }
    }

    /// Where the first row that has cells put in, removed or moved has them.
    fileprivate var placeOfCells: TableShape.CellPlace? {
        for case .edited(_, let delta) in runs {
            if case .list(let cells) = delta, !cells.recipe.staysInPlace { return .row }
            guard case .map(let map) = delta else { continue }
            for entry in map.entries {
                if case .list(let cells)? = entry.change.delta, !cells.recipe.staysInPlace {
                    return .field(entry.key)
                }
            }
        }
        return nil
    }
}
