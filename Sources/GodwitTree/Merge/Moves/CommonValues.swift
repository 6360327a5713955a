/// The values that the base has several times: such a value does not tell where it came from.
struct CommonValues {
    /// What tells most values apart at no cost.
    private enum Shape: Hashable {
        case map(count: Int)
        case list(count: Int)
        case text(sizeInBytes: Int)
        case other

        init(_ value: Value) {
            self =
                switch value {
                case .map(let map): .map(count: map.count)
                case .list(let list): .list(count: list.count)
                case .string(let text): .text(sizeInBytes: text.sizeInBytes)
                default: .other
                }
        }
    }

    private let base: Value
    private var counts: [ItemContent: Int] = [:]

    init(_ base: Value) { self.base = base }

    /// Counts the values in the base that are equal to those of which one side's version is found.
    ///
    /// - Complexity: O(*n*) in the base if there are any, else O(1) for each of `departures`.
    mutating func count(_ departures: [Departure]) {
        let wanted = departures.filter(Self.isDoubtful).map(\.base)
        guard !wanted.isEmpty else { return }
        for value in wanted { counts[ItemContent(value)] = 0 }
        count(in: base, Set(wanted.map(Shape.init)))
    }

    private mutating func count(in value: Value, _ shapes: Set<Shape>) {
        if shapes.contains(Shape(value)) {
            let content = ItemContent(value)
            if let count = counts[content] { counts[content] = count + 1 }
        }
        switch value {
        case .map(let map): for entry in map { count(in: entry.value, shapes) }
        case .list(let list): for item in list { count(in: item, shapes) }
        default: break
        }
    }

    /// Whether a value that one side moved, as it seems, has an equal one elsewhere.
    func contains(_ departure: Departure) -> Bool {
        Self.isDoubtful(departure) && counts[ItemContent(departure.base)] ?? 0 > 1
    }

    private static func isDoubtful(_ departure: Departure) -> Bool {
        departure.arrivals.ours == nil
            ? departure.arrivals.theirs != nil
            : departure.arrivals.theirs == nil
    }
}
