// How a merge decides its open places, with the whole of it in sight, outermost first:
//
//   (1) The values themselves: the greater version, number or date, a value before yes or no.
//   (2) The record: contested fields of one map follow one side, the one that most votes name,
//       else the one that the enclosing record follows.
//   (3) An edit beats a removal, whatever the record around it follows. Of two lists that both
//       sides created, and that are no sets, ours is taken. Else the side that changed more of the
//       document is followed, else theirs, the later one.
//   (4) A record of which much is contested is taken whole from the winner, and so is a new one on
//       which both sides agree in less than half: neither side wrote a mixture of the two. The
//       loser's other changes go with it, if they are few, and only where the record is new, or a
//       version, number or date in it tells that the winner's is later. An increment, a rule of the
//       policy, a value that moved, and work of the loser in the items of a list prevent this: they
//       count all the same.
//
// The merge reports each decision, except two raised versions and prose that differs only in case,
// blanks or punctuation. It reports raised versions, too, in a record of scalars with one version that
// also has a field of the side that lost: the entry of a lock file is then put together of two.

/// The decisions of one merge.
struct Settlement {
    private(set) var conflicts: [Conflict] = []
    private let larger: Side

    private static let wholeMin = 3
    private static let wholePart = 4

    private let hasMoves: Bool

    init(_ deltas: Sides<Delta>, hasMoves: Bool) {
        self.hasMoves = hasMoves
        larger = deltas.ours.weight > deltas.theirs.weight ? .ours : .theirs
    }

    /// Decides everything that is open in a node; `winner` is the side that the record around it
    /// follows.
    mutating func settle(_ node: MergeNode, _ winner: Side? = nil) {
        switch node {
        case .kept, .one, .same, .sum, .raised, .decided: break
        case .open(let choice): settle(choice, winner)
        case .map(let map): settle(map, winner)
        case .list(let list):
            conflicts += list.reports
            for (_, node) in list.items { settle(node, winner) }
        case .text(let text): settle(text, winner)
        case .inserted(let insertion):
            conflicts += insertion.reports
            if let origin = insertion.origin { settle(origin.node, winner) }
            for edit in insertion.edits { settle(edit.node, winner) }
        case .created(_, let node): settle(node, winner)
        }
    }

    private mutating func settle(
        _ choice: MergeChoice,
        _ winner: Side?,
        in record: MergedMap? = nil
    ) {
        if let picked = choice.picked {
            guard choice.isDoubtful else { return }
            return report(choice.reason, choice.versions, .init(picked), choice.place)
        }
        // In a record, contested fields follow one side; only a version goes its own way.
        let vote = record == nil || choice.vote?.isVersion == true ? choice.vote : nil
        let picked = choice.editor ?? vote?.side ?? winner ?? choice.leaning ?? larger
        choice.picked = picked
        let isMixture = vote?.isVersion == true && record?.isFlatMixture(with: picked) == true
        guard !choice.isTrivial || isMixture else { return }
        report(choice.reason, choice.versions, .init(picked), choice.place)
    }

    private mutating func settle(_ map: MergedMap, _ winner: Side?) {
        let choices = map.entries.compactMap { entry -> MergeChoice? in
            guard case .open(let choice) = entry.node, choice.picked == nil else { return nil }
            return choice
        }
        guard !choices.isEmpty else {
            if map.isDoubtful { report(.bothChangedRecord, map.versions, .both, map.place) }
            for (_, node) in map.entries { settle(node, winner) }
            return
        }
        let votes = choices.compactMap(\.vote)
        let leaning = choices.allSatisfy { $0.leaning != nil } ? choices[0].leaning : nil
        let editor = choices.lazy.compactMap(\.editor).first
        let leader = winnerOf(votes) ?? editor ?? winner ?? leaning ?? larger
        if isTakenWhole(map, choices, leader) {
            map.whole = leader
            return report(.takenWhole, map.versions, .init(leader), map.place)
        }
        if map.isDoubtful { report(.bothChangedRecord, map.versions, .both, map.place) }
        for (_, node) in map.entries {
            if case .open(let choice) = node {
                settle(choice, leader, in: map)
            } else {
                settle(node, leader)
            }
        }
    }

