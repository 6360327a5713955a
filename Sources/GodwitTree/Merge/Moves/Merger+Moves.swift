// A value that one side removed in one place and put in elsewhere was moved.
//
//   (1) It is found again by its content, also within a new value of the side; or, where the side
//       edited it as well, by its `id`; by all but its counters, if it has none; or in the same map
//       by resemblance: then its key was renamed. A number as `id` is a name only beside equal
//       texts, or an equal title, because lists number their items each on its own. What the side put in
//       as it had removed it elsewhere is no version of another value.
//       A record without an `id` that both sides moved is found by its texts (`TextSearch`).
//   (2) It must be there just once, and say enough (`Value.isDistinctive`): a record of one word
//       stands in many places by chance. A short string, an int or a small record with an `id` or a text
//       was moved only where it was an item of a list, and both sides put it into another list. A value
//       that only one side moved says nothing if the base has an equal one elsewhere, such as a default
//       or a placeholder: it may be a copy of that one (`CommonValues`).
//   (3) If the other side edited it where it was, the edit goes along; but not another item that it
//       put in its place.
//   (4) If the other side moved it elsewhere too, it stands where ours has it, with the edits of
//       both, and a conflict says so. If a side made it a field of a new item, it stands there: the
//       item would lack a field. If both sides did, it stands in both.
//       If both put it in one place, under one new key say, both edits meet there (`Meetings`).
//   (5) If a side removed a value of which the other side only removed parts, it goes. A conflict says
//       so where a new value has half of its words, or a part that the other side removed: it may be a
//       version that was not found.
//       If the side took a container apart, edits in it go along with what they are for
//       (`Merger+Dissolved`).
//   (6) If the other side removed it, it stays: a move to another place is an edit, and an edit
//       beats a removal. A conflict says so here too. Within one list, a removal beats a move.

extension Merger {
    /// The merge of two changes of one base, with edits where the values went that they are for.
    static func tree(_ base: Value, _ changes: SeparatedChanges, _ place: MergePlace) -> MergeTree {
        var merger = Merger(changes)
        let node = merger.merge(base, changes.deltas, place)
        let origins = merger.meetings.origins
        guard !merger.departures.isEmpty || !origins.isEmpty else {
            merger.reportRenames()
            return MergeTree(root: node, hasMoves: false)
        }
        var thorough = Merger(changes)
        thorough.isThorough = true
        thorough.meet(origins)
        let walked = thorough.merge(base, changes.deltas, place)
        thorough.followMoves(in: base)
        thorough.reportRenames()
        let hasMoves = !origins.isEmpty || thorough.insertions.contains(where: \.isMerged)
        return MergeTree(root: walked, hasMoves: hasMoves)
    }

    /// The merge of two changes of one base, container by container.
    static func treeWithoutMoves(
        _ base: Value,
        _ changes: SeparatedChanges,
        _ place: MergePlace
    ) -> MergeTree {
        var merger = Merger(changes)
        let root = merger.merge(base, changes.deltas, place)
        merger.reportRenames()
        return MergeTree(root: root, hasMoves: false)
    }

    /// How often what was not found is looked for among what came to light since.
    private static let retriesMax = 8

    /// Follows the departed values; a merge of one where it arrived may let parts of it depart, and bring
    /// to light what the other side put into it.
    private mutating func followMoves(in base: Value) {
        var common = CommonValues(base)
        var (waiting, followed): ([Departure], [Departure]) = ([], [])
        var (seen, known, retries) = (0, 0, 0)
        while seen < departures.count || known < insertions.count && retries < Self.retriesMax {
            var departed = Array(departures[seen...])
            if retries < Self.retriesMax {
                departed = waiting + departed
                if !waiting.isEmpty { retries += 1 }
                waiting = []
            }
            if departed.isEmpty { break }
            (seen, known) = (departures.count, insertions.count)
            find(departed, in: base)
            common.count(departed)
            for departure in departed where departure.isFound {
                if common.contains(departure) {
                    departure.arrivals = Sides(both: nil)
                } else {
                    noteFound(departure.place)
                }
            }
            let left = departed.filter { $0.container?.isFound != true }
            let complete = left.filter { $0.isComplete && !$0.isEditedPart }
            for departure in complete { follow(departure) }
            followed += complete
            waiting += left.filter { !$0.isComplete }
        }
        waiting.removeAll { $0.container?.isFound == true || $0.isEditedPart }
        for departure in waiting where departure.isFound { follow(departure) }
        searchByTexts(waiting) { $0.report($1) }
        end((followed + waiting).filter { $0.choice != nil && $0.choice?.picked == nil })
    }

