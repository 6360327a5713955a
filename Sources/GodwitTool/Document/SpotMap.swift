import GodwitTree

/// Finds places of a value in the value that it became.
///
/// What it has learnt of a list is kept: many places may lie in one.
final class SpotMap {
    let base: Value
    let result: Value
    private let delta: Delta
    /// The changes of values that were replaced by one of their kind, by their paths.
    private var differences: [[ValuePath.Step]: Delta] = [:]
    private var lists: [[ValuePath.Step]: ListPlaces] = [:]

    init(_ base: Value, _ delta: Delta, _ result: Value) {
        (self.base, self.delta, self.result) = (base, delta, result)
    }

    /// - Returns: Nil when the container of the place is gone, or another one.
    func spot(of path: ValuePath) -> Spot? {
        var spot = Spot()
        var (base, delta, result): (Value?, Delta, Value?) = (base, delta, result)
        var way: [ValuePath.Step] = []
        for step in path.steps {
            guard !spot.isGap, let there = result else { return nil }
            if case .set = delta, let old = base { delta = difference(old, there, at: way) }
            switch (step, there) {
            case (.key(let key), .map(let map)):
                spot.steps.append(step)
                (base, delta) = (base?[key], Self.change(under: key, of: delta))
                result = map[key]
            case (.position(let position), .list(let list)):
                guard let items = base?.list, items.indices.contains(position) else { return nil }
                switch delta {
                case .keep: spot.steps.append(.position(position))
                case .list(let change):
                    let places = places(of: change, items.count, list.count, at: way)
                    delta = places.enter(position, &spot)
                default: return nil
                }
                base = items[position]
                result = spot.isGap ? nil : spot.steps.last.flatMap { list.item(at: $0) }
            default: return nil
            }
            way.append(step)
        }
        return spot
    }

    /// The shortest part of a way at whose end the result has nothing any more.
    func lostPart(of path: ValuePath) -> [ValuePath.Step]? {
        for count in path.steps.indices.map({ $0 + 1 }) {
            let way = Array(path.steps.prefix(count))
            guard let spot = spot(of: ValuePath(way)), !spot.isGap,
                result.part(at: spot.steps) != nil
            else { return way }
        }
        return nil
    }

    private static func change(under key: Key, of delta: Delta) -> Delta {
        if case .map(let map) = delta, case .apply(let change)? = map[key] { change } else { .keep }
    }

    private func difference(_ old: Value, _ new: Value, at way: [ValuePath.Step]) -> Delta {
        if let known = differences[way] { return known }
        let difference = Delta.diff(old, new, inPieces: true)
        differences[way] = difference
        return difference
    }

    private func places(
        of change: ListDelta,
        _ baseCount: Int,
        _ resultCount: Int,
        at way: [ValuePath.Step]
    ) -> ListPlaces {
        if let known = lists[way] { return known }
        let places = ListPlaces(change.places(in: baseCount, resultCount: resultCount))
        lists[way] = places
        return places
    }
}

extension Value.List {
    fileprivate func item(at step: ValuePath.Step) -> Value? {
        guard case .position(let position) = step, indices.contains(position) else { return nil }
        return self[position]
    }
}

/// Where the items of a list have gone.
private struct ListPlaces {
    /// The place and the change of each item that is still there, by its place before.
    private var targets: [Int: (place: Int, delta: Delta)] = [:]
    /// For each place, the greatest old one of those up to it.
    private var greatest: [Int] = []

    init(_ places: [(Int, Delta)?]) {
        greatest.reserveCapacity(places.count)
        for (target, place) in places.enumerated() {
            if let (source, delta) = place { targets[source] = (target, delta) }
            greatest.append(Swift.max(greatest.last ?? -1, place?.0 ?? -1))
        }
    }

    /// Goes to an item, or to the gap that it has left.
    func enter(_ position: Int, _ spot: inout Spot) -> Delta {
        if let target = targets[position] {
            spot.steps.append(.position(target.place))
            return target.delta
        }
        spot.isGap = true
        var (low, high) = (0, greatest.count)
        while low < high {
            let middle = (low + high) / 2
            if greatest[middle] > position { high = middle } else { low = middle + 1 }
        }
        spot.steps.append(.position(low))
        return .keep
    }
}
