// The order of what both sides cut out of two neighbours.
//
// A rich text is a list of runs, such as `{"text": "Please call", "bold": true}`. If one side cuts a run
// in two, the first part is often a new item, and so is the last part of the run before it if the other
// side has cut that one. Both stand between the same two items: that of the item before comes first.

enum SplitOrder {
    /// Puts the end of an item that their side has cut before the beginning of the next one, that ours has.
    static func restore(_ order: inout [ListMerge.Item], _ plan: ListMerge, _ base: Value.List) {
        var start = 0
        while start < order.count {
            guard order[start].isOf(.ours) else {
                start += 1
                continue
            }
            let middle = order[start...].firstIndex { !$0.isOf(.ours) } ?? order.count
            let end = order[middle...].firstIndex { !$0.isOf(.theirs) } ?? order.count
            if middle < end, start > 0, end < order.count,
                order[middle..<end].areCut(from: order[start - 1], plan, base),
                order[start..<middle].areCut(from: order[end], plan, base)
            {
                order.replaceSubrange(
                    start..<end,
                    with: order[middle..<end] + order[start..<middle]
                )
            }
            start = max(end, start + 1)
        }
    }
}

extension ListMerge.Item {
    /// Whether it is a new item of one side.
    fileprivate func isOf(_ side: Side) -> Bool {
        if case .new(let places) = self {
            places[side] != nil && places[side.other] == nil
        } else {
            false
        }
    }
}

extension ArraySlice<ListMerge.Item> {
    /// Whether the texts of new items are a part of the text of an item of the base.
    fileprivate func areCut(
        from item: ListMerge.Item,
        _ plan: ListMerge,
        _ base: Value.List
    ) -> Bool {
        guard case .base(let segment) = item else { return false }
        let range = plan.segments.ranges[segment]
        let texts = map { item -> String? in
            guard case .new(let places) = item else { return nil }
            return
                (places.ours.flatMap { plan.ours.newValue(at: $0) }
                ?? places.theirs.flatMap { plan.theirs.newValue(at: $0) })?.runText
        }
        guard range.count == 1, let text = base[range.lowerBound].runText, !texts.contains(nil)
        else {
            return false
        }
        let part = texts.compactMap(\.self).joined()
        return !part.isEmpty && part.count < text.count && text.contains(part)
    }
}

extension Value {
    /// The text of a run of a rich text: the only one of a record.
    fileprivate var runText: String? {
        let texts = texts.filter { $0.value.text != nil }
        return texts.count == 1 ? texts.first?.value.text : nil
    }
}