    private func find(_ departures: [Departure], in base: Value) {
        for isPart in [false, true] {
            // What is in a value that was found came along with it.
            let wanted = departures.filter { ($0.container != nil) == isPart }
                .filter { $0.container?.isFound != true }
            for side in Side.allCases {
                let unedited = removedAlone[side]
                let search = ArrivalSearch(side, insertions, unedited: unedited, of: base)
                search.find(wanted.filter { $0.isRemoved(by: side) && $0.arrivals[side] == nil })
            }
            searchByTexts(wanted) { $0.find($1) }
        }
    }

    private func searchByTexts(
        _ departures: [Departure],
        _ body: (TextSearch, [Departure]) -> Void
    ) {
        let records = TextSearch.wanted(departures)
        guard !records.isEmpty else { return }
        body(TextSearch(insertions, unedited: removedAlone, agreedValues: agreedValues), records)
    }

    /// Lets values go that one side took apart, and those of which the other side has only removed parts.
    ///
    /// It reports that where a new value of the remover's looks like a version of one, or has a part that
    /// the other side removed.
    private mutating func end(_ departures: [Departure]) {
        guard !departures.isEmpty else { return }
        for departure in departures where !departure.isFound { dissolve(departure) }
        // These may have brought to light what the other side put in.
        let versions = Sides(ours: Side.ours, theirs: .theirs).map { VersionSearch($0, insertions) }
        for departure in departures {
            guard let choice = departure.choice, let edit = choice.edit,
                let remover = choice.editor?.other
            else { continue }
            if choice.picked == nil, edit.onlyRemoves(from: departure.base) {
                choice.picked = remover
                choice.isDoubtful = versions[remover].hasVersion(of: departure.base)
            }
            guard choice.picked != nil, !choice.isDoubtful else { continue }
            let removed = edit.removedParts(of: departure.base, at: departure.place.inBase)
            choice.isDoubtful = removed.contains { path, part in
                let isTold = part.isDistinctive && found.contains(path)
                return !isTold && versions[remover].contains(part)
            }
        }
    }

    private mutating func follow(_ departure: Departure) {
        if let choice = departure.choice {
            guard let remover = choice.editor?.other, let edit = choice.edit,
                let arrival = departure.arrivals[remover], !departure.isReplaced(by: edit),
                !departure.place.isAmong(doubtful)
            else { return }
            bring(edit, of: departure, to: arrival)
            choice.picked = remover
            if departure.place.isAmong(unsure) {
                let report = Conflict(.bothChangedRecord, choice.versions, .both, departure.place)
                arrival.insertion.reports.append(report)
            }
            return
        }
        switch (departure.arrivals.ours, departure.arrivals.theirs) {
        case (let ours?, let theirs?): settle(departure, Sides(ours: ours, theirs: theirs))
        case (let arrival?, nil), (nil, let arrival?):
            // A small record that moved alone says too little; within a larger one, it came along.
            if departure.base.isDistinctive || !arrival.path.isEmpty {
                settleRemoved(departure, arrival)
            }
        case (nil, nil): break
        }
    }

    /// Merges an edit of the other side's into a value where it arrived.
    mutating func bring(_ edit: Delta, of departure: Departure, to arrival: ArrivedItem) {
        let insertion = arrival.insertion
        let isEdited = arrival.value != departure.base
        var deltas = Sides(both: edit)
        deltas[insertion.side] =
            isEdited ? .diff(departure.base, arrival.value, departure.place.rules) : .keep
        let place = departure.place.moved(
            to: arrival.path.reduce(insertion.place) { $0.child($1) },
            by: insertion.side
        )
        let node = merge(departure.base, deltas, place)
        if arrival.path.isEmpty, isEdited {
            insertion.origin = (departure.base, node)
        } else {
            insertion.edits.append(PartEdit(path: arrival.path[...], node: node))
        }
    }