    /// The side that most votes name; of equally many, the first.
    private func winnerOf(_ votes: [Vote]) -> Side? {
        let ours = votes.count { $0.side == .ours }
        if ours * 2 == votes.count { return votes.first?.side }
        return ours * 2 > votes.count ? .ours : .theirs
    }

    private func isTakenWhole(
        _ map: MergedMap,
        _ choices: [MergeChoice],
        _ winner: Side
    ) -> Bool {
        guard Set(choices.compactMap { $0.vote?.side }).count < 2, map.canBeTakenWhole, !hasMoves
        else { return false }
        guard !map.deltas[winner.other].hasInsertions,
            !map.entries.contains(where: { $0.node.hasItems(of: winner.other) })
        else { return false }
        let lone = map.entries.reduce(0) { $0 + $1.node.work(of: winner.other) }
        // Without a vote, nothing says that the winner's record is the later one.
        guard lone == 0 || map.place.isNew || choices.contains(where: { $0.vote != nil })
        else { return false }
        let isMuch =
            choices.count >= Self.wholeMin
            && Self.wholePart * choices.count >= choices.count + lone
        let agreed = map.entries.count - choices.count - lone
        let isOther = map.place.isNew && agreed <= choices.count + lone
        guard isOther || isMuch || choices.count == 2 && lone == 1 else { return false }
        return lone > 0 || !choices.allSatisfy(\.isTrivial)
    }

    private mutating func settle(_ text: MergedText, _ winner: Side?) {
        let votes = text.contested.compactMap(\.vote?.side)
        let picked = votes.first ?? winner ?? larger
        for choice in text.contested { choice.picked = choice.vote?.side ?? picked }
        let sides = Set(text.contested.compactMap(\.picked))
        if text.contested.allSatisfy(\.isTrivial), !text.isDoubtful { return }
        var choice = Conflict.Choice.both
        if sides.count == 1, let side = sides.first { choice = .init(side) }
        report(.bothRewrote, text.versions, choice, text.place)
    }

    private mutating func report(
        _ reason: Conflict.Reason,
        _ versions: MergeVersions,
        _ choice: Conflict.Choice,
        _ place: MergePlace
    ) {
        conflicts.append(Conflict(reason, versions, choice, place))
    }
}

extension MergedMap {
    /// An increment counts, whatever else is decided, and so does a rule of the policy.
    fileprivate var canBeTakenWhole: Bool {
        place.rules == nil && !deltas.ours.hasIncrement && !deltas.theirs.hasIncrement
    }

    /// Whether this is a record of scalars with one version, as an entry of a lock file is, and has a
    /// field that only the other side changed beside what is taken from a side.
    fileprivate func isFlatMixture(with side: Side) -> Bool {
        base.allSatisfy(\.value.isScalar) && base.count(where: { Vote.isVersion($0.value) }) == 1
            && entries.contains { entry in
                switch entry.node {
                case .one(let owner, _): owner == side.other
                case .inserted(let insertion): insertion.side == side.other
                default: false
                }
            }
    }
}

extension MergeNode {
    /// How much one side alone changed here, at whatever depth.
    fileprivate func work(of side: Side) -> Int {
        switch self {
        case .one(let owner, let change): owner == side ? change.weight : 0
        case .inserted(let insertion): insertion.side == side ? 1 : 0
        case .map(let map): map.entries.reduce(0) { $0 + $1.node.work(of: side) }
        case .list(let list): list.items.reduce(0) { $0 + $1.node.work(of: side) }
        case .created(_, let node): node.work(of: side)
        case .kept, .same, .sum, .raised, .decided, .open, .text: 0
        }
    }

    /// Whether one side alone changed an item of a list that both changed, at whatever depth.
    fileprivate func hasItems(of side: Side) -> Bool {
        switch self {
        case .list: work(of: side) > 0
        case .map(let map): map.entries.contains { $0.node.hasItems(of: side) }
        case .created(_, let node): node.hasItems(of: side)
        default: false
        }
    }
}
