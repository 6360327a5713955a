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
        guard let base = values[.base] else { return [] }
        let contests = merge.conflicts.compactMap { conflict -> Contest? in
            if let spot = Spot(conflict.path, in: base, merge.delta, merge.value) {
                let isMixed = conflict.choice == .both && conflict.ours?.text == nil
                return isMixed
                    ? nil
                    : Contest(
                        spot,
                        base: conflict.base,
                        ours: conflict.ours,
                        theirs: conflict.theirs
                    )
            }
            return conflict.choice == .both ? nil : around(conflict.path, merge, values)
        }
        let sorted = contests.sorted { $0.steps.count < $1.steps.count }
        var kept: [Contest] = []
        for contest in sorted where !kept.contains(where: { contest.steps.starts(with: $0.steps) })
        {
            kept.append(contest)
        }
        return kept.sorted { Spot.isBefore($1.steps, $0.steps) }
    }

    /// The nearest container that all versions have, when a place is in the base alone.
    private static func around(
        _ path: Path,
        _ merge: GodwitTree.Merge,
        _ values: [Side: Value]
    ) -> Contest? {
        guard let base = values[.base], let ours = values[.ours], let theirs = values[.theirs]
        else { return nil }
        let (our, their) = (
            Delta.diff(base, ours, inPieces: true), Delta.diff(base, theirs, inPieces: true)
        )
        for count in path.steps.indices.reversed() {
            let outer = Path(Array(path.steps.prefix(count)))
            let spots = (
                Spot(outer, in: base, merge.delta, merge.value), Spot(outer, in: base, our, ours),
                Spot(outer, in: base, their, theirs)
            )
            guard let spot = spots.0, let ourSpot = spots.1, let theirSpot = spots.2, !spot.isGap
            else { continue }
            return Contest(
                spot,
                base: base.part(at: outer.steps),
                ours: ours.part(at: ourSpot.steps),
                theirs: theirs.part(at: theirSpot.steps)
            )
        }
        return nil
    }
}

/// Where a place of one value is in the value that it became.
struct Spot {
    private(set) var steps: [Path.Step] = []
    private(set) var isGap = false

    /// - Returns: Nil when the container of the place is gone, or another one.
    init?(_ path: Path, in base: Value, _ delta: Delta, _ result: Value) {
        var (base, delta, result): (Value?, Delta, Value?) = (base, delta, result)
        for step in path.steps {
            guard !isGap, let there = result else { return nil }
            if case .set = delta, let old = base {
                delta = Delta.diff(old, there, inPieces: true)
            }
            switch (step, there) {
            case (.key(let key), .map(let map)):
                steps.append(step)
                (base, delta) = (base?[key], Self.change(under: key, of: delta))
                result = map[key]
            case (.position(let position), .list(let list)):
                guard let items = base?.list, items.indices.contains(position),
                    let target = enter(position, items, delta, list)
                else { return nil }
                (base, delta, result) = (items[position], target.delta, target.value)
            default: return nil
            }
        }
    }

    private static func change(under key: Key, of delta: Delta) -> Delta {
        if case .map(let map) = delta, case .apply(let change)? = map[key] { change } else { .keep }
    }

    /// Goes to an item, or to the gap that it has left.
    private mutating func enter(
        _ position: Int,
        _ items: Value.List,
        _ delta: Delta,
        _ result: Value.List
    ) -> (delta: Delta, value: Value?)? {
        guard case .list(let list) = delta else {
            guard delta == .keep else { return nil }
            steps.append(.position(position))
            return (.keep, result[position])
        }
        let places = list.places(in: items.count, resultCount: result.count)
        if let target = places.firstIndex(where: { $0?.0 == position }) {
            steps.append(.position(target))
            return (places[target]?.1 ?? .keep, result[target])
        }
        isGap = true
        let next = places.firstIndex { place in place.map { $0.0 > position } ?? false }
        steps.append(.position(next ?? result.count))
        return (.keep, nil)
    }

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
