// Lists of slots, some of which are empty: the dinners of a week, the seats of a table.
//
// What is put into a slot, taken out or moved to another one leaves the other slots where they are, but
// a diff of the items sees removals and new items. So where all three versions are of one length and
// have empty slots, a change is what it has put into each slot, unless
//
//   (1) one side edited what is in a slot, and the other one changed it too: it may have moved it;
//   (2) both have moved a thing, each to another slot;
//   (3) a side has moved a thing to the slot of one that is gone: the rest has moved up.

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
        let things = SlotThings(base, deltas.map(base.changed), range)
        list.reports += things.reports(in: place)
        return node
    }

    /// The changes as edits of slots; nil where the list has no empty one, or its things are better
    /// followed.
    ///
    /// - Complexity: O(*n*) in the number of items between the first change and the last one.
    func slots(_ base: Value.List, _ deltas: Sides<ListDelta>) -> Sides<ListDelta>? {
        guard let range = cellRange(base, deltas) else { return nil }
        let lists = deltas.map(base.changed)
        guard lists.ours.count == base.count, lists.theirs.count == base.count,
            near(range, in: base).contains(where: { base[$0].isBlank })
                || range.contains(where: { lists.ours[$0].isBlank || lists.theirs[$0].isBlank })
        else { return nil }
        let things = SlotThings(base, lists, range)
        guard !things.haveMovedUp, !things.areMovedByBoth else { return nil }
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

extension Value {
    /// Whether a thing in a slot is still there, in another form.
    fileprivate func isEdited(to new: Value) -> Bool {
        guard !new.isBlank, new != self else { return false }
        if let name = nameInSlot, name == new.nameInSlot { return true }
        return 2 * Resemblance(self).score(with: Resemblance(new)) >= 1
    }

    /// What tells a thing in a slot from others: its name, its texts, or all of it; nil for an empty slot.
    var nameInSlot: Value? {
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
