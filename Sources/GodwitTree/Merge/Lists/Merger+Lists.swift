extension Merger {
    mutating func mergeLists(
        _ base: Value.List,
        _ deltas: Sides<ListDelta>,
        _ place: MergePlace
    ) -> MergeNode {
        if let table = table(ofCells: place), table.isRow(base) {
            return mergeItems(base, deltas, place, areCells: true, of: table)
        }
        if let rows = mergeTable(base, deltas, place) { return rows }
        if let header = mergeHeader(base, deltas, place) { return header }
        if deltas.ours == deltas.theirs, !deltas.ours.hasIncrement {
            return agree(on: .list(deltas.ours), .list(base), place)
        }
        if let tuple = mergeTuples(base, deltas, place) { return tuple }
        if let row = mergeRow(base, deltas, place) { return row }
        if let slots = mergeSlots(base, deltas, place) { return slots }
        if let lines = mergeLines(base, deltas, place) { return lines }
        if let whole = mergeWholes(base, deltas, place) { return whole }
        let cells = place.rules == nil ? cells(base, deltas) : nil
        return mergeItems(base, cells ?? deltas, place, areCells: cells != nil)
    }

    /// Merges lists item by item.
    ///
    /// - Parameters:
    ///   - areCells: Whether an item is named by its place.
    ///   - table: The table of which these are the cells of a row.
    mutating func mergeItems(
        _ base: Value.List,
        _ deltas: Sides<ListDelta>,
        _ place: MergePlace,
        areCells: Bool = false,
        of table: Table? = nil
    ) -> MergeNode {
        let list = planned(base, deltas, place, areCells: areCells, of: table)
        let nodes = (0..<list.plan.segments.count).map { segment in
            list.losesCell(segment, of: table, place) ? nil : mergeSegment(segment, list, place)
        }
        arrange(nodes, in: list, place, areCells: areCells)
        return .list(list)
    }

    /// The list that is merged, and which items of both sides are one.
    @inline(never)
    private mutating func planned(
        _ base: Value.List,
        _ deltas: Sides<ListDelta>,
        _ place: MergePlace,
        areCells: Bool,
        of table: Table?
    ) -> MergedList {
        let isOfItems = place.rules == nil && !areCells
        var plan = ListMerge(isOfItems ? base.separated(deltas) : deltas.map(\.recipe))
        plan.prefersTheirMoves = place.rules?.isTheirs == true
        let list: MergedList
        if let table {
            plan.unite(table.twins)
            list = MergedList(base, plan)
        } else if deltas.ours == deltas.theirs {
            plan.uniteAll()
            list = MergedList(base, plan)
        } else {
            let twins = TwinSearch(base, plan, place.rules?.identity)
            let rows = place.isNew ? nil : tables[place.inBase]
            let apart =
                rows.map { rows in plan.ours.inserted.filter { rows.isApart($0.value) } } ?? []
            let apartPlaces = Set(apart.map(\.place))
            for (their, our) in twins.pairs where !apartPlaces.contains(our) {
                plan.unite(ours: our, theirs: their)
            }
            list = MergedList(base, plan)
            for places in twins.clashes { list.report(.sameIdentity, places, .both, place) }
            for places in twins.apart { list.report(.bothMoved, places, .both, place) }
            for places in twins.distant { list.report(.bothMoved, places, .ours, place) }
            if place.rules == nil { renames += list.renames(besides: twins.pairs, place) }
        }
        list.reportsMoves = place.rules?.isOneSided != true && table?.isReportedByHeader != true
        return list
    }

    /// Puts what the segments have become, and new items, in their order.
    @inline(never)
    private mutating func arrange(
        _ nodes: [MergeNode?],
        in list: MergedList,
        _ place: MergePlace,
        areCells: Bool
    ) {
        let (plan, base) = (list.plan, list.base)
        var order = plan.order { nodes[$0] == nil }
        if !areCells {
            ListOrder.sortMeetings(&order, plan, base)
            SplitOrder.restore(&order, plan, base)
        }
        for item in order {
            switch item {
            case .base(let segment):
                if let node = nodes[segment] { list.items.append((item, node)) }
            case .new(let places): list.items.append((item, mergeNew(places, plan, place)))
            }
        }
    }

    /// The node of a segment; nil when it goes.
    private mutating func mergeSegment(
        _ segment: Int,
        _ list: MergedList,
        _ container: MergePlace
    ) -> MergeNode? {
        let plan = list.plan
        let position = plan.segments.ranges[segment].lowerBound
        let start = plan.ours.start(of: segment)
        let place = container.child(.position(position), inOurs: start.map { .position($0) })
        let isGone = Sides(ours: plan.ours, theirs: plan.theirs).map { $0.isRemoved(segment) }
        if isGone.ours, isGone.theirs {
            for position in plan.segments.ranges[segment] {
                noteRemoval(of: list.base[position], container.child(.position(position)))
            }
            return nil
        }
        if isGone.ours || isGone.theirs {
            let remover: Side = isGone.ours ? .ours : .theirs
            let edit = plan.side(remover.other).edit(of: segment)
            if edit == .keep {
                for item in list.base[plan.segments.ranges[segment]] {
                    noteRemovedAlone(item, by: remover)
                }
            }
            return mergeRemoved(list.base[position], by: remover, edit, place)
        }
        if plan.areMovedApart(segment) { list.reportMoves(of: segment, place) }
        let edits = Sides(ours: plan.ours, theirs: plan.theirs).map { $0.edit(of: segment) }
        let areInTable = isRow(list.base[position], of: container)
        if container.rules == nil,
            let replacer = list.base.replacer(of: position, edits, areInTable: areInTable)
                ?? list.exchanger(of: segment, edits)
        {
            let sides = edits.map { list.base[position].changed(by: $0) }
            let versions = MergeVersions(base: list.base[position], sides: sides.map { $0 })
            return .open(MergeChoice(.replacedAndEdited, versions, place, leaning: replacer))
        }
        let outer = siblings
        siblings = list.base
        let node = merge(list.base[position], edits, place)
        siblings = outer
        guard edits.ours != .keep, edits.theirs != .keep else { return node }
        // An item at another place, and named by what few records have in common, may be another one.
        let mayBeOther = Side.allCases.contains { side in
            plan.side(side).isMoved[segment] && list.base[position].isReworded(by: edits[side])
        }
        if place.isAmong(doubtful) || container.rules == nil && mayBeOther { node.doubt() }
        return node
    }

    /// The node of an item that one side removed; nil when it goes.
    private mutating func mergeRemoved(
        _ item: Value,
        by remover: Side,
        _ edit: Delta,
        _ place: MergePlace
    ) -> MergeNode? {
        if place.rules?.isUnion == true {
            return edit == .keep ? .kept : .one(remover.other, .apply(edit))
        }
        if edit.keeps(item) { return nil }
        let node = removed(by: remover, item, edit, place)
        if case .open(let choice) = node, choice.picked != nil, choice.result == nil { return nil }
        return node
    }

    private mutating func mergeNew(
        _ places: Sides<Int?>,
        _ plan: ListMerge,
        _ place: MergePlace
    ) -> MergeNode {
        let ours = places.ours.flatMap { plan.ours.newValue(at: $0) }
        let theirs = places.theirs.flatMap { plan.theirs.newValue(at: $0) }
        let side: Side = ours == nil ? .theirs : .ours
        let start = places[side].map { plan.side(side).starts[$0] } ?? 0
        let container = place
        let place = place.child(.position(start))
        if let ours, let theirs {
            if ours == theirs, let row = mergeCommonRow(ours, place, in: container) { return row }
            return mergePair(Sides(ours: ours, theirs: theirs), place)
        }
        let insertion = Insertion(side, ours ?? theirs ?? .null, place)
        insertions.append(insertion)
        mergeNewRow(insertion, in: container)
        return .inserted(insertion)
    }

    /// A point, a range or a box is one value: half of one and half of another is neither.
    private mutating func mergeTuples(
        _ base: Value.List,
        _ deltas: Sides<ListDelta>,
        _ place: MergePlace
    ) -> MergeNode? {
        guard place.rules == nil, base.isTuple, !deltas.ours.hasIncrement,
            !deltas.theirs.hasIncrement
        else { return nil }
        let lists = deltas.map(base.changed)
        let (ours, theirs) = (lists.ours, lists.theirs)
        guard ours != theirs, ours.isTuple, theirs.isTuple else { return nil }
        let stayAsLong = ours.count == base.count && theirs.count == base.count
        let haveOthers = ours.hasOthers(than: base) && theirs.hasOthers(than: base)
        guard stayAsLong || haveOthers else { return nil }
        return choice(.bothSet, .list(base), lists.map { .list($0) }, place)
    }
}

