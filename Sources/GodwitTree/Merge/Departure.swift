/// A value that at least one side removed from where the base has it.
final class Departure {
    let base: Value
    let place: MergePlace
    /// The choice in its old place, where one side removed it and the other edited it; nil where
    /// both removed it.
    let choice: MergeChoice?
    /// The value around this one, if a side removed that one as a whole.
    let container: Departure?
    /// Where the sides put it, as far as that is found.
    var arrivals = Sides<ArrivedItem?>(both: nil)

    init(
        _ base: Value,
        _ place: MergePlace,
        _ choice: MergeChoice? = nil,
        in container: Departure? = nil
    ) {
        (self.base, self.place) = (base, place)
        (self.choice, self.container) = (choice, container)
    }

    func isRemoved(by side: Side) -> Bool { choice?.editor != side }

    /// Whether it, or the value around it, is found in another place.
    var isFound: Bool {
        arrivals.ours != nil || arrivals.theirs != nil || container?.isFound == true
    }
}

/// Where a side put a value that it removed elsewhere.
struct ArrivedItem {
    /// The new value of that side in which it is.
    let insertion: Insertion
    /// The way to it in there.
    let path: [Path.Step]
    /// The value as that side has it.
    let value: Value
}

// MARK: - Finding departures

extension Merger {
    /// Notes a value that both sides removed, and all in it: each part may have gone elsewhere.
    mutating func noteRemoval(
        of value: Value,
        _ place: MergePlace,
        in container: Departure? = nil
    ) {
        guard value.isDistinctive || value.isToken && place.list != nil else { return }
        let departure = Departure(value, place, in: container)
        departures.append(departure)
        guard isThorough else { return }
        switch value {
        case .map(let map):
            for entry in map {
                noteRemoval(of: entry.value, place.child(.key(entry.key)), in: departure)
            }
        case .list(let items):
            for (position, item) in items.enumerated() {
                noteRemoval(of: item, place.child(.position(position)), in: departure)
            }
        default: break
        }
    }

    /// Notes the parts of a value that a change removes, where the other side removed them too.
    mutating func noteRemovals(
        by delta: Delta,
        from base: Value,
        _ place: MergePlace,
        in container: Departure? = nil
    ) {
        switch (delta, base) {
        case (.map(let delta), .map(let map)):
            for entry in delta.entries {
                guard let value = map[entry.key] else { continue }
                let place = place.child(.key(entry.key))
                switch entry.change {
                case .remove: noteRemoval(of: value, place, in: container)
                case .apply(let change): noteRemovals(by: change, from: value, place, in: container)
                }
            }
        case (.list(let delta), .list(let items)):
            for position in delta.recipe.removes.joined() {
                noteRemoval(of: items[position], place.child(.position(position)), in: container)
            }
            for case .edited(let position, let change) in delta.recipe.runs {
                let place = place.child(.position(position))
                noteRemovals(by: change, from: items[position], place, in: container)
            }
        default: break
        }
    }
}

extension Value {
    private static let stringMinInBytes = 16

    /// Whether this is a short string, an int or a small record with an `id`.
    fileprivate var isToken: Bool {
        switch self {
        case .string(let text): !text.isEmpty
        case .int: true
        case .map: usualName != nil
        case .null, .bool, .double, .bytes, .list: false
        }
    }

    private static let evidenceMin = 3

    /// Whether this says so much that it hardly stands in two places by chance: a long text, an
    /// identity that is a string, under a usual name, or several words and numbers.
    var isDistinctive: Bool { evidence(atMost: Self.evidenceMin) >= Self.evidenceMin }

    /// The words and numbers in this value, up to a limit.
    func evidence(atMost limit: Int) -> Int {
        guard limit > 0 else { return 0 }
        switch self {
        case .null, .bool: return 0
        case .int, .double, .bytes: return 1
        case .string(let text):
            return text.sizeInBytes >= Self.stringMinInBytes ? limit : text.isEmpty ? 0 : 1
        case .list(let items):
            var sum = 0
            for item in items where sum < limit { sum += item.evidence(atMost: limit - sum) }
            return sum
        case .map(let map):
            let isNamed = ItemIdentity.usualNames.contains { key in
                if case .string(let name)? = map[key] { !name.isEmpty } else { false }
            }
            if isNamed { return limit }
            var sum = 0
            for entry in map where sum < limit { sum += entry.value.evidence(atMost: limit - sum) }
            return sum
        }
    }
}
