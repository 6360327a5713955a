/// The walk along two changes and their base.
struct Merger {
    /// The items of the base of which a side has made others, perhaps: see `SeparatedChanges`.
    let doubtful: Set<ValuePath>
    let unsure: Set<ValuePath>
    /// Whether the walk enters containers that only one side changed, to find its new values.
    var isThorough = false
    /// The values that at least one side removed, so far; this keeps them until the merge ends.
    var departures: [Departure] = []
    /// The new values of one side, so far.
    var insertions: [Insertion] = []
    /// The tables whose columns a side has changed, so far.
    var tables: [ValuePath: Table] = [:]
    /// The map that is being merged, the innermost one.
    var around: MapAround?
    /// The list around the item that is merged.
    var siblings: Value.List?
    /// Records that both sides may have renamed: each is reported unless it is found elsewhere.
    var renames: [Rename] = []
    /// Values that both sides removed, and places in which both put in different ones, so far.
    var meetings = Meetings()
    /// The values that one side removed and the other left as they were, so far.
    private(set) var removedAlone = Sides<[Value]>(both: [])
    /// The values that both sides moved to one place, by where ours has them.
    private(set) var origins: [ValuePath: Removal] = [:]
    /// Where these stood.
    private(set) var originPaths: Set<ValuePath> = []
    /// Where the departures stood that are found elsewhere.
    private(set) var found: Set<ValuePath> = []
    /// What both sides did alike, so far.
    private(set) var agreed: [Delta] = []

    init(_ changes: SeparatedChanges) {
        (doubtful, unsure) = (changes.doubtful, changes.unsure)
    }

    /// Merges values of the base in the places to which both sides moved them.
    mutating func meet(_ origins: [ValuePath: Removal]) {
        self.origins = origins
        originPaths = Set(origins.values.map(\.place.inBase))
        found.formUnion(originPaths)
    }

    mutating func noteRemovedAlone(_ value: Value, by side: Side) {
        if isThorough { removedAlone[side].append(value) }
    }

    mutating func noteFound(_ place: MergePlace) { found.insert(place.inBase) }

    /// - Precondition: Both deltas apply to `base`, or set it where there is none.
    mutating func merge(_ base: Value?, _ deltas: Sides<Delta>, _ place: MergePlace) -> MergeNode {
        let deltas = deltas.map { $0.sets(base) ? .keep : $0 }
        switch (deltas.ours, deltas.theirs) {
        case (.keep, .keep): return .kept
        case (.keep, _): return mergeOne(.theirs, base, deltas, place)
        case (_, .keep): return mergeOne(.ours, base, deltas, place)
        case _ where place.rules?.isWhole == true:
            let sides = deltas.map { base?.changed(by: $0) }
            if sides.ours == sides.theirs { return agree(on: deltas.ours, base, place) }
            return choice(.bothSet, base, sides, place)
        case (.increment(let ours), .increment(let theirs)):
            if place.rules?.isSum == false, let node = decided(.bothSet, base, deltas, place) {
                return node
            }
            return .sum(Sides(ours: ours, theirs: theirs))
        case (.increment(let number), .set(.int(let int))):
            return decided(.bothSet, base, deltas, place) ?? .raised(int, by: number, of: .ours)
        case (.set(.int(let int)), .increment(let number)):
            return decided(.bothSet, base, deltas, place) ?? .raised(int, by: number, of: .theirs)
        case (.map, .map): return mergeMaps(base?.map ?? [:], deltas, place)
        case (.set(.int), .set(.int)) where place.rules?.isSum == true: break
        case (.list, .list) where deltas.ours.hasIncrement || isInTable(place): break
        case _ where deltas.ours == deltas.theirs: return agree(on: deltas.ours, base, place)
        default: break
        }
        switch (deltas.ours, deltas.theirs) {
        case (.list(let ours), .list(let theirs)):
            return mergeLists(base?.list ?? [], Sides(ours: ours, theirs: theirs), place)
        case (.text, .text): return mergeTexts(base, deltas, place)
        default: return mergeInside(base, deltas, place) ?? mergeReplaced(base, deltas, place)
        }
    }

