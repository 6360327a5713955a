// Both sides' recipes over the same base, cut into segments.
//
// A segment is base items next to each other with which each side does one thing: keep them where
// they follow each other, move them together, remove them all, or edit the one item that it is.
// So a merge looks at as many segments as there are changes, however long the list is.

/// The base of a list merge, cut where either side does something else.
struct ListSegments {
    /// In base order; the last ends where both tails have begun.
    let ranges: [Range<Int>]
    private let starts: [Int]

    init(_ ours: ListRecipe, _ theirs: ListRecipe) {
        let end = max(ours.tail, theirs.tail)
        var cuts: Set<Int> = [0, end]
        for recipe in [ours, theirs] {
            cuts.insert(recipe.tail)
            for base in recipe.runs.compactMap(\.base) {
                cuts.insert(base.lowerBound)
                cuts.insert(base.upperBound)
            }
        }
        let sorted = cuts.sorted()
        ranges = zip(sorted, sorted.dropFirst()).map { $0..<$1 }
        starts = ranges.map(\.lowerBound)
    }

    var count: Int { ranges.count }
    var end: Int { ranges.last?.upperBound ?? 0 }

    /// The segments that a range, which begins and ends with segments, consists of.
    func indices(of range: Range<Int>) -> Range<Int> {
        first(notBefore: range.lowerBound)..<first(notBefore: range.upperBound)
    }

    private func first(notBefore position: Int) -> Int {
        starts.partitioningIndex { $0 >= position }
    }
}

/// One side's list, segment by segment, up to the end of the last.
struct ListSide {
    enum Item: Hashable {
        case base(Int)
        case new(Value)
    }

    /// The items of this side's list, in its order.
    private(set) var items: [Item] = []
    /// Where each item begins in this side's list.
    private(set) var starts: [Int] = []
    /// The length of this side's list, up to the end of the last segment.
    private(set) var length = 0
    private(set) var isMoved: [Bool]
    private var edits: [Int: Delta] = [:]
    private var anchors: [Int?] = []
    /// The item that each segment is; nil when this side removed it.
    private(set) var places: [Int?]

    init(_ recipe: ListRecipe, _ segments: ListSegments) {
        isMoved = Array(repeating: false, count: segments.count)
        places = Array(repeating: nil, count: segments.count)
        for run in recipe.runs {
            switch run {
            case .kept(let range): append(segments.indices(of: range), segments)
            case .edited(let position, let delta):
                let indices = segments.indices(of: position..<(position + 1))
                edits[indices.lowerBound] = delta
                append(indices, segments)
            case .new(let value): append(.new(value), length: 1)
            }
        }
        let end = max(recipe.tail, segments.end)
        append(segments.indices(of: recipe.tail..<end), segments)
        for move in recipe.parts.moves {
            for index in segments.indices(of: move.sources) { isMoved[index] = true }
        }
    }

    private mutating func append(_ indices: Range<Int>, _ segments: ListSegments) {
        for index in indices {
            places[index] = items.count
            append(.base(index), length: segments.ranges[index].count)
        }
    }

    private mutating func append(_ item: Item, length: Int) {
        anchors.append(
            items.last.flatMap { last in
                if case .base(let segment) = last { segment } else { anchors[items.count - 1] }
            }
        )
        items.append(item)
        starts.append(self.length)
        self.length += length
    }

    func edit(of segment: Int) -> Delta { edits[segment] ?? .keep }

    func isRemoved(_ segment: Int) -> Bool { places[segment] == nil }

    /// Where a segment stands in this side's list; nil when this side removed it.
    func start(of segment: Int) -> Int? { places[segment].map { starts[$0] } }

    func newValue(at item: Int) -> Value? {
        if case .new(let value) = items[item] { value } else { nil }
    }

    /// The item directly before a segment: equal for equal neighbours on both sides.
    func neighbour(of segment: Int) -> Item? {
        guard let place = places[segment], place > 0 else { return nil }
        return items[place - 1]
    }

    /// The segment before each one in this side's order, of those that another side has too.
    func neighbours(on other: ListSide) -> [Int?] {
        var (neighbours, last) = ([Int?](repeating: nil, count: places.count), Int?.none)
        for case .base(let segment) in items {
            neighbours[segment] = last
            if !other.isRemoved(segment) { last = segment }
        }
        return neighbours
    }

    /// The segment that stands before an item; nil for the beginning.
    func anchor(of item: Int) -> Int? { anchors[item] }

    /// For each new item that stands in the place of segments which this side removed: those segments.
    ///
    /// Where more came than went, nothing tells which ones took a place.
    func turnovers(of segments: ListSegments) -> [Int: Range<Int>] {
        let gaps = Dictionary(grouping: inserted.map(\.place)) { place in
            anchor(of: place).map { $0 + 1 } ?? 0
        }
        var found: [Int: Range<Int>] = [:]
        for (start, items) in gaps {
            let gap = start..<(places[start...].firstIndex { $0 != nil } ?? places.count)
            let removedCount = segments.ranges[gap].reduce(0) { $0 + $1.count }
            guard items.count <= removedCount else { continue }
            for place in items { found[place] = gap }
        }
        return found
    }

    /// The items that the base does not have, with their places.
    var inserted: [(place: Int, value: Value)] {
        items.indices.compactMap { place in newValue(at: place).map { (place, $0) } }
    }
}
