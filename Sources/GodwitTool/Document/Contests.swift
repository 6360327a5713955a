import GodwitTree

/// What a merge left contested, with places in the merged value.
struct Contests {
    /// The last places first.
    private(set) var all: [Contest] = []
    /// The conflicts that have a place.
    private(set) var conflicts: Set<Conflict> = []
    /// Whether all have one.
    private(set) var areComplete = true

    private let merge: GodwitTree.Merge
    private let tokens: [Contest.Side: TokenCounts]
    private let mergedTokens: TokenCounts

    /// Of what is within a place that is contested as a whole, nothing is said.
    init(in merge: GodwitTree.Merge, base: Value, ours: Value, theirs: Value) {
        self.merge = merge
        tokens = [
            .base: TokenCounts(base), .ours: TokenCounts(ours), .theirs: TokenCounts(theirs),
        ]
        mergedTokens = TokenCounts(merge.value)
        var finder = PlaceFinder(merge, base: base, ours: ours, theirs: theirs)
        var found: [(path: ValuePath, contest: Contest)] = []
        for conflict in merge.conflicts where !conflict.isNotice {
            guard let contest = contest(of: conflict, &finder) else {
                areComplete = false
                continue
            }
            conflicts.insert(conflict)
            found.append((conflict.path, contest))
        }
        found.sort { $0.contest.steps.count < $1.contest.steps.count }
        var places: Set<[ValuePath.Step]> = []
        found = found.filter { _, contest in
            let isInside = contest.steps.indices.contains { count in
                places.contains(Array(contest.steps[..<count]))
            }
            guard !isInside else { return false }
            return contest.isGap || places.insert(contest.steps).inserted
        }
        // What goes into a gap before an item moves the item, so the item has its turn before.
        found.sort { left, right in
            if left.contest.steps != right.contest.steps {
                return Spot.isBefore(right.contest.steps, left.contest.steps)
            }
            if left.contest.isGap != right.contest.isGap { return right.contest.isGap }
            return Spot.isBefore(right.path.steps, left.path.steps)
        }
        all = found.map(\.contest)
    }

    /// The merged value as a side wants it in each place.
    func value(_ side: Contest.Side) -> Value {
        all.reduce(merge.value) { $0.replacing($1, with: $1.wish(side)) }
    }

    /// The merged value with neither side's wish in the places; nil where records or lists are
    /// contested, or a conflict has no place.
    var undecided: Value? {
        guard areComplete, all.allSatisfy({ $0.undecided != nil }) else { return nil }
        return all.reduce(merge.value) { $0.replacing($1, with: $1.undecided) }
    }

    private func contest(of conflict: Conflict, _ finder: inout PlaceFinder) -> Contest? {
        guard conflict.hasMarkers else { return nil }
        if let spot = finder.spot(of: conflict), isChoice(of: conflict, at: spot) {
            let contest = Contest(spot, conflict)
            if isWhole(contest) { return contest }
        }
        guard conflict.choice != .both else { return nil }
        if let spot = finder.arrival(of: conflict) {
            let contest = Contest(spot, conflict)
            if isWhole(contest) { return contest }
        }
        guard finder.search() else { return nil }
        return finder.containers(around: conflict.path).lazy
            .map { Contest($0, $1) }.first(where: isWhole)
    }

    /// Whether the merged value has there what the merge has chosen: else it stands elsewhere.
    private func isChoice(of conflict: Conflict, at spot: Spot) -> Bool {
        let there = spot.isGap ? nil : merge.value.part(at: spot.steps)
        if conflict.choice == .both { return there?.text != nil }
        let chosen = conflict.chosen
        switch (there, chosen) {
        case (nil, nil), (.map, .map), (.list, .list), (.string, .string): return true
        default: return there == chosen
        }
    }

    /// Whether each choice is a whole: nothing is in it twice, or missing, because the merged value
    /// has it within the place and a side has it elsewhere, or the other way round.
    private func isWhole(_ contest: Contest) -> Bool {
        let there = contest.isGap ? nil : merge.value.part(at: contest.steps)
        let inside = TokenCounts(there)
        return Contest.Side.allCases.allSatisfy { side in
            let wish = contest.wish(side)
            if let there, let wish, !there.isContainer, !wish.isContainer { return true }
            let wished = TokenCounts(wish)
            guard let all = tokens[side] else { return false }
            return wished.tellingTokens(with: inside).allSatisfy { token in
                let within = wished[token] - inside[token]
                let outside = all[token] - wished[token] - mergedTokens[token] + inside[token]
                return within == 0 || outside == 0 || (within > 0) == (outside > 0)
            }
        }
    }
}