    /// A place that only one side changed.
    private mutating func mergeOne(
        _ side: Side,
        _ base: Value?,
        _ deltas: Sides<Delta>,
        _ place: MergePlace
    ) -> MergeNode {
        guard isThorough || place.rules != nil else { return .one(side, .apply(deltas[side])) }
        var deltas = deltas
        if place.rules != nil, let base, case .set(let value) = deltas[side] {
            // A rule holds however the side tells its change.
            deltas[side] = .diff(base, value, place.rules)
        }
        switch (base, deltas[side]) {
        case (.map(let base)?, .map):
            deltas[side.other] = .map(MapDelta(ascending: []))
            return mergeMaps(base, deltas, place)
        case (.list(let base)?, .list(let delta)):
            var lists = Sides(both: ListDelta(ListRecipe()))
            lists[side] = delta
            return mergeItems(base, lists, place)
        default: return .one(side, .apply(deltas[side]))
        }
    }

    /// A container or a text that was replaced by one of its kind is merged as if it was edited.
    private mutating func mergeInside(
        _ base: Value?,
        _ deltas: Sides<Delta>,
        _ place: MergePlace
    ) -> MergeNode? {
        guard let base else { return nil }
        if let inside = deltas.inside(base, place.rules) { return merge(base, inside, place) }
        let values = deltas.map { base.changed(by: $0) }
        guard case (.string, .string, .string) = (base, values.ours, values.theirs) else {
            return nil
        }
        return mergeTexts(base, deltas, place)
    }

    /// The node of a change that both sides have made.
    mutating func agree(on delta: Delta, _ base: Value?, _ place: MergePlace) -> MergeNode {
        if let base { noteRemovals(by: delta, from: base, place) }
        return same(delta)
    }

    private mutating func same(_ delta: Delta) -> MergeNode {
        agreed.append(delta)
        return .same(.apply(delta))
    }

    private mutating func mergeReplaced(
        _ base: Value?,
        _ deltas: Sides<Delta>,
        _ place: MergePlace
    ) -> MergeNode {
        if case .set(let ours) = deltas.ours, case .set(let theirs) = deltas.theirs {
            if let base { noteRemoval(of: base, place) }
            return mergeCreated(base, Sides(ours: ours, theirs: theirs), place)
        }
        return choice(.replacedAndEdited, base, deltas.map { base?.changed(by: $0) }, place)
    }

    /// Two new values in one place: containers are merged as if both had begun empty.
    mutating func mergeCreated(
        _ base: Value?,
        _ values: Sides<Value>,
        _ place: MergePlace
    ) -> MergeNode {
        if values.ours == values.theirs, place.rules?.isSum != true {
            return same(.set(values.ours))
        }
        let empty: Value
        switch (values.ours, values.theirs) {
        case _ where place.rules?.isWhole == true:
            return choice(.bothSet, base, values.map { $0 }, place)
        case (.map, .map): empty = [:]
        case (.list, .list): empty = []
        default: return choice(.bothSet, base, values.map { $0 }, place)
        }
        if place.rules == nil, let ours = values.ours.list, let theirs = values.theirs.list,
            ours.excludes(theirs)
        {
            let versions = MergeVersions(base: base, sides: values.map { $0 })
            return .open(MergeChoice(.bothSet, versions, place, leaning: .ours))
        }
        let (deltas, place) = (Delta.diff(empty, values, place.rules), place.created)
        guard case .map = empty, case .map = deltas.ours, case .map = deltas.theirs else {
            return .created(empty: empty, merge(empty, deltas, place))
        }
        return .created(empty: empty, mergeMaps([:], deltas, place))
    }
}

