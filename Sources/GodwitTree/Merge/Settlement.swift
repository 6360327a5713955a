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
            let side: Conflict.Choice = picked == .ours ? .ours : .theirs
            return report(choice.reason, choice.versions, side, choice.place)
        }
        let picked = choice.editor ?? choice.vote?.side ?? winner ?? choice.leaning ?? larger
        choice.picked = picked
        let isMixture =
            choice.vote?.isVersion == true && record?.isFlatMixture(with: picked) == true
        guard !choice.isTrivial || isMixture else { return }
        report(choice.reason, choice.versions, picked == .ours ? .ours : .theirs, choice.place)
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
            return report(.takenWhole, map.versions, leader == .ours ? .ours : .theirs, map.place)
        }
        if map.isDoubtful { report(.bothChangedRecord, map.versions, .both, map.place) }
        for (_, node) in map.entries {
            if case .open(let choice) = node, choice.picked == nil, choice.editor == nil,
                choice.vote?.isVersion == false
            {
                choice.picked = leader
                if !choice.isTrivial {
                    let side: Conflict.Choice = leader == .ours ? .ours : .theirs
                    report(choice.reason, choice.versions, side, choice.place)
                }
            } else if case .open(let choice) = node {
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
        guard !sides.isEmpty || text.isDoubtful else { return }
        var choice = Conflict.Choice.both
        if sides.count == 1 { choice = sides.first == .ours ? .ours : .theirs }
        if text.contested.allSatisfy(\.isTrivial), !text.isDoubtful { return }
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

extension Conflict {
    init(
        _ reason: Reason,
        _ versions: MergeVersions,
        _ choice: Choice,
        _ place: MergePlace
    ) {
        self.init(
            path: place.path(of: versions),
            reason: reason,
            base: versions.base,
            ours: versions.sides.ours,
            theirs: versions.sides.theirs,
            choice: choice
        )
    }
}

extension MergedMap {
    /// An increment counts, whatever else is decided, and so does a rule of the policy.
    fileprivate var canBeTakenWhole: Bool {
        place.rules == nil && !deltas.ours.hasIncrement && !deltas.theirs.hasIncrement
    }
}

extension MergedMap {
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

extension MergeChoice {
    /// Whether the other side's wish may be dropped without a report: both raised a version, or
    /// wrote the same words.
    fileprivate var isTrivial: Bool {
        guard let ours = versions.sides.ours, let theirs = versions.sides.theirs else {
            return false
        }
        if reason == .bothSet || reason == .replacedAndEdited, vote?.isVersion == true,
            let base = versions.base
        {
            return Self.isRaised(from: base, to: ours) && Self.isRaised(from: base, to: theirs)
                && Vote.haveOneKind(ours, theirs)
        }
        guard let our = ours.bareText, let their = theirs.bareText else { return false }
        return our == their
    }

    private static func isRaised(from old: Value, to new: Value) -> Bool {
        Vote.isVersion(old) && Vote.isVersion(new) && Vote(ours: old, theirs: new)?.side == .theirs
    }
}

extension Value {
    /// The letters of prose, in lower case; nil where there are none, and for other texts: in
    /// a path or in code, case and signs matter, and so does a point that ends no word.
    fileprivate var bareText: [UInt8]? {
        guard let text, text.utf8.contains(UInt8(ascii: " ")) else { return nil }
        let bytes = Array(text.utf8)
        var bare: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): bare.append(byte | 0x20)
            case UInt8(ascii: "a")...UInt8(ascii: "z"), 0x80...: bare.append(byte)
            case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "'"), UInt8(ascii: "\""): break
            case UInt8(ascii: "-"), UInt8(ascii: "/"):
                guard Self.joinsWords(bytes, index) else { return nil }
                if byte == UInt8(ascii: "/") { bare.append(byte) }
            case _ where Self.endsClause.contains(byte):
                let follows = index + 1 < bytes.count ? bytes[index + 1] : UInt8(ascii: " ")
                guard Self.followsClause.contains(follows) else { return nil }
            default: return nil
            }
        }
        return bare.isEmpty ? nil : bare
    }

    private static func joinsWords(_ bytes: [UInt8], _ index: Int) -> Bool {
        let isLetter = { (byte: UInt8) in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || byte >= 0x80
        }
        return index > 0 && index + 1 < bytes.count && isLetter(bytes[index - 1])
            && isLetter(bytes[index + 1])
    }

    private static let endsClause = Set(".,;:!?".utf8)
    private static let followsClause = Set(" \n'\"".utf8).union(endsClause)
}

extension Delta {
    /// Whether this puts items into a list, at whatever depth.
    fileprivate var hasInsertions: Bool {
        switch self {
        case .keep, .set, .text, .increment: false
        case .map(let delta):
            delta.entries.contains { entry in
                guard case .apply(let change) = entry.change else { return false }
                return change.hasInsertions
            }
        case .list(let delta):
            delta.recipe.runs.contains { run in
                switch run {
                case .kept: false
                case .edited(_, let delta): delta.hasInsertions
                case .new: true
                }
            }
        }
    }
}

extension Delta {
    /// Whether this is a change inside a container.
    fileprivate var isInside: Bool {
        switch self {
        case .map, .list: true
        case .keep, .set, .text, .increment: false
        }
    }

    /// How many things a change changes.
    fileprivate var weight: Int {
        switch self {
        case .keep: 0
        case .set, .text, .increment: 1
        case .map(let delta): delta.entries.reduce(0) { $0 + $1.change.weight }
        case .list(let delta):
            delta.recipe.weight
        }
    }
}

extension MapDelta.Change {
    fileprivate var weight: Int { if case .apply(let delta) = self { delta.weight } else { 1 } }
}

extension ListRecipe {
    fileprivate var weight: Int {
        var (edited, inserted) = (0, 0)
        for run in runs {
            switch run {
            case .kept: break
            case .edited(_, let delta): edited += delta.weight
            case .new: inserted += 1
            }
        }
        return edited + max(inserted, removes.reduce(0) { $0 + $1.count })
    }
}
