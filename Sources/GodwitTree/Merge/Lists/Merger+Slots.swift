// Lists of slots, some of which are empty: the dinners of a week, the seats of a table.
//
// What is put into a slot, taken out or moved to another one leaves the other slots where they are, but
// a diff of the items sees removals and new items. So where all three versions are of one length and
// have empty slots, a change is what it has put into each slot, unless both sides changed what is in one:
// that may have been moved by one and edited by the other.

extension Merger {
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
        var edits = Sides<[ListDelta.Edit]>(both: [])
        for index in range {
            let (ours, theirs) = (lists.ours[index], lists.theirs[index])
            let old = base[index]
            guard ours == theirs || ours == old || theirs == old || old.isBlank else { return nil }
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
