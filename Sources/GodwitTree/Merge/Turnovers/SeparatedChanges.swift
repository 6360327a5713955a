/// Both sides' changes, each turnover as a removal and a new item.
struct SeparatedChanges {
    var deltas: Sides<Delta>
    /// The items of the base that a side may have put another item in the place of: edits of both
    /// sides stay together.
    var doubtful: Set<ValuePath> = []
    /// The items of the base that a side has put another one in the place of, or has copied.
    var unsure: Set<ValuePath> = []
}

extension Value {
    /// Both sides' changes, with removals and new items for edits that put another item in a place.
    ///
    /// - Complexity: O(*k* log *n*) for a change of *k* places; O(*m*) where an item has another
    ///   name, for *m* elements in all that comes and goes.
    func withoutTurnovers(
        _ deltas: Sides<Delta>,
        _ rules: MergePolicy.Node?
    ) -> SeparatedChanges {
        let place = SlotPlace(rules: rules, isItem: false)
        let turnovers = deltas.map { delta in
            hasTurnover(delta, place) ? SlotTurnover(delta, of: self, place) : nil
        }
        var result = SeparatedChanges(deltas: deltas)
        guard turnovers.ours != nil || turnovers.theirs != nil else { return result }
        // First each side alone, then beside what the other one has taken away.
        var others = Sides(both: Delta.keep)
        var unsure: Set<ValuePath> = []
        for _ in 0..<2 {
            (result.doubtful, result.unsure) = ([], [])
            for side in Side.allCases {
                guard var turnover = turnovers[side] else { continue }
                let other = others[side.other]
                let delta = turnover.separated(result.deltas[side], of: self, place, beside: other)
                result.deltas[side] = delta
                result.doubtful.formUnion(turnover.doubtful)
                unsure.formUnion(turnover.unsure)
                result.unsure = unsure
            }
            others = result.deltas
        }
        return result
    }

    private func hasTurnover(_ delta: Delta, _ place: SlotPlace) -> Bool {
        switch (delta, self) {
        case (.map(let delta), .map(let map)):
            delta.entries.contains { entry in
                guard case .apply(let change) = entry.change else { return false }
                return map[entry.key]?.hasTurnover(change, place.child(.key(entry.key))) == true
            }
        case (.list(let delta), .list(let items)):
            delta.recipe.runs.contains { run in
                guard case .edited(let position, let change) = run else { return false }
                let item = items[position]
                return item.isRenamed(by: change, at: position, in: place)
                    || place.rules == nil && item.changesText(by: change)
                    || item.hasTurnover(change, place.child(.position(position)))
            }
        default: false
        }
    }

    /// Whether an edit of an item of a list leaves nothing of what names it.
    ///
    /// - Parameter list: Where the list is.
    func isRenamed(by delta: Delta, at position: Int, in list: SlotPlace) -> Bool {
        guard list.rules?.child(.position(position))?.rule == nil else { return false }
        switch (delta, self) {
        case (.set, .string), (.text, .string): return !list.isItem
        case (.set, .map), (.map, .map):
            guard !delta.hasIncrement else { return false }
            if let identity = list.rules?.identity, let name = identity.name(of: self) {
                return identity.name(of: changed(by: delta)) != name
            }
            guard mayRename(delta) else { return false }
            let new = changed(by: delta)
            let fields = namingFields
            let isOther = fields.map { new[$0.key] != $0.value }
            let hasOtherID = zip(fields, isOther).contains {
                $0.1 && ItemIdentity.isStrict($0.0.key)
            }
            return hasOtherID || !isOther.isEmpty && !isOther.contains(false)
        default: return false
        }
    }

    /// Whether a change of a record that texts tell apart changes one of them.
    func changesText(by delta: Delta) -> Bool {
        guard !delta.hasIncrement, tellsTexts, case .map(let delta) = delta else { return false }
        return delta.entries.contains { self[$0.key]?.text != nil }
    }

    /// Whether the texts of a record tell it from others: there are two of them, and not dates alone.
    var tellsTexts: Bool {
        let texts = texts
        return texts.count > 1 && !texts.allSatisfy(\.value.isMeasure)
    }

    /// Whether a change touches a text or a usual name: a look at the change alone.
    private func mayRename(_ delta: Delta) -> Bool {
        guard case .map(let delta) = delta else { return true }
        return delta.entries.contains {
            ItemIdentity.isUsual($0.key) || self[$0.key]?.text != nil
        }
    }

    /// The values in a container.
    var parts: [(value: Value, isItem: Bool)] {
        switch self {
        case .map(let map): map.map { ($0.value, isItem: false) }
        case .list(let items): items.map { ($0, isItem: true) }
        default: []
        }
    }

    /// The usual names of a record; its texts, if it has none.
    var namingFields: [Map.Element] {
        guard case .map(let map) = self else { return [] }
        let names = map.filter(\.isUsualName)
        return names.isEmpty ? map.filter { $0.value.text != nil } : names
    }
}
