import GodwitTree

/// A conflict with its place in the merged value, so that each side's wish can be put there.
struct Contest {
    enum Side: CaseIterable {
        case ours, base, theirs
    }

    /// The way to the place in the merged value.
    let steps: [Path.Step]
    /// Whether the merged list has no item there: the last step is where it would be inserted.
    let isGap: Bool
    private let wishes: [Side: Value]

    private init(_ spot: Spot, base: Value?, ours: Value?, theirs: Value?) {
        (steps, isGap) = (spot.steps, spot.isGap)
        wishes = [Side.base: base, .ours: ours, .theirs: theirs].compactMapValues { $0 }
    }

    /// What a side has there; nil when it has nothing.
    func wish(_ side: Side) -> Value? { wishes[side] }
}

extension Contest {
    /// What a merge left contested, the last places first.
    ///
    /// Of what is within a place that is contested as a whole, nothing is said.
    static func all(in merge: GodwitTree.Merge, _ values: [Side: Value]) -> [Contest] {
        guard let base = values[.base], let ours = values[.ours], let theirs = values[.theirs]
        else { return [] }
        let map = SpotMap(base, merge.delta, merge.value)
        let sides = (
            SpotMap(base, Delta.diff(base, ours, inPieces: true), ours),
            SpotMap(base, Delta.diff(base, theirs, inPieces: true), theirs)
        )
        let contests = merge.conflicts.compactMap { conflict -> Contest? in
            if let spot = map.spot(of: conflict.path) {
                guard conflict.hasMarkers else { return nil }
                return Contest(
                    spot,
                    base: conflict.base,
                    ours: conflict.ours,
                    theirs: conflict.theirs
                )
            }
            return conflict.choice == .both ? nil : around(conflict.path, map, sides.0, sides.1)
        }
        let sorted = contests.sorted { $0.steps.count < $1.steps.count }
        var kept: [Contest] = []
        var places: Set<[Path.Step]> = []
        for contest in sorted {
            let isInside = (0...contest.steps.count).contains { count in
                places.contains(Array(contest.steps.prefix(count)))
            }
            guard !isInside else { continue }
            places.insert(contest.steps)
            kept.append(contest)
        }
        return kept.sorted { Spot.isBefore($1.steps, $0.steps) }
    }

    /// The nearest container that all versions have, when a place is in the base alone.
    private static func around(
        _ path: Path,
        _ merged: SpotMap,
        _ ours: SpotMap,
        _ theirs: SpotMap
    ) -> Contest? {
        for count in path.steps.indices.reversed() {
            let outer = Path(Array(path.steps.prefix(count)))
            guard let spot = merged.spot(of: outer), !spot.isGap,
                let ourSpot = ours.spot(of: outer), let theirSpot = theirs.spot(of: outer)
            else { continue }
            return Contest(
                spot,
                base: merged.base.part(at: outer.steps),
                ours: ours.result.part(at: ourSpot.steps),
                theirs: theirs.result.part(at: theirSpot.steps)
            )
        }
        return nil
    }
}

extension Conflict {
    /// Whether markers can show it: a value that both sides moved, or whose changes are both there,
    /// has no second version in its place.
    var hasMarkers: Bool {
        reason != .bothMoved && (choice != .both || ours?.text != nil)
    }
}

/// Where a place of one value is in the value that it became.
struct Spot {
    var steps: [Path.Step] = []
    var isGap = false

    /// Whether one way comes before another in lists; the order of keys means nothing.
    static func isBefore(_ left: [Path.Step], _ right: [Path.Step]) -> Bool {
        for (left, right) in zip(left, right) where left != right {
            switch (left, right) {
            case (.position(let left), .position(let right)): return left < right
            case (.key(let left), .key(let right)): return left < right
            case (.key, .position): return true
            case (.position, .key): return false
            }
        }
        return left.count < right.count
    }
}

extension Value {
    /// The part at the end of a way; nil when the way leaves the value.
    func part(at steps: [Path.Step]) -> Value? {
        steps.reduce(self) { value, step in
            switch step {
            case .key(let key): value?[key]
            case .position(let position):
                value?.list.flatMap { $0.indices.contains(position) ? $0[position] : nil }
            }
        }
    }

    /// This value with another one, or none, at the place of a contest.
    func replacing(_ contest: Contest, with part: Value?) -> Value {
        replacing(contest.steps[...], isGap: contest.isGap, with: part) ?? .null
    }

    private func replacing(_ steps: ArraySlice<Path.Step>, isGap: Bool, with part: Value?) -> Value?
    {
        guard let step = steps.first else { return part }
        let rest = steps.dropFirst()
        switch (step, self) {
        case (.key(let key), .map(var map)):
            guard let old = map[key] ?? (rest.isEmpty ? .null : nil) else { return self }
            map[key] = old.replacing(rest, isGap: isGap, with: part)
            return .map(map)
        case (.position(let position), .list(var list)):
            if isGap, rest.isEmpty {
                if let part { list.insert(part, at: min(position, list.count)) }
                return .list(list)
            }
            guard list.indices.contains(position) else { return self }
            if let new = list[position].replacing(rest, isGap: isGap, with: part) {
                list[position] = new
            } else {
                list.remove(at: position)
            }
            return .list(list)
        default: return self
        }
    }
}