/// Finds the places of conflicts in the merged value.
private struct PlaceFinder {
    private let fromBase: SpotMap
    private let fromOurs: SpotMap
    private let sides: [Contest.Side: SpotMap]
    /// Where containers that have left their places stand now.
    private var arrivals: [[ValuePath.Step]: [ValuePath.Step]] = [:]
    /// How often the whole value may still be searched.
    private var searchesLeft = 64

    init(_ merge: GodwitTree.Merge, base: Value, ours: Value, theirs: Value) {
        fromBase = SpotMap(base, merge.delta, merge.value)
        fromOurs = SpotMap(ours, merge.afterOurs, merge.value)
        sides = [
            .ours: SpotMap(base, Delta.diff(base, ours, inPieces: true), ours),
            .theirs: SpotMap(base, Delta.diff(base, theirs, inPieces: true), theirs),
        ]
    }

    /// - Returns: Nil when the container of the place is gone, or another one.
    func spot(of conflict: Conflict) -> Spot? {
        // Where the base has nothing, the place is one in ours.
        conflict.base == nil
            ? fromOurs.spot(of: conflict.path) ?? fromBase.spot(of: conflict.path)
            : fromBase.spot(of: conflict.path)
    }

    /// The place of a value that stands elsewhere than in the base, alone or within a record.
    mutating func arrival(of conflict: Conflict) -> Spot? {
        guard let chosen = conflict.chosen, let way = fromBase.lostPart(of: conflict.path),
            let lost = fromBase.base.part(at: way)
        else { return nil }
        let rest = conflict.path.steps[way.count...]
        if let place = arrivals[way], fromBase.result.part(at: place + rest) == chosen {
            return Spot(steps: place + rest)
        }
        guard search() else { return nil }
        var (best, places) = (Self.scoreMin, [[ValuePath.Step]]())
        fromBase.result.walk { value, steps in
            guard value.part(at: Array(rest)) == chosen else { return }
            let score = rest.isEmpty ? 1 : TokenCounts(value).likeness(to: TokenCounts(lost))
            if score > best { (best, places) = (score, []) }
            if score == best { places.append(steps) }
        }
        guard places.count == 1 else { return nil }
        arrivals[way] = places[0]
        return Spot(steps: places[0] + rest)
    }

    /// Notes a search; a document with very many conflicts of this kind gets no markers for the rest.
    mutating func search() -> Bool {
        searchesLeft -= 1
        return searchesLeft >= 0
    }

    private static let scoreMin = 0.5

    /// The containers around a place that all versions have, the nearest first.
    func containers(around path: ValuePath) -> [(Spot, [Contest.Side: Value])] {
        path.steps.indices.reversed().compactMap { count in
            let outer = ValuePath(Array(path.steps.prefix(count)))
            guard let spot = fromBase.spot(of: outer), !spot.isGap,
                fromBase.result.part(at: spot.steps) != nil,
                let base = fromBase.base.part(at: outer.steps)
            else { return nil }
            let wishes = sides.compactMapValues { side in
                side.spot(of: outer).flatMap { $0.isGap ? nil : side.result.part(at: $0.steps) }
            }
            guard wishes.count == sides.count else { return nil }
            return (spot, wishes.merging([.base: base]) { wish, _ in wish })
        }
    }
}

/// How often each word, number and text is in a value.
private struct TokenCounts {
    private var counts: [Value: Int] = [:]

    init(_ value: Value?) { if let value { note(value) } }

    /// The tokens of both that are hardly anywhere by chance; all of them where there is none.
    func tellingTokens(with other: TokenCounts) -> [Value] {
        let all = Set(counts.keys).union(other.counts.keys)
        let telling = all.filter { token in
            if case .int(let number) = token { return number.magnitude >= 100 }
            return token.text?.count ?? .max > 2
        }
        return Array(telling.isEmpty ? all : telling)
    }

    subscript(token: Value) -> Int { counts[token, default: 0] }

    /// Which part of the tokens both have, from 0 to 1.
    func likeness(to other: TokenCounts) -> Double {
        let common = counts.reduce(0) { $0 + min($1.value, other[$1.key]) }
        let all = counts.values.reduce(0, +) + other.counts.values.reduce(0, +)
        return all == 0 ? 0 : 2 * Double(common) / Double(all)
    }

    private mutating func note(_ value: Value) {
        switch value {
        case .map(let map): for entry in map { note(entry.value) }
        case .list(let items): for item in items { note(item) }
        case .null, .bool: break
        default: counts[value, default: 0] += 1
        }
    }
}

extension Conflict {
    /// What is in the merged value; nil where the merge has removed it, or has kept both.
    fileprivate var chosen: Value? {
        switch choice {
        case .ours: ours
        case .theirs: theirs
        case .both: nil
        }
    }

    /// Whether markers can show it: a value that both sides moved, or whose changes are both there,
    /// has no second version in its place.
    var hasMarkers: Bool {
        reason != .bothMoved && (choice != .both || ours?.text != nil)
    }
}
