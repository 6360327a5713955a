/// A map that is being merged.
final class MapAround {
    let base: Value.Map
    let deltas: Sides<MapDelta>

    /// The rules of the map.
    private let rules: MergePolicy.Node?

    init(base: Value.Map, deltas: Sides<MapDelta>, rules: MergePolicy.Node?) {
        (self.base, self.deltas, self.rules) = (base, deltas, rules)
    }

    /// Whether the app has rules for what is under a key.
    func hasRules(under key: Key) -> Bool { rules?.child(.key(key)) != nil }

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
    var haveOtherNames: Bool { !otherNames.ours.isEmpty || !otherNames.theirs.isEmpty }

    /// The lists of names in which a side has put in, removed or moved some, and the other side not the same: each
    /// list of the map asks for them.
    private(set) lazy var otherNames = Sides(
        ours: otherNames(on: .ours),
        theirs: otherNames(on: .theirs)
    )

    private func otherNames(on side: Side) -> [Value.List] {
        deltas[side].entries.compactMap { entry in
            guard case .list(let change)? = entry.change.delta, !change.recipe.staysInPlace,
                deltas[side.other][entry.key] != entry.change,
                let names = base[entry.key]?.list, hasHeader(names, under: entry.key)
            else { return nil }
            return names
        }
    }

    private static let fieldsMax = 256
    private static let headersMax = 8

    /// The lists of as many names as a table has columns, in each version.
    func headers(
        besides table: Key?,
        width: Int,
        _ widths: Sides<Int>
    ) -> [TableHeader] {
        var headers: [TableHeader] = []
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
            guard let ours = sides.ours, let theirs = sides.theirs,
                ours.values.count == widths.ours, theirs.values.count == widths.theirs
            else { continue }
            headers.append(
                TableHeader(base: names, sides: Sides(ours: ours, theirs: theirs), list: key)
            )
            if headers.count == Self.headersMax { break }
        }
        return headers
    }
}
