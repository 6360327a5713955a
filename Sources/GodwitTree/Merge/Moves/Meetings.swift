// A value that both sides moved to one place, or gave one new key, and that a side edited as well.
//
//   (1) Both removed it, and each has a value in a place that the base lacks.
//   (2) It is found again by its `id`, else by its content, if one side did not edit it; each time, half
//       of its words are in the values of both sides. In its own map, these words are enough: both gave
//       it one new key. Elsewhere it takes eight tenths of the words.
//   (3) The parts of what is not found may be: both sides took a container apart, or gave it another form.
//   (4) What neither side edited is found first, and so is no other value's origin. If the values of one
//       place are as like two different ones, neither is taken.

/// A value that both sides removed from where the base has it.
struct Removal {
    let base: Value
    let place: MergePlace

    fileprivate func isAround(_ other: Removal) -> Bool {
        other.place.inBase.steps.starts(with: place.inBase.steps)
    }
}

/// The places in which both sides may have put one value of the base.
struct Meetings {
    private var removals: [Removal] = []
    /// How many of the removals have their parts among the others.
    private var openedCount = 0
    private var pairs: [(values: Sides<Value>, place: MergePlace)] = []

    private static let scoreMin = 0.5
    private static let distantScoreMin = 0.8
    private static let scoresMax = 4_000

    mutating func note(_ removal: Removal) {
        if removal.base.isFilled || removal.base.isDistinctive { removals.append(removal) }
    }

    mutating func note(_ values: Sides<Value>, _ place: MergePlace) {
        pairs.append((values, place))
    }

    /// The values that both sides moved to one place, and one edited, by where ours has them.
    ///
    /// - Complexity: O(*n*) in all that both sides removed or put in, besides a bounded number of
    ///   comparisons.
    var origins: [ValuePath: Removal] {
        guard !removals.isEmpty, pairs.contains(where: { $0.values.ours != $0.values.theirs })
        else { return [:] }
        var (meetings, found) = (self, Found())
        func isComplete() -> Bool {
            pairs.indices.allSatisfy { !isEdited($0) || found.pairs.contains($0) }
        }
        repeat {
            meetings.matchNames(&found)
            for isEdited in [false, true] { meetings.matchContents(isEdited: isEdited, &found) }
        } while !isComplete() && meetings.open(besides: found)
        meetings.matchAlike(removals.indices, &found)
        meetings.matchAlike(removals.count..<meetings.removals.count, &found)
        return found.origins
    }

    /// Adds the parts of what was not found: both sides may have taken a container apart.
    ///
    /// - Returns: Whether there are any.
    private mutating func open(besides found: Found) -> Bool {
        let closed = removals[openedCount...].indices.filter { !found.removals.contains($0) }
        openedCount = removals.count
        for removal in closed.map({ removals[$0] }) {
            switch removal.base {
            case .map(let map):
                for entry in map {
                    note(Removal(base: entry.value, place: removal.place.child(.key(entry.key))))
                }
            case .list(let items):
                for (position, item) in items.enumerated() {
                    note(Removal(base: item, place: removal.place.child(.position(position))))
                }
            default: break
            }
        }
        return removals.count > openedCount
    }

    private struct Found {
        var origins: [ValuePath: Removal] = [:]
        var removals: Set<Int> = []
        var pairs: Set<Int> = []
    }

    private func unite(_ pair: Int, _ removal: Int, _ found: inout Found) {
        if isEdited(pair) { found.origins[pairs[pair].place.inOurs] = removals[removal] }
        found.removals.insert(removal)
        found.pairs.insert(pair)
    }

    private func isEdited(_ pair: Int) -> Bool {
        pairs[pair].values.ours != pairs[pair].values.theirs
    }

    /// Matches removed values with new ones by a name that occurs once on either side of the match.
    private func matchNames(_ found: inout Found) {
        let names = ListMatching.uniquePositions(of: removals.map(\.base.usualName))
        guard !names.isEmpty else { return }
        let places = ListMatching.uniquePositions(
            of: pairs.map { pair in
                let name = pair.values.ours.usualName
                return name == pair.values.theirs.usualName ? name : nil
            }
        )
        for (name, removal) in names.sorted(by: { $0.value < $1.value }) {
            guard let pair = places[name], score(pair, removal) >= Self.scoreMin else { continue }
            unite(pair, removal, &found)
        }
    }

