/// The search for records without an `id` that both sides moved, by their texts: a side edited marks or
/// numbers, or added a field.
struct TextSearch {
    private struct Text: Hashable {
        let key: Key
        let value: Value
    }

    private var places = Sides<[Text: [Insertion]]>(both: [:])

    /// - Parameter unedited: What each side removed and the other side left as it was.
    ///
    /// - Complexity: O(*n*) in all that came.
    init(_ insertions: [Insertion], unedited: Sides<[Value]>) {
        let moved = unedited.map { Set($0.map(ItemContent.init)) }
        for insertion in insertions
        where insertion.origin == nil && !insertion.isDestination && insertion.isItem
            && insertion.value.usualName == nil
        {
            let (side, texts) = (insertion.side, insertion.value.texts)
            // What the side only moved is no version of another value.
            if texts.isEmpty || moved[side].contains(ItemContent(insertion.value)) { continue }
            for entry in texts {
                let text = Text(key: entry.key, value: entry.value)
                places[side][text, default: []].append(insertion)
            }
        }
    }

    /// The records that both sides removed, and that nothing but their texts can find again.
    static func wanted(_ departures: [Departure]) -> [Departure] {
        let wanted = departures.filter { departure in
            departure.choice == nil && departure.container == nil && !departure.isComplete
                && departure.base.usualName == nil && departure.place.list != nil
                && !departure.base.texts.isEmpty
        }
        let places = ListMatching.uniquePositions(of: wanted.map(\.base.texts))
        return places.values.sorted().map { wanted[$0] }
    }

    /// Finds the items that both sides put in once, with all the texts of a record that they removed.
    func find(_ departures: [Departure]) {
        for departure in departures {
            let found = Sides(ours: Side.ours, theirs: .theirs).map { side in
                departure.arrivals[side] ?? arrival(of: departure.base.texts, on: side)
            }
            guard let ours = found.ours, let theirs = found.theirs else { continue }
            for arrival in [ours, theirs] where !arrival.insertion.hasArrival(at: arrival.path) {
                arrival.insertion.noteArrival(at: arrival.path)
            }
            departure.arrivals = found
        }
    }

    /// The only new item of a side that has some texts.
    private func arrival(of texts: Value.Map, on side: Side) -> ArrivedItem? {
        guard let first = texts.first else { return nil }
        let new = places[side][Text(key: first.key, value: first.value), default: []].filter {
            insertion in
            !insertion.isDestination
                && texts.allSatisfy { insertion.value[$0.key] == $0.value }
        }
        guard new.count == 1 else { return nil }
        return ArrivedItem(insertion: new[0], path: [], value: new[0].value)
    }
}
