/// The search for records without an `id` that both sides moved, by their texts: a side edited marks or
/// numbers, or added a field.
///
/// A record of which a side changed a text as well stays twice, and is reported.
struct TextSearch {
    private struct Text: Hashable {
        let key: Key
        let value: Value
    }

    private var places = Sides<[Text: [Insertion]]>(both: [:])
    private let insertions: [Insertion]
    private let agreedValues: Set<ItemContent>

    /// - Parameters:
    ///   - unedited: What each side removed and the other side left as it was.
    ///   - agreedValues: What both sides put in one place.
    ///
    /// - Complexity: O(*n*) in all that came.
    init(_ insertions: [Insertion], unedited: Sides<[Value]>, agreedValues: Set<ItemContent>) {
        (self.insertions, self.agreedValues) = (insertions, agreedValues)
        let moved = unedited.map { Set($0.map(ItemContent.init)) }
        for insertion in insertions
        where insertion.origin == nil && !insertion.isDestination
            && insertion.place.listInOurs != nil
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
            departure.choice == nil && !departure.isComplete
                && departure.base.usualName == nil && departure.place.list != nil
                && !departure.base.texts.isEmpty
        }
        let places = ListMatching.uniquePositions(of: wanted.map(\.base.texts))
        return places.values.sorted().map { wanted[$0] }
    }

    /// Finds the items that both sides put in once, with all the texts of a record that they removed.
    func find(_ departures: [Departure]) {
        for departure in departures {
            let found = arrivals(of: departure, sharing: departure.base.texts.count)
            guard let ours = found.ours, let theirs = found.theirs else { continue }
            for arrival in [ours, theirs] where !arrival.insertion.hasArrival(at: arrival.path) {
                arrival.insertion.noteArrival(at: arrival.path)
            }
            departure.arrivals = found
        }
    }

    /// Reports each record that is there twice: a new item on each side has one of two texts of it; and
    /// each that one side put into a new value in another form.
    func report(_ departures: [Departure]) {
        let forms = NewForms(
            records: Sides(ours: Side.ours, theirs: .theirs).map(recordsInNewValues),
            items: itemsByWord
        )
        for departure in departures where !agreedValues.contains(ItemContent(departure.base)) {
            let found = arrivals(of: departure, sharing: (departure.base.texts.count + 1) / 2)
            guard let ours = found.ours, let theirs = found.theirs else {
                reportRemoval(of: departure, forms)
                continue
            }
            let values = Sides<Value?>(ours: ours.value, theirs: theirs.value)
            let versions = MergeVersions(base: departure.base, sides: values)
            ours.insertion.reports.append(Conflict(.bothMoved, versions, .both, departure.place))
        }
    }

    /// Where records may be in another form.
    private struct NewForms {
        /// The records within the new values of each side, by their texts.
        let records: Sides<[Text: [ArrivedItem]]>
        /// The new items by all texts in them.
        let items: [Key: [Insertion]]
    }

    private var itemsByWord: [Key: [Insertion]] {
        var items: [Key: [Insertion]] = [:]
        for insertion in insertions
        where insertion.origin == nil && !insertion.isDestination
            && insertion.place.listInOurs != nil
        {
            for word in Set(insertion.value.textsAndKeys) {
                items[word, default: []].append(insertion)
            }
        }
        return items
    }

    /// The records within the new values of a side, by their texts.
    private func recordsInNewValues(of side: Side) -> [Text: [ArrivedItem]] {
        var records: [Text: [ArrivedItem]] = [:]
        for insertion in insertions
        where insertion.side == side && insertion.origin == nil && !insertion.isDestination {
            ArrivalSearch.walk(insertion.value, []) { value, path in
                let item = ArrivedItem(insertion: insertion, path: path, value: value)
                for entry in path.isEmpty ? [:] : value.texts {
                    records[Text(key: entry.key, value: entry.value), default: []].append(item)
                }
                return false
            }
        }
        return records
    }

    /// Reports a record that one side removed, and the other put into a new value in another form.
    private func reportRemoval(
        of departure: Departure,
        _ forms: NewForms
    ) {
        // What is around it is reported by itself, if the other side removed that.
        guard !departure.isFound, departure.container?.choice == nil else { return }
        let texts = departure.base.texts
        let found = forms.records.map { records in
            let rarest = texts.map { records[Text(key: $0.key, value: $0.value), default: []] }
                .min { $0.count < $1.count }
            return (rarest ?? []).filter { part in
                texts.allSatisfy { part.value[$0.key] == $0.value }
            }
        }
        let arrivals = found.ours + found.theirs
        if arrivals.count == 1 { return arrivals[0].reportRemoval(of: departure) }
        let words = departure.base.deepTexts
        guard arrivals.isEmpty, !departure.isFound else { return }
        let rarest = words.map { forms.items[$0, default: []] }.min { $0.count < $1.count }
        let items = (rarest ?? []).filter { Set($0.value.textsAndKeys).isSuperset(of: words) }
        guard items.count == 1 else { return }
        let item = ArrivedItem(insertion: items[0], path: [], value: items[0].value)
        item.reportRemoval(of: departure)
    }

    private func arrivals(
        of departure: Departure,
        sharing countMin: Int
    ) -> Sides<ArrivedItem?> {
        Sides(ours: Side.ours, theirs: .theirs).map { side in
            departure.arrivals[side]
                ?? arrival(on: side, sharing: countMin, of: departure.base.texts)
        }
    }

    /// The only new item of a side that has one of the texts that say most, and as many as wanted.
    private func arrival(on side: Side, sharing countMin: Int, of texts: Value.Map) -> ArrivedItem?
    {
        let rare = texts.map { places[side][Text(key: $0.key, value: $0.value), default: []] }
            .filter { !$0.isEmpty }
            .min { $0.count < $1.count }
        let new = (rare ?? []).filter { insertion in
            !insertion.isDestination
                && texts.count { insertion.value[$0.key] == $0.value } >= countMin
        }
        guard new.count == 1 else { return nil }
        return ArrivedItem(insertion: new[0], path: [], value: new[0].value)
    }
}
