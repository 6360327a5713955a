extension Merger {
    mutating func merge(
        _ base: Value.List,
        _ ours: ListDelta,
        _ theirs: ListDelta,
        _ place: Place
    ) -> Merged {
        let sides = StringSet(base, ours: ours.recipe, theirs: theirs.recipe)
        var plan = ListMerge(ours: sides.ours, theirs: sides.theirs)
        plan.prefersTheirMoves = place.rules?.isTheirs == true
        if ours == theirs { plan.uniteAll() }
        let setup = ListContext(base, plan, place.rules)
        if let identity = setup.identity { plan.unite { $0.identity(identity) } }
        if setup.isSet { plan.unite { $0 } }
        var isDead: [Bool] = []
        for segment in 0..<plan.segments.count {
            isDead.append(isRemoved(segment, base, plan, place))
        }
        var order = plan.order { isDead[$0] }
        if let sorting = ListOrder(of: base, ours, theirs, order) { sorting.sort(&order) }
        return write(order, base, plan, place)
    }

    /// Whether a segment goes; reports what one side removed and the other did not want to lose.
    private mutating func isRemoved(
        _ segment: Int,
        _ base: Value.List,
        _ plan: ListMerge,
        _ place: Place
    ) -> Bool {
        let (our, their) = (plan.ours.isRemoved(segment), plan.theirs.isRemoved(segment))
        guard our != their else { return our }
        if place.rules?.isUnion == true { return false }
        let edit = our ? plan.theirs.edit(of: segment) : plan.ours.edit(of: segment)
        guard edit != .keep else { return true }
        let position = plan.segments.ranges[segment].lowerBound
        let item = base[position]
        let edited = item.changed(by: edit)
        return !outlives(
            item,
            our ? nil : edited,
            our ? edited : nil,
            place.child(.position(position))
        )
    }

    /// The merged list as a change of the base, and of each side's list.
    private mutating func write(
        _ order: [ListMerge.Item],
        _ base: Value.List,
        _ plan: ListMerge,
        _ place: Place
    ) -> Merged {
        var (delta, afterOurs, afterTheirs) = (ListRecipe(), ListRecipe(), ListRecipe())
        for item in order {
            switch item {
            case .base(let segment):
                let range = plan.segments.ranges[segment]
                let step = place.child(.position(range.lowerBound))
                if plan.areMovedApart(segment) { reportMoves(of: range, base, step) }
                let merged = merge(
                    base[range.lowerBound],
                    plan.ours.edit(of: segment),
                    plan.theirs.edit(of: segment),
                    step
                )
                delta.append(range, merged.delta)
                afterOurs.append(plan.ours, segment, range, merged.afterOurs, merged.delta, base)
                afterTheirs.append(
                    plan.theirs,
                    segment,
                    range,
                    merged.afterTheirs,
                    merged.delta,
                    base
                )
            case .ours(let item, let value):
                delta.append(.new(value))
                afterOurs.append(plan.ours.starts[item], .keep)
                afterTheirs.append(.new(value))
            case .theirs(let item, let value):
                delta.append(.new(value))
                afterOurs.append(.new(value))
                afterTheirs.append(plan.theirs.starts[item], .keep)
            case .twin(let our, let their):
                let step = place.child(.position(plan.ours.starts[our.place]))
                let merged = mergeTwins(our.value, their.value, step)
                delta.append(.new(Value.null.changed(by: merged.delta)))
                afterOurs.append(plan.ours.starts[our.place], merged.afterOurs)
                afterTheirs.append(plan.theirs.starts[their.place], merged.afterTheirs)
            }
        }
        delta.finish(tail: plan.segments.end)
        afterOurs.finish(tail: plan.ours.length)
        afterTheirs.finish(tail: plan.theirs.length)
        return Merged(
            .list(delta),
            afterOurs: .list(afterOurs),
            afterTheirs: .list(afterTheirs)
        )
    }

    private mutating func mergeTwins(_ ours: Value, _ theirs: Value, _ place: Place) -> Merged {
        guard ours != theirs else {
            return Merged(.set(ours), afterOurs: .keep, afterTheirs: .keep)
        }
        return mergeCreated(nil, ours, theirs, place)
    }

    private mutating func reportMoves(of range: Range<Int>, _ base: Value.List, _ place: Place) {
        if place.rules?.isOurs == true || place.rules?.isTheirs == true { return }
        let item = base[range.lowerBound]
        report(.bothMoved, item, item, item, .ours, place)
    }
}

extension ListRecipe {
    fileprivate mutating func append(_ range: Range<Int>, _ delta: Delta) {
        append(range.count == 1 ? .edited(range.lowerBound, delta) : .kept(range))
    }

    fileprivate mutating func append(_ position: Int, _ delta: Delta) {
        append(.edited(position, delta))
    }

    /// A segment as a side has it, or again, where the side has removed it.
    fileprivate mutating func append(
        _ side: ListSide,
        _ segment: Int,
        _ range: Range<Int>,
        _ rest: Delta,
        _ whole: Delta,
        _ base: Value.List
    ) {
        if let start = side.start(of: segment) {
            append(start..<(start + range.count), rest)
        } else if range.count == 1 {
            append(.new(base[range.lowerBound].changed(by: whole)))
        } else {
            for item in base[range] { append(.new(item)) }
        }
    }
}

/// What the items of a list are to each other.
private struct ListContext {
    let identity: Key?
    /// Whether the list holds strings, all different, on every side.
    let isSet: Bool

    init(_ base: Value.List, _ plan: ListMerge, _ rules: MergePolicy.Node?) {
        let inserted = [plan.ours.inserted.map(\.value), plan.theirs.inserted.map(\.value)]
        guard inserted.allSatisfy({ !$0.isEmpty }) else {
            (identity, isSet) = (nil, false)
            return
        }
        // What tells the new items apart must tell them from the old ones too.
        let lists = inserted.map { $0 + Array(base) }
        identity = rules?.identity ?? ItemIdentity.key(of: lists)
        isSet = lists.allSatisfy(StringSet.isOne)
    }
}