    /// Matches removed values with new ones that a side, or both, left unedited.
    private func matchContents(isEdited: Bool, _ found: inout Found) {
        var free: [ItemContent: [Int]] = [:]
        for removal in removals.indices.reversed() where !found.removals.contains(removal) {
            free[ItemContent(removals[removal].base), default: []].append(removal)
        }
        var wishes: [(pair: Int, content: ItemContent)] = []
        var counts: [ItemContent: Int] = [:]
        for pair in pairs.indices where !found.pairs.contains(pair) {
            let values = pairs[pair].values
            guard self.isEdited(pair) == isEdited else { continue }
            let contents = Set([values.ours, values.theirs].map(ItemContent.init))
                .filter { free[$0] != nil }
            // Each side has another removed value there.
            if contents.count > 1 { found.pairs.insert(pair) }
            guard contents.count == 1, let content = contents.first else { continue }
            wishes.append((pair, content))
            counts[content, default: 0] += 1
        }
        for (pair, content) in wishes {
            guard let equal = free[content], let removal = equal.last,
                counts[content] == 1 || equal.count >= counts[content] ?? 0,
                score(pair, removal) >= Self.scoreMin
            else { continue }
            free[content]?.removeLast()
            counts[content, default: 0] -= 1
            unite(pair, removal, &found)
        }
    }

    /// Matches some removed values with new ones that look like them on both sides, the most alike first.
    private func matchAlike(_ range: Range<Int>, _ found: inout Found) {
        let removed = range.filter { !found.removals.contains($0) }
        let places = pairs.indices.filter { !found.pairs.contains($0) }
        guard removed.count * places.count <= Self.scoresMax else { return }
        let newBags = places.map { pairs[$0].values.map { Resemblance($0) } }
        var scores: [(score: Double, pair: Int, removal: Int)] = []
        for removal in removed {
            let (base, home) = (removals[removal].base, removals[removal].place.map)
            let bag = Resemblance(base)
            for (pair, bags) in zip(places, newBags)
            where isNamed(base.usualName, in: pair)
                && Side.allCases.allSatisfy({ pairs[pair].values[$0].sharesRecords(with: base) })
            {
                let isNear = home != nil && home == pairs[pair].place.map
                let score = min(bag.score(with: bags.ours), bag.score(with: bags.theirs))
                guard score >= (isNear ? Self.scoreMin : Self.distantScoreMin) else { continue }
                scores.append((score, pair, removal))
            }
        }
        // A value is as like what is around it, if that has nothing else.
        let depths = pairs.map { -$0.place.inOurs.steps.count }
        let heights = removals.map { -$0.place.inBase.steps.count }
        scores.sort {
            ($1.score, depths[$0.pair], heights[$0.removal], $0.pair, $0.removal)
                < ($0.score, depths[$1.pair], heights[$1.removal], $1.pair, $1.removal)
        }
        let rivals = Dictionary(grouping: scores, by: \.pair)
        for (score, pair, removal) in scores
        where !found.pairs.contains(pair) && !found.removals.contains(removal) {
            let isSure = rivals[pair, default: []].allSatisfy {
                $0.score < score || found.removals.contains($0.removal)
                    || removals[$0.removal].base == removals[removal].base
                    || removals[$0.removal].isAround(removals[removal])
            }
            if isSure { unite(pair, removal, &found) } else { found.pairs.insert(pair) }
        }
    }

    /// Whether both values in a place have a name; nil for none.
    private func isNamed(_ name: Value?, in pair: Int) -> Bool {
        Side.allCases.allSatisfy { pairs[pair].values[$0].usualName == name }
    }

    /// How much of a removed value is in the values of both sides.
    private func score(_ pair: Int, _ removal: Int) -> Double {
        let bag = Resemblance(removals[removal].base)
        let scores = pairs[pair].values.map { bag.score(with: Resemblance($0)) }
        return min(scores.ours, scores.theirs)
    }
}

extension Value {
    /// Whether this has a record of another list of records, if both are lists: a list of groups is no
    /// version of the list of what is in them.
    func sharesRecords(with other: Value) -> Bool {
        guard case .list(let items) = self, case .list(let others) = other,
            others.contains(where: { $0.map != nil })
        else { return true }
        let contents = Set(others.map(ItemContent.init))
        return items.contains { contents.contains(ItemContent($0)) }
    }
}

extension Merger {
    /// Two new values in a place that the base lacks: as if both had begun empty, unless both sides
    /// moved one value there.
    mutating func mergePair(_ values: Sides<Value>, _ place: MergePlace) -> MergeNode {
        if let origin = origins[place.inOurs] {
            let deltas = Delta.diff(origin.base, values, origin.place.rules)
            let place = origin.place.moved(to: place, by: .ours)
            return .created(empty: origin.base, merge(origin.base, deltas, place))
        }
        meetings.note(values, place)
        return mergeCreated(nil, values, place)
    }
}
