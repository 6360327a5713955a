// A value that both sides moved to one place, or gave one new key, and that a side edited as well.
//
//   (1) Both removed it, and each has another value in a place that the base lacks.
//   (2) It is found again by its `id`, else by its content, if one side did not edit it; each time, half
//       of its words are in the values of both sides. In its own map, these words are enough: both gave
//       it one new key. Elsewhere it takes eight tenths of the words.

/// A value that both sides removed from where the base has it.
struct Removal {
    let base: Value
    let place: MergePlace
}

/// The places in which both sides may have put one value of the base.
struct Meetings {
    private var removals: [Removal] = []
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

    /// The values that both sides moved to one place, by where ours has them.
    ///
    /// - Complexity: O(*n*) in all that both sides removed or put in, besides a bounded number of
    ///   comparisons.
    var origins: [Path: Removal] {
        guard !removals.isEmpty, !pairs.isEmpty else { return [:] }
        var found = Found()
        match(by: { $0.usualName }, &found)
        match(by: { ItemContent($0) }, &found)
        matchAlike(&found)
        return found.origins
    }

    private struct Found {
        var origins: [Path: Removal] = [:]
        var removals: Set<Int> = []
        var pairs: Set<Int> = []
    }

    private func unite(_ pair: Int, _ removal: Int, _ found: inout Found) {
        found.origins[pairs[pair].place.inOurs] = removals[removal]
        found.removals.insert(removal)
        found.pairs.insert(pair)
    }

    /// Finds what has a name, or content, that occurs once in all that was removed, and in one place.
    private func match<Name: Hashable>(by name: (Value) -> Name?, _ found: inout Found) {
        let names = ListMatching.uniquePositions(
            of: removals.indices.map { found.removals.contains($0) ? nil : name(removals[$0].base) }
        )
        guard !names.isEmpty else { return }
        var places: [Name: Set<Int>] = [:]
        for (pair, (values, _)) in pairs.enumerated() where !found.pairs.contains(pair) {
            for name in [name(values.ours), name(values.theirs)].compactMap({ $0 }) {
                places[name, default: []].insert(pair)
            }
        }
        for (name, removal) in names.sorted(by: { $0.value < $1.value }) {
            guard let pairs = places[name], pairs.count == 1, let pair = pairs.first,
                !found.pairs.contains(pair), score(pair, removal) >= Self.scoreMin
            else { continue }
            unite(pair, removal, &found)
        }
    }

    /// Finds what looks like a removed value on both sides, the most alike first.
    private func matchAlike(_ found: inout Found) {
        let removed = removals.indices.filter { !found.removals.contains($0) }
        let places = pairs.indices.filter { !found.pairs.contains($0) }
        guard removed.count * places.count <= Self.scoresMax else { return }
        let newBags = places.map { pairs[$0].values.map { Resemblance($0) } }
        var scores: [(score: Double, pair: Int, removal: Int)] = []
        for removal in removed {
            let (base, home) = (removals[removal].base, removals[removal].place.map)
            let bag = Resemblance(base)
            for (pair, bags) in zip(places, newBags) where isNamed(base.usualName, in: pair) {
                let isNear = home != nil && home == pairs[pair].place.map
                let score = min(bag.score(with: bags.ours), bag.score(with: bags.theirs))
                guard score >= (isNear ? Self.scoreMin : Self.distantScoreMin) else { continue }
                scores.append((score, pair, removal))
            }
        }
        scores.sort { ($1.score, $0.pair, $0.removal) < ($0.score, $1.pair, $1.removal) }
        for (_, pair, removal) in scores
        where !found.pairs.contains(pair) && !found.removals.contains(removal) {
            unite(pair, removal, &found)
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

extension Merger {
    /// Two new values in a place that the base lacks: as if both had begun empty, unless both sides
    /// moved one value there.
    mutating func mergePair(_ values: Sides<Value>, _ place: MergePlace) -> MergeNode {
        if let origin = origins[place.inOurs] {
            let deltas = Delta.diff(origin.base, values, origin.place.rules)
            let place = origin.place.moved(to: place, by: .ours)
            return .created(empty: origin.base, merge(origin.base, deltas, place))
        }
        if values.ours != values.theirs { meetings.note(values, place) }
        return mergeCreated(nil, values, place)
    }
}
