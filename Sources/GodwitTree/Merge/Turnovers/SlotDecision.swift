// Whether an edit after which an item has another name is another item in its place.
//
// An item came if the same change removes or edits it away elsewhere, and went if it is inserted or
// edited in elsewhere: by its `id`, by all its content, by a number as `id` together with all texts,
// or by what else names it (a label).
//
//   (1) If a usual name stays and only the `id` is another one, it is a turnover if all content of
//       both items came and went, or by the old `id`, as in (2). Else ids were given anew.
//   (2) It is one if the new item holds the old one, or if the change removes all content of the new
//       item elsewhere; and by an `id`, if the item that was removed or inserted elsewhere is more like
//       the one here than the item here is before or after. If only the old one went, it may have been
//       copied.
//   (3) If two edits exchange items, it is one with the `id` or, where no text or number that stays
//       tells the place, as the shift of a roster does, with all content.
//   (4) If old and new have less than half of their words in common, each name but a label is enough
//       for what is removed or inserted elsewhere. An old version that is kept elsewhere is a copy, or the
//       old item, if the names have no word in common.
//   (5) Where the other side has taken the old item away, any name but a label that came from elsewhere
//       makes it one; a label does if the item that had it is more like the new one than the old one is.
//   (6) If an edit changes a text and no name, and just one item elsewhere has got all old texts of
//       the record, that one is the old record, or a copy: a task that recurs, say, and is done.
//
// Where the names say less, but something, it is in doubt.

enum SlotDecision {
    case edit
    case doubtful
    /// Another item is in the place, and the old one went elsewhere or was copied there.
    case unsure
    case turnover

    var isTurnover: Bool { self == .turnover || self == .unsure }
}

extension SlotTurnover {
    private static let alikeScoreMin = 0.5

    /// - Parameter isGone: Whether the other side has taken the old item away.
    func decision(
        _ position: Int,
        of items: Value.List,
        by change: Delta,
        isGone: Bool
    ) -> SlotDecision {
        let item = items[position]
        let new = item.changed(by: change)
        let (oldNames, newNames) = (Self.names(of: item), Self.names(of: new))
        let came = newNames.filter { departed[$0, default: 0] > (oldNames.contains($0) ? 1 : 0) }
        let went = oldNames.filter { arrived[$0, default: 0] > (newNames.contains($0) ? 1 : 0) }
        guard !came.isEmpty || !went.isEmpty else { return .edit }
        let contents = [came, went].map { $0.contains(where: \.isContent) }
        if contents[1], new.parts.contains(where: { $0.value.holds(item) }) { return .turnover }
        if item.namingFields.contains(where: { new[$0.key] == $0.value }) {
            if hasArrived(item, leaving: new),
                let decision = decisionByID(item, new, came: came, went: went)
            {
                return decision
            }
            return contents == [true, true]
                ? .turnover : contents.contains(true) ? .doubtful : .edit
        }
        let cameAway = came.filter { removed[$0] != nil }
        if cameAway.contains(where: \.isContent) { return .turnover }
        if isGone {
            let likeness = Resemblance(new).score(with: Resemblance(item))
            let isLikeAnother = cameAway.compactMap { removed[$0] }
                .contains { Resemblance(new).score(with: Resemblance($0)) > likeness }
            if isLikeAnother || !came.allSatisfy(\.isLabel) { return .turnover }
        }
        if let decision = decisionByID(item, new, came: came, went: went) { return decision }
        if contents[0] {
            let hasID = came.contains(where: \.isID)
            let isExchange = contents[1] && !items.tellsPlace(of: position, keptIn: new)
            return hasID || isExchange ? .turnover : .doubtful
        }
        let wentAway = went.filter { inserted[$0] != nil }
        let isOther = Resemblance(item).score(with: Resemblance(new)) < Self.alikeScoreMin
        if isOther {
            let hasMoved =
                came.contains(where: \.isID) || !cameAway.union(wentAway).allSatisfy(\.isLabel)
            return hasMoved ? .turnover : .doubtful
        }
        if wentAway.contains(where: \.isContent), item.sharesNoNameWord(with: new) {
            return .unsure
        }
        return !came.isEmpty || wentAway.contains(where: \.isNumber) ? .doubtful : .edit
    }

    /// Whether an `id` that is a name for sure stands elsewhere now, with something that another value
    /// has taken the place of here.
    private func hasArrived(_ item: Value, leaving new: Value) -> Bool {
        guard let id = item.usualName, item.isSurelyNamed, new.usualName != id,
            let other = inserted[.id(id)], case .map(let record) = item
        else { return false }
        return record.contains { entry in
            !ItemIdentity.isStrict(entry.key) && other[entry.key] == entry.value
                && new[entry.key] != entry.value
        }
    }

    /// The decision by `id`; nil if no `id` was removed or inserted elsewhere.
    private func decisionByID(
        _ item: Value,
        _ new: Value,
        came: Set<Name>,
        went: Set<Name>
    ) -> SlotDecision? {
        let (old, now) = (Resemblance(item), Resemblance(new))
        let score = old.score(with: now)
        func decision(_ likeness: Double, _ turnover: SlotDecision) -> SlotDecision {
            likeness > score ? turnover : likeness == score ? .doubtful : .edit
        }
        if let origin = came.first(where: \.isID).flatMap({ removed[$0] }) {
            return decision(now.score(with: Resemblance(origin)), .turnover)
        }
        if let target = went.first(where: \.isID).flatMap({ inserted[$0] }) {
            let turnover: SlotDecision = came.isEmpty ? .unsure : .turnover
            return decision(old.score(with: Resemblance(target)), turnover)
        }
        return nil
    }
}

extension Value {
    /// Whether the names of two records have no word in common.
    fileprivate func sharesNoNameWord(with other: Value) -> Bool {
        namingFields.allSatisfy { entry in
            guard let name = other[entry.key] else { return true }
            return Resemblance(entry.value).score(with: Resemblance(name)) == 0
        }
    }

    /// Whether this is equal to a value, or has an equal part.
    fileprivate func holds(_ other: Value) -> Bool {
        self == other || parts.contains { $0.value.holds(other) }
    }
}