extension MergedList {
    @inline(never)
    fileprivate func reportMoves(of segment: Int, _ place: MergePlace) {
        guard reportsMoves else { return }
        let item = base[plan.segments.ranges[segment].lowerBound]
        let versions = MergeVersions(base: item, sides: Sides(both: item))
        reports.append(Conflict(.bothMoved, versions, .ours, place))
    }

    /// Reports two new items.
    fileprivate func report(
        _ reason: Conflict.Reason,
        _ places: Sides<Int>,
        _ choice: Conflict.Choice,
        _ place: MergePlace
    ) {
        let values = Sides(
            ours: plan.ours.newValue(at: places.ours),
            theirs: plan.theirs.newValue(at: places.theirs)
        )
        let place = place.child(.position(plan.ours.starts[places.ours]))
        let versions = MergeVersions(base: nil, sides: values)
        reports.append(Conflict(reason, versions, choice, place))
    }
}

extension Value {
    var isNumber: Bool {
        switch self {
        case .int, .double: true
        default: false
        }
    }
}

extension Value.List {
    private static let tupleMax = 4

    /// Whether this is a few numbers, such as a point, a range or a box.
    var isTuple: Bool { !isEmpty && count <= Self.tupleMax && allSatisfy(\.isNumber) }

    /// Whether another number stands in the place of one of a tuple.
    fileprivate func hasOthers(than base: Value.List) -> Bool {
        !contains(inOrder: base) && !base.contains(inOrder: self)
    }
}
