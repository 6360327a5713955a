// Lists of slots, some of which are empty: the dinners of a week, the seats of a table.
//
// What is put into a slot, taken out or moved to another one leaves the other slots where they are, but
// a diff of the items sees removals and new items. So where all three versions are of one length and
// have empty slots, a change is what it has put into each slot, unless
//
//   (1) both sides changed what is in one: that may have been moved by one and edited by the other;
//   (2) both have moved a thing, each to another slot;
//   (3) a side has put a thing into the slot of one that is gone: the rest has moved up.

extension Merger {
    /// Merges a list slot by slot, and reports what both sides have put into different slots.
    ///
    /// - Returns: nil if it has no slots.
    @inline(never)
    mutating func mergeSlots(
        _ base: Value.List,
        _ deltas: Sides<ListDelta>,
        _ place: MergePlace
    ) -> MergeNode? {
        guard place.rules == nil, let slots = slots(base, deltas) else { return nil }
        let node = mergeItems(base, slots, place, areCells: true)
        guard case .list(let list) = node, let range = cellRange(base, deltas) else { return node }
        let lists = deltas.map(base.changed)
        let old = ListMatching.uniquePositions(of: range.map { base[$0].nameInSlot })
        for thing in lists.thingsApart(in: range) {
            let position = range.lowerBound + thing.ours
            let their = range.lowerBound + thing.theirs
            guard old[thing.name] == nil, lists.ours[position] != base[position],
                lists.theirs[their] != base[their]
            else { continue }
            let versions = MergeVersions(base: nil, sides: Sides(both: lists.ours[position]))
            let place = place.child(.position(position))
            list.reports.append(Conflict(.bothMoved, versions, .both, place))
        }
        for thing in lists.thingsMovedOnce(from: old, in: range) {
            let position = range.lowerBound + thing.place
            var sides = Sides<Value?>(both: nil)
            sides[thing.mover] = lists[thing.mover][range.lowerBound + thing.target]
            let versions = MergeVersions(base: base[position], sides: sides)
            let place = place.child(.position(position))
            list.reports.append(Conflict(.removedAndEdited, versions, .init(thing.mover), place))
        }
        return node
    }

    /// The changes as edits of slots; nil where the list has no empty one, or both sides changed what is
    /// in one.
    ///
    /// - Complexity: O(*n*) in the number of items between the first change and the last one.
    func slots(_ base: Value.List, _ deltas: Sides<ListDelta>) -> Sides<ListDelta>? {
        guard let range = cellRange(base, deltas) else { return nil }
        let lists = deltas.map(base.changed)
        guard lists.ours.count == base.count, lists.theirs.count == base.count,
            near(range, in: base).contains(where: { base[$0].isBlank })
                || range.contains(where: { lists.ours[$0].isBlank || lists.theirs[$0].isBlank })
        else { return nil }
        let isShifted = lists.map { base.isShifted(to: $0, in: range) }
        guard !isShifted.ours, !isShifted.theirs, !base.movesForBoth(to: lists, in: range) else {
            return nil
        }
        var edits = Sides<[ListDelta.Edit]>(both: [])
        for index in range {
            let (ours, theirs) = (lists.ours[index], lists.theirs[index])
            let old = base[index]
            guard
                ours == theirs || ours == old || theirs == old || old.isBlank
                    || !old.isEdited(to: ours) && !old.isEdited(to: theirs)
            else { return nil }
            for (side, item) in [(Side.ours, ours), (.theirs, theirs)] where item != old {
                edits[side].append(ListDelta.Edit(position: index, delta: .set(item)))
            }
        }
        guard let ours = try? ListDelta(edits: edits.ours),
            let theirs = try? ListDelta(edits: edits.theirs)
        else { return nil }
        return Sides(ours: ours, theirs: theirs)
    }
}

extension Value.List {
    /// Whether a thing that was in another slot stands in that of one that is gone.
    fileprivate func isShifted(to new: Value.List, in range: Range<Int>) -> Bool {
        let places = ListMatching.uniquePositions(of: range.map { self[$0].nameInSlot })
        let newPlaces = ListMatching.uniquePositions(of: range.map { new[$0].nameInSlot })
        return newPlaces.contains { name, place in
            guard let source = places[name], source != place else { return false }
            return self[range.lowerBound + place].nameInSlot.map { newPlaces[$0] == nil } ?? false
        }
    }

    /// Whether both sides have a thing of this list in other slots, and not in the same one.
    fileprivate func movesForBoth(to lists: Sides<Value.List>, in range: Range<Int>) -> Bool {
        let places = ListMatching.uniquePositions(of: range.map { self[$0].nameInSlot })
        return lists.thingsApart(in: range).contains { thing in
            places[thing.name].map { $0 != thing.ours && $0 != thing.theirs } ?? false
        }
    }
}

extension Sides<Value.List> {
    /// The things that both sides have in slots, each in another one, counted from the start of a range.
    fileprivate func thingsApart(in range: Range<Int>) -> [(name: Value, ours: Int, theirs: Int)] {
        let places = map { list in
            ListMatching.uniquePositions(of: range.map { list[$0].nameInSlot })
        }
        return places.ours.sorted { $0.value < $1.value }.compactMap { name, our in
            guard let their = places.theirs[name], their != our else { return nil }
            return (name, our, their)
        }
    }
}

extension Sides<Value.List> {
    /// The things that one side has in another slot, and the other side in none.
    fileprivate func thingsMovedOnce(
        from old: [Value: Int],
        in range: Range<Int>
    ) -> [(place: Int, mover: Side, target: Int)] {
        let places = map { list in
            ListMatching.uniquePositions(of: range.map { list[$0].nameInSlot })
        }
        return old.sorted { $0.value < $1.value }.compactMap { name, place in
            switch (places.ours[name], places.theirs[name]) {
            case (let target?, nil) where target != place: (place, .ours, target)
            case (nil, let target?) where target != place: (place, .theirs, target)
            default: nil
            }
        }
    }
}

extension Value {
    /// Whether a thing in a slot is still there, in another form.
    fileprivate func isEdited(to new: Value) -> Bool {
        guard !new.isBlank, new != self else { return false }
        if let name = nameInSlot, name == new.nameInSlot { return true }
        return 2 * Resemblance(self).score(with: Resemblance(new)) >= 1
    }

    /// What tells a thing in a slot from others: its name, its texts, or all of it; nil for an empty slot.
    fileprivate var nameInSlot: Value? {
        if isBlank { return nil }
        if let name = usualName { return name }
        return texts.isEmpty ? self : .map(texts)
    }

    /// Whether it is nothing, or empty, or has nothing in it that is not.
    var isBlank: Bool {
        switch self {
        case .null: true
        case .string(let text): text.isEmpty
        case .list(let items): items.allSatisfy(\.isBlank)
        case .map(let map): map.allSatisfy(\.value.isBlank)
        case .bool, .int, .double, .bytes: false
        }
    }
}