// MARK: - Choices

extension Merger {
    /// A choice between two wishes, or a rule's answer to them.
    mutating func choice(
        _ reason: Conflict.Reason,
        _ base: Value?,
        _ sides: Sides<Value?>,
        _ place: MergePlace
    ) -> MergeNode {
        let versions = MergeVersions(base: base, sides: sides)
        if let value = place.decide(reason, versions) { return .decided(value, versions) }
        return .open(MergeChoice(reason, versions, place))
    }

    private func decided(
        _ reason: Conflict.Reason,
        _ base: Value?,
        _ deltas: Sides<Delta>,
        _ place: MergePlace
    ) -> MergeNode? {
        guard place.rules?.rule != nil else { return nil }
        let sides = deltas.map { base?.changed(by: $0) }
        let versions = MergeVersions(base: base, sides: sides)
        return place.decide(reason, versions).map { .decided($0, versions) }
    }

    /// The node of a value that one side removed and the other edited.
    mutating func removed(
        by side: Side,
        _ base: Value,
        _ edit: Delta,
        _ place: MergePlace
    ) -> MergeNode {
        let edited = base.changed(by: edit)
        var sides = Sides<Value?>(both: nil)
        sides[side.other] = edited
        let choice = MergeChoice(
            .removedAndEdited,
            MergeVersions(base: base, sides: sides),
            place,
            edit: edit
        )
        choice.picked = place.side(ofRemover: side)
        let onlyRemoves = edit.onlyRemoves(from: base)
        if choice.picked == nil, base.isDistinctive || onlyRemoves {
            let departure = Departure(base, place, choice)
            departures.append(departure)
            noteRemovals(by: edit, from: base, place, in: departure)
            if isThorough {
                departure.editedParts = noteEditedParts(by: edit, of: base, place, in: departure)
            }
        }
        // What the side put in elsewhere may be a version of it.
        if choice.picked == nil, !isThorough, onlyRemoves { choice.picked = side }
        return .open(choice)
    }
}

extension Delta {
    /// Whether a value is the same after this change, as after a composition of there and back.
    func keeps(_ base: Value) -> Bool { self == .keep || base.changed(by: self) == base }

    /// Whether this sets the value that is there already.
    fileprivate func sets(_ base: Value?) -> Bool {
        if case .set(let value) = self { value == base } else { false }
    }

    /// The parts of a value that this change removes, and where they stand in the base.
    func removedParts(of value: Value, at path: ValuePath) -> [(path: ValuePath, part: Value)] {
        switch (self, value) {
        case (.map(let delta), .map(let map)):
            delta.entries.flatMap { entry -> [(ValuePath, Value)] in
                guard let value = map[entry.key] else { return [] }
                let path = ValuePath(path.steps + [.key(entry.key)])
                switch entry.change {
                case .remove: return [(path, value)]
                case .apply(let change): return change.removedParts(of: value, at: path)
                }
            }
        case (.list(let delta), .list(let items)):
            delta.recipe.removes.joined().map {
                (ValuePath(path.steps + [.position($0)]), items[$0])
            }
                + delta.recipe.edits.sorted { $0.key < $1.key }.flatMap { position, change in
                    let path = ValuePath(path.steps + [.position(position)])
                    return change.removedParts(of: items[position], at: path)
                }
        default: []
        }
    }

    /// Whether this change does nothing but remove parts of the base.
    func onlyRemoves(from base: Value) -> Bool {
        switch (self, base) {
        case (.map(let delta), .map(let map)):
            delta.entries.allSatisfy { entry in
                guard case .apply(let change) = entry.change else { return true }
                return map[entry.key].map { change.onlyRemoves(from: $0) } ?? false
            }
        case (.list(let delta), .list):
            delta.parts.edits.isEmpty && delta.parts.inserts.isEmpty && delta.parts.moves.isEmpty
        default: false
        }
    }
}
