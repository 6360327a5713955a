// A value that one side removed in one place and put in elsewhere was moved.
//
//   (1) It is found again by its content, also within a new value of the side; or, where the side
//       edited it as well, by its `id`; by all but its counters, if it has none; or in the same map
//       by resemblance: then its key was renamed.
//   (2) It must be there just once, and be more than a short scalar: those stand in many places
//       by chance. A short string was moved only where both sides put it in as an item.
//   (3) If the other side edited it where it was, the edit goes along.
//   (4) If the other side moved it elsewhere too, it stands where ours has it, with the edits of
//       both, and a conflict says so.
//   (5) If the other side removed it, it stays: a move to another place is an edit, and an edit
//       beats a removal. A conflict says so here too. Within one list, a removal beats a move.

extension Merger {
    /// The merge of two changes of one base, with edits where the values went that they are for.
    static func tree(_ base: Value, _ deltas: Sides<Delta>, _ place: MergePlace) -> MergeTree {
        var merger = Merger()
        let node = merger.merge(base, deltas, place)
        guard !merger.departures.isEmpty else { return MergeTree(root: node, hasMoves: false) }
        var thorough = Merger()
        thorough.isThorough = true
        let walked = thorough.merge(base, deltas, place)
        thorough.followMoves()
        let hasMoves = thorough.insertions.contains { $0.origin != nil }
        return MergeTree(root: walked, hasMoves: hasMoves)
    }

    /// The merge of two changes of one base, container by container.
    static func treeWithoutMoves(
        _ base: Value,
        _ deltas: Sides<Delta>,
        _ place: MergePlace
    ) -> MergeTree {
        var merger = Merger()
        return MergeTree(root: merger.merge(base, deltas, place), hasMoves: false)
    }

    /// Follows the departed values; a merge of one where it arrived may let parts of it depart.
    private mutating func followMoves() {
        while !departures.isEmpty {
            let departed = departures
            departures = []
            for isPart in [false, true] {
                let wanted = departed.filter { ($0.container != nil) == isPart }
                for side in Side.allCases {
                    let search = ArrivalSearch(side, insertions)
                    search.find(wanted.filter { $0.isRemoved(by: side) })
                }
            }
            for departure in departed where departure.container?.isFound != true {
                follow(departure)
            }
        }
    }

    private mutating func follow(_ departure: Departure) {
        if let choice = departure.choice {
            guard let remover = choice.editor?.other, let edit = choice.edit,
                let arrival = departure.arrivals[remover]
            else { return }
            bring(edit, of: departure, to: arrival)
            choice.picked = remover
            return
        }
        switch (departure.arrivals.ours, departure.arrivals.theirs) {
        case (let ours?, let theirs?): settle(departure, Sides(ours: ours, theirs: theirs))
        case (let arrival?, nil), (nil, let arrival?):
            if departure.base.isDistinctive { settleRemoved(departure, arrival) }
        case (nil, nil): break
        }
    }

    /// Merges an edit of the other side's into a value where it arrived.
    private mutating func bring(_ edit: Delta, of departure: Departure, to arrival: ArrivedItem) {
        let insertion = arrival.insertion
        guard arrival.value != departure.base else {
            return insertion.take(.apply(edit), at: arrival.path)
        }
        var deltas = Sides(both: edit)
        deltas[insertion.side] = .diff(departure.base, arrival.value, departure.place.rules)
        let place = departure.place.moved(to: insertion.place, by: insertion.side)
        insertion.origin = (departure.base, merge(departure.base, deltas, place))
    }

    /// Puts a value that both sides moved where one of them has it.
    private mutating func settle(_ departure: Departure, _ arrivals: Sides<ArrivedItem>) {
        let rules = departure.place.rules
        let winner: Side = rules?.isTheirs == true ? .theirs : .ours
        let (kept, other) = (arrivals[winner], arrivals[winner.other])
        bring(.diff(departure.base, other.value, rules), of: departure, to: kept)
        other.insertion.take(.remove, at: other.path)
        guard rules?.isOneSided != true else { return }
        let versions = MergeVersions(base: departure.base, sides: arrivals.map { $0.value })
        kept.insertion.reports.append(
            Conflict(.bothMoved, versions, winner == .ours ? .ours : .theirs, departure.place)
        )
    }

    /// Decides about a value that one side moved and the other removed.
    private func settleRemoved(_ departure: Departure, _ arrival: ArrivedItem) {
        let mover = arrival.insertion.side
        if departure.isReordered(by: arrival) { return arrival.remove() }
        switch departure.place.side(ofRemover: mover.other) {
        case mover?: break
        case mover.other?: arrival.remove()
        default:
            var sides = Sides<Value?>(both: nil)
            sides[mover] = arrival.value
            let versions = MergeVersions(base: departure.base, sides: sides)
            let choice: Conflict.Choice = mover == .ours ? .ours : .theirs
            arrival.insertion.reports.append(
                Conflict(.removedAndEdited, versions, choice, departure.place)
            )
        }
    }
}

extension Departure {
    /// Whether a side only gave it another place in its list.
    fileprivate func isReordered(by arrival: ArrivedItem) -> Bool {
        arrival.path.isEmpty && arrival.value == base
            && place.list != nil && place.list == arrival.insertion.place.list
    }
}

extension ArrivedItem {
    /// Takes the value out of the side's new value.
    fileprivate func remove() { insertion.take(.remove, at: path) }
}

extension Insertion {
    /// Takes over a change of the other side's to a part of this value, or to all of it.
    fileprivate func take(_ change: MapDelta.Change, at path: [Path.Step]) {
        guard let last = path.last else { return origin = (value, .one(side.other, change)) }
        var edit = path.dropLast().reversed().reduce(change.nested(at: last)) { edit, step in
            MapDelta.Change.apply(edit).nested(at: step)
        }
        // Parts of one value do not overlap, but the removal of one shifts the others.
        if case .one(_, .apply(let known))? = origin?.node,
            let rest = try? edit.transformed(past: known, on: value),
            let both = try? known.composed(with: rest)
        {
            edit = both
        }
        origin = (value, .one(side.other, .apply(edit)))
    }
}

extension MapDelta.Change {
    /// This change, made to a part of a container.
    fileprivate func nested(at step: Path.Step) -> Delta {
        switch step {
        case .key(let key): return .map([key: self])
        case .position(let position):
            var recipe = ListRecipe()
            recipe.append(.kept(0..<position))
            if case .apply(let edit) = self { recipe.append(.edited(position, edit)) }
            recipe.finish(tail: position + 1)
            return .list(recipe)
        }
    }
}