    /// Puts a value that both sides moved where one of them has it.
    private mutating func settle(_ departure: Departure, _ arrivals: Sides<ArrivedItem>) {
        let rules = departure.place.rules
        let isOneSided = rules?.isOneSided == true
        let areFields = arrivals.map { !isOneSided && $0.isFieldOfItem }
        var winner: Side = rules?.isTheirs == true ? .theirs : .ours
        if areFields[winner.other], !areFields[winner] { winner = winner.other }
        let (kept, other) = (arrivals[winner], arrivals[winner.other])
        if !areFields[winner.other] {
            bring(.diff(departure.base, other.value, rules), of: departure, to: kept)
            other.insertion.take(.remove, at: other.path)
        }
        // Both moved it to one list.
        let areTogether =
            Side.allCases.allSatisfy { arrivals[$0].path.isEmpty }
            && kept.insertion.place.listInOurs != nil
            && kept.insertion.place.listInOurs == other.insertion.place.listInOurs
        // A drawing of two circles has two records of one text.
        let mayBeOthers = Side.allCases.allSatisfy { side in
            departure.base.mayBeAnother(than: arrivals[side].value)
        }
        guard !isOneSided, !areTogether || mayBeOthers else { return }
        let versions = MergeVersions(base: departure.base, sides: arrivals.map { $0.value })
        let choice: Conflict.Choice =
            areFields[winner.other] ? .both : .init(winner)
        kept.insertion.reports.append(Conflict(.bothMoved, versions, choice, departure.place))
    }

    /// Decides about a value that one side moved and the other removed.
    private func settleRemoved(_ departure: Departure, _ arrival: ArrivedItem) {
        let mover = arrival.insertion.side
        if departure.isReordered(by: arrival) { return arrival.remove() }
        switch departure.place.side(ofRemover: mover.other) {
        case mover?: break
        case mover.other?: arrival.remove()
        default: arrival.reportRemoval(of: departure)
        }
    }
}

extension Departure {
    private static let alikeScoreMin = 0.5

    /// Whether an edit of an item makes another item of it.
    fileprivate func isReplaced(by edit: Delta) -> Bool {
        guard place.list != nil, !edit.onlyRemoves(from: base),
            let edited = try? edit.applied(to: base), !base.sharesName(with: edited)
        else { return false }
        return Resemblance(base).score(with: Resemblance(edited)) < Self.alikeScoreMin
    }

    /// Whether a side only gave it another place in its list.
    fileprivate func isReordered(by arrival: ArrivedItem) -> Bool {
        arrival.path.isEmpty && arrival.value == base
            && place.list != nil && place.list == arrival.insertion.place.list
    }
}

extension Value {
    /// Whether this is a record without a usual name, and a number is another one in a version of it.
    fileprivate func mayBeAnother(than other: Value) -> Bool {
        guard case .map(let map) = self, !map.contains(where: \.isUsualName) else { return false }
        return map.contains { $0.value.isNumber && other[$0.key] != $0.value }
    }

    /// Whether two records have one value under a usual name.
    fileprivate func sharesName(with other: Value) -> Bool {
        map?.contains { entry in
            entry.isUsualName
                && other[entry.key] == entry.value
        } ?? false
    }
}

extension ArrivedItem {
    /// Whether it is a field of a new item of a list, or in one.
    fileprivate var isFieldOfItem: Bool {
        guard case .key? = path.last else { return false }
        return insertion.isItem || path.contains { $0.position != nil }
    }

    /// Reports that the other side removed a value of which this is a version.
    func reportRemoval(of departure: Departure) {
        var sides = Sides<Value?>(both: nil)
        sides[insertion.side] = value
        let versions = MergeVersions(base: departure.base, sides: sides)
        insertion.reports.append(
            Conflict(.removedAndEdited, versions, .init(insertion.side), departure.place)
        )
    }

    /// Takes the value out of the side's new value.
    fileprivate func remove() { insertion.take(.remove, at: path) }
}

extension Insertion {
    /// Takes over a change of the other side's to a part of this value, or to all of it.
    fileprivate func take(_ change: MapDelta.Change, at path: [ValuePath.Step]) {
        edits.append(PartEdit(path: path[...], node: .one(side.other, change)))
    }
}
