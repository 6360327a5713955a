// Lists side by side: the labels and the values of a chart, a table by columns.
//
// The lists of a map are the rows of a table if they are of scalars, or of rows and records without texts,
// and of one length in the base and on each side, and a side has made them longer or shorter, all in the same places: what stands at one
// position belongs together. A list of that length that one side adds is a row as well.

struct ParallelLists {
    let table: Table
    /// The changes of the map, told by columns.
    let deltas: Sides<MapDelta>

    private static let listsMin = 2
    private static let fieldsMax = 256

    /// - Returns: nil if the lists of the map are none.
    init?(_ base: Value.Map, _ deltas: Sides<MapDelta>) {
        let changed = Side.allCases.lazy.flatMap { deltas[$0].entries }
            .first { $0.change.delta?.changesLength == true }
        guard base.count <= Self.fieldsMax, deltas.ours != deltas.theirs, let key = changed?.key,
            let width = base[key]?.list?.count, (2...ColumnSearch.columnsMax).contains(width)
        else { return nil }
        let lists = base.filter { $0.value.list?.count == width }
        let keys = lists.map(\.key)
        guard keys.count >= Self.listsMin,
            lists.allSatisfy({ $0.value.list?.allSatisfy(\.isCell) == true }),
            let ours = Self.rows(keys, base, deltas.ours),
            let theirs = Self.rows(keys, base, deltas.theirs),
            ours[0].new.count != width || theirs[0].new.count != width
        else { return nil }
        let rows = Sides(ours: ours, theirs: theirs)
        guard let table = Table(.fields(Set(keys)), rows, TableHeader(rows), width: width),
            let our = Self.delta(deltas.ours, base, table, .ours),
            let their = Self.delta(deltas.theirs, base, table, .theirs)
        else { return nil }
        self.table = table
        self.deltas = Sides(ours: our, theirs: their)
    }

    private static func rows(_ keys: [Key], _ base: Value.Map, _ delta: MapDelta) -> [TableRow]? {
        var rows: [TableRow] = []
        for (position, key) in keys.enumerated() {
            let change = delta[key]
            guard let value = base[key], let old = value.list, change != .remove,
                let new = value.changed(by: change?.delta ?? .keep).list,
                new.count == rows.first?.new.count ?? new.count
            else { return nil }
            rows.append(TableRow(position: position, old: old, new: new))
        }
        return rows
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
        return MapDelta(ascending: entries)
    }
}

extension Delta {
    /// Whether this changes how many items a list has.
    fileprivate var changesLength: Bool {
        guard case .list(let list) = self else { return false }
        return list.recipe.count != list.recipe.tail
    }
}

extension Value {
    /// Whether it is a scalar, or has no text that could tell it from others.
    fileprivate var isCell: Bool { isScalar || deepTexts.isEmpty }
}
