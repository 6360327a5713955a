// None of this is inlined: the walk is as deep as the values are, and its frames must stay small.

extension Merger {
    /// Merges a table whose columns a side has changed, or a grid.
    ///
    /// - Returns: nil if the list is none.
    @inline(never)
    mutating func mergeTable(
        _ base: Value.List,
        _ deltas: Sides<ListDelta>,
        _ place: MergePlace
    ) -> MergeNode? {
        guard place.rules == nil, !place.isNew else { return nil }
        let around = place.map == nil ? nil : around
        if let shape = TableShape(base, deltas, in: around),
            let (found, deltas) = shape.table(in: around, under: place.key)
        {
            var table = found
            table.isReportedByHeader =
                found.header.map { around?.hasRules(under: $0) == false } == true
            tables[place.inBase] = table
            return mergeItems(base, deltas, place)
        }
        guard let grid = Grid(base, deltas) else { return nil }
        tables[place.inBase] = grid.table
        let node = mergeItems(base, grid.deltas, place)
        guard case .list(let list) = node else { return node }
        for (row, column, thing) in grid.movedByBoth {
            let versions = MergeVersions(base: thing, sides: Sides(both: thing))
            let place = place.child(.position(row)).child(.position(column))
            list.reports.append(Conflict(.bothMoved, versions, .both, place))
        }
        return node
    }

    /// The changes of a map, told by columns where its lists are parallel.
    @inline(never)
    mutating func lists(
        _ base: Value.Map,
        _ deltas: Sides<MapDelta>,
        _ place: MergePlace
    ) -> Sides<MapDelta> {
        guard place.rules == nil, !place.isNew, let lists = ParallelLists(base, deltas) else {
            return deltas
        }
        tables[place.inBase] = lists.table
        return lists.deltas
    }

    /// Merges a list with the names of the columns of a table beside it, as a row of that table.
    ///
    /// - Returns: nil if the list has none.
    @inline(never)
    mutating func mergeHeader(
        _ base: Value.List,
        _ deltas: Sides<ListDelta>,
        _ place: MergePlace
    ) -> MergeNode? {
        guard place.rules == nil, place.map != nil, let key = place.key, let around,
            around.hasHeader(base, under: key), let table = around.table(namedBy: key)
        else { return nil }
        var told = deltas
        for side in Side.allCases {
            guard case .list(let delta)? = table.sides[side].delta(.list(deltas[side]), of: base)
            else { return nil }
            told[side] = delta
        }
        return mergeItems(base, told, place, areCells: true, of: table)
    }

    /// Whether equal changes of a list may belong to different ones of the columns of a table.
    @inline(never)
    func isInTable(_ place: MergePlace) -> Bool {
        table(ofCells: place) != nil || place.map != nil && around?.haveOtherNames == true
    }

    /// Whether an item is a row of the table at a place.
    @inline(never)
    func isRow(_ item: Value, of place: MergePlace) -> Bool {
        guard !tables.isEmpty, !place.isNew, let table = tables[place.inBase] else { return false }
        guard case .items(let key) = table.rows else { return true }
        return item.cells(key).map(table.isRow) ?? true
    }

    /// The table that has a list of cells in one of its rows.
    @inline(never)
    func table(ofCells place: MergePlace) -> Table? {
        guard !tables.isEmpty, !place.isNew else { return nil }
        var steps = place.inBase.steps[...]
        guard case .key(let key)? = steps.last else { return items(steps, key: nil) }
        steps.removeLast()
        if let table = tables[ValuePath(Array(steps))], case .fields(let keys) = table.rows,
            keys.contains(key)
        {
            return table
        }
        return items(steps, key: key)
    }

    /// The table whose row a path leads to.
    private func items(_ steps: ArraySlice<ValuePath.Step>, key: Key?) -> Table? {
        guard case .position? = steps.last, let table = tables[ValuePath(Array(steps.dropLast()))],
            case .items(key) = table.rows
        else { return nil }
        return table
    }

    /// Merges a row that both sides have put into a table with the columns of one and the other.
    ///
    /// - Returns: nil if the columns leave the row as it is.
    @inline(never)
    mutating func mergeCommonRow(
        _ item: Value,
        _ place: MergePlace,
        in container: MergePlace
    ) -> MergeNode? {
        guard !tables.isEmpty, !container.isNew, let table = tables[container.inBase],
            let row = item.list, Side.allCases.allSatisfy({ table.hasRow(row, newOn: $0) })
        else { return nil }
        let insertion = Insertion(.ours, item, place)
        mergeNewRow(insertion, in: container, isCommon: true)
        return insertion.row == nil ? nil : .inserted(insertion)
    }

    /// Merges a row that one side has put into a table with the other side's columns.
    ///
    /// - Parameter isCommon: Whether the other side has put it in, too.
    @inline(never)
    mutating func mergeNewRow(
        _ insertion: Insertion,
        in container: MergePlace,
        isCommon: Bool = false
    ) {
        guard !tables.isEmpty, !container.isNew, let table = tables[container.inBase] else {
            return
        }
        let side = insertion.side
        var key: Key?
        if case .items(let field) = table.rows { key = field }
        guard !table.sides[side.other].isUnchanged, let row = insertion.value.cells(key),
            table.hasRow(row, newOn: side)
        else { return }
        let (old, deltas) = table.columns(for: row, newOn: side, isCommon: isCommon)
        let cells = mergeItems(old, deltas, insertion.place, areCells: true, of: table)
        for (column, cell) in table.lostCells(of: row, newOn: side) {
            let versions = MergeVersions(
                base: nil,
                sides: Sides(ours: side == .ours ? cell : nil, theirs: side == .theirs ? cell : nil)
            )
            let place = insertion.place.child(.position(column))
            insertion.reports.append(
                Conflict(.removedAndEdited, versions, .init(side.other), place)
            )
        }
        insertion.row = PartEdit(path: key.map { [.key($0)] } ?? [], node: cells)
    }
}

extension MergedList {
    /// Whether the other side has edited a cell whose column a side has removed: this reports it.
    @inline(never)
    func losesCell(_ segment: Int, of table: Table?, _ place: MergePlace) -> Bool {
        let isGone = Sides(ours: plan.ours, theirs: plan.theirs).map { $0.isRemoved(segment) }
        guard table != nil, isGone.ours != isGone.theirs else { return false }
        let remover: Side = isGone.ours ? .ours : .theirs
        let edit = plan.side(remover.other).edit(of: segment)
        guard edit != .keep else { return false }
        let position = plan.segments.ranges[segment].lowerBound
        var sides = Sides<Value?>(both: nil)
        sides[remover.other] = base[position].changed(by: edit)
        let versions = MergeVersions(base: base[position], sides: sides)
        let place = place.child(.position(position))
        reports.append(Conflict(.removedAndEdited, versions, .init(remover), place))
        return true
    }
}

extension MapAround {
    /// The table in this map of which a list has the names of the columns.
    fileprivate func table(namedBy header: Key) -> Table? {
        for entry in base where entry.key != header {
            guard let rows = entry.value.list else { continue }
            if let shape = TableShape(rows, deltas.lists(under: entry.key), in: self),
                let (table, _) = shape.table(in: self, under: entry.key), table.header == header
            {
                return table
            }
        }
        return nil
    }
}
