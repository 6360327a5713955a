/// The names of a table's columns, in the base and on both sides; empty where there are none.
struct TableHeader {
    let base: Names
    let sides: Sides<Names>
    /// The key of the list beside the table that has the names.
    let list: Key?
    /// Whether the names are in the first row.
    let isFirstRow: Bool
    /// Whether the names are one of several lists side by side, any of which could have them.
    let isOneOfRows: Bool

    /// Whether there are names.
    func isThere(_ width: Int) -> Bool { base.positions(width) != nil }

    /// The names of the columns of one version, in their order; nil for a column without one.
    struct Names {
        let values: [Value?]

        init(values: [Value?]) { self.values = values }

        /// The columns by their names; nil if most have none, or if these are names of something else.
        func positions(_ count: Int) -> [Value: Int]? {
            var positions: [Value: Int] = [:]
            for (column, name) in values.enumerated() {
                guard let name else { continue }
                guard positions.updateValue(column, forKey: name) == nil else { return nil }
            }
            return values.count == count && 2 * positions.count >= count ? positions : nil
        }
    }

    /// The names in the first of several rows that has a text of its own in each column.
    init(_ rows: Sides<[TableRow]>) {
        let named = zip(rows.ours, rows.theirs).first { ours, theirs in
            [ours.old, ours.new, theirs.new].allSatisfy { Names(beside: $0) != nil }
        }
        (list, isFirstRow, isOneOfRows) = (nil, false, true)
        base = named.flatMap { Names(beside: $0.0.old) } ?? Names(values: [])
        sides = Sides(
            ours: named.flatMap { Names(beside: $0.0.new) } ?? Names(values: []),
            theirs: named.flatMap { Names(beside: $0.1.new) } ?? Names(values: [])
        )
    }

    /// The names in a list beside the table, or else in its first row, if that is none like the others.
    ///
    /// - Parameters:
    ///   - around: The map that has the table.
    ///   - key: The key of the table in it.
    init(_ around: MapAround?, of key: Key?, _ rows: Sides<[TableRow]>, width: Int) {
        isOneOfRows = false
        let widths = rows.map { $0.first?.new.count ?? 0 }
        if let around, let lists = around.names(besides: key, width: width, widths) {
            (base, sides, list, isFirstRow) = (lists.base, lists.sides, lists.key, false)
            return
        }
        list = nil
        let first = rows.map { rows in rows.first.flatMap { $0.position == 0 ? $0 : nil } }
        isFirstRow = true
        let data = rows.ours.dropFirst().map(\.old)
        guard let old = first.ours?.old ?? first.theirs?.old,
            data.contains(where: { $0.isNoHeader(width) }) || data.repeatsCells(below: old)
        else {
            (base, sides) = (Names(values: []), Sides(both: Names(values: [])))
            return
        }
        base = Names(first: old)
        sides = first.map { Names(first: $0?.new) }
    }
}

extension TableHeader.Names {
    /// The names of columns in a list of texts or ints, or of records with usual names.
    fileprivate init?(beside list: Value.List) {
        if let names = Self.own(list.map { $0.text == nil && $0.integer == nil ? nil : $0 }) {
            values = names
            return
        }
        guard let first = list.first?.map,
            let names = first.lazy.filter(\.isUsualName).compactMap({ field in
                Self.own(list.map { $0[field.key] })
            }).first
        else { return nil }
        values = names
    }

    /// Names, if each is there and no other is like it.
    private static func own(_ names: [Value?]) -> [Value?]? {
        names.contains(nil) || Set(names).count < names.count ? nil : names
    }

    fileprivate init(first row: Value.List?) {
        let row = row ?? []
        let areTexts = row.allSatisfy { $0.text != nil }
        values = areTexts ? row.map { $0.isBlank ? nil : $0 } : []
    }
}

extension Value.List {
    /// Whether a row is none of names: it has numbers, empty cells, or one text twice.
    fileprivate func isNoHeader(_ width: Int) -> Bool {
        contains { $0.text == nil || $0.isBlank } || Set(self).count < width
    }
}

extension [Value.List] {
    /// Whether these rows have one cell twice, and none of another row: they have values, and that one names.
    fileprivate func repeatsCells(below header: Value.List) -> Bool {
        let cells = flatMap { row in row.map(\.self) }
        return Set(cells).count < cells.count && Set(header).isDisjoint(with: cells)
    }
}

/// A map that is being merged.
struct MapAround {
    let base: Value.Map
    let deltas: Sides<MapDelta>

    /// Whether a list has the names of the columns of a table.
    func hasHeader(_ list: Value.List, under key: Key) -> Bool {
        guard base.count <= Self.fieldsMax else { return false }
        let isBesideTable = base.contains { entry in
            guard entry.key != key, let rows = entry.value.list, !rows.isEmpty else { return false }
            if let cells = rows[0].list { return cells.count == list.count }
            return rows[0].map?.contains { $0.value.list?.count == list.count } == true
        }
        return isBesideTable && TableHeader.Names(beside: list) != nil
    }

    /// Whether the sides have changed a list of names that has a table beside it, and not alike.
    var haveOtherNames: Bool {
        Side.allCases.contains { side in
            deltas[side].entries.contains { entry in
                guard case .list(let change)? = entry.change.delta, !change.recipe.staysInPlace,
                    deltas[side.other][entry.key] != entry.change
                else { return false }
                return base[entry.key]?.list.map { hasHeader($0, under: entry.key) } == true
            }
        }
    }

    private static let fieldsMax = 256

    /// A list of as many names as a table has columns, in each version.
    fileprivate func names(
        besides table: Key?,
        width: Int,
        _ widths: Sides<Int>
    ) -> (key: Key, base: TableHeader.Names, sides: Sides<TableHeader.Names>)? {
        // Of two lists that could have the names, one that a side has changed has them.
        let changed = base.filter { deltas.ours[$0.key] != nil || deltas.theirs[$0.key] != nil }
        for entry in changed + Array(base) where entry.key != table {
            let (key, value) = (entry.key, entry.value)
            guard let list = value.list, list.count == width,
                let names = TableHeader.Names(beside: list)
            else { continue }
            let sides = deltas.map { delta -> TableHeader.Names? in
                let change = delta[key]
                if case .remove? = change { return nil }
                return value.changed(by: change?.delta ?? .keep).list.flatMap { .init(beside: $0) }
            }
            if let ours = sides.ours, let theirs = sides.theirs,
                ours.values.count == widths.ours, theirs.values.count == widths.theirs
            {
                return (key, names, Sides(ours: ours, theirs: theirs))
            }
        }
        return nil
    }
}
