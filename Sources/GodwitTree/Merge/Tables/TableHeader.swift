/// The names of a table's columns, in the base and on both sides; empty where there are none.
struct TableHeader {
    let base: Names
    let sides: Sides<Names>

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
        base = named.flatMap { Names(beside: $0.0.old) } ?? Names(values: [])
        sides = Sides(
            ours: named.flatMap { Names(beside: $0.0.new) } ?? Names(values: []),
            theirs: named.flatMap { Names(beside: $0.1.new) } ?? Names(values: [])
        )
    }

    /// The names in a list beside the table, or else in its first row.
    ///
    /// - Parameter around: The map that has the table.
    init(_ around: MapAround?, _ rows: Sides<[TableRow]>, width: Int) {
        let widths = rows.map { $0.first?.new.count ?? 0 }
        if let around, let lists = around.names(width: width, widths) {
            (base, sides) = (lists.base, lists.sides)
            return
        }
        let first = rows.map { rows in rows.first.flatMap { $0.position == 0 ? $0 : nil } }
        base = Names(first: first.ours?.old ?? first.theirs?.old)
        sides = first.map { Names(first: $0?.new) }
    }
}

extension TableHeader.Names {
    /// The names of columns in a list of texts, or of records with usual names.
    fileprivate init?(beside list: Value.List) {
        values = list.map { $0.text == nil ? $0.usualName : $0 }
        guard !values.contains(nil), Set(values).count == values.count else { return nil }
    }

    fileprivate init(first row: Value.List?) {
        let row = row ?? []
        let areTexts = row.allSatisfy { $0.text != nil }
        values = areTexts ? row.map { $0.isBlank ? nil : $0 } : []
    }
}

/// A map that is being merged.
struct MapAround {
    let base: Value.Map
    let deltas: Sides<MapDelta>

    /// Whether a list has the names of the columns of a table.
    func hasHeader(_ list: Value.List) -> Bool {
        guard base.count <= Self.fieldsMax else { return false }
        let isBesideTable = base.contains { entry in
            guard let rows = entry.value.list, rows.count > 1 else { return false }
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
                return base[entry.key]?.list.map(hasHeader) == true
            }
        }
    }

    private static let fieldsMax = 256

    /// A list of as many names as a table has columns, in each version.
    fileprivate func names(
        width: Int,
        _ widths: Sides<Int>
    ) -> (base: TableHeader.Names, sides: Sides<TableHeader.Names>)? {
        for entry in base {
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
                return (names, Sides(ours: ours, theirs: theirs))
            }
        }
        return nil
    }
}
