/// The order of the segments in which each two stand as a side has turned them, or else as the base has them.
///
/// Two recipes may tell one order by different moves: where two items have changed places, one says that the
/// first went down, the other that the second went up. If a merge made both moves, it would turn the two back.
/// So the merge looks at pairs where both sides have moved items.
struct JointOrder {
    /// The segments in their merged order.
    private(set) var segments: [Int] = []
    /// The first segment of each group whose pairs make a circle, and in which none is contested: the group
    /// stands as one side has it.
    private(set) var circles: [Int] = []

    /// As many as are looked at pair by pair.
    private static let segmentsMax = 512

    /// - Parameters:
    ///   - staying: The segments that both sides have, or that one removed and the other edited.
    ///   - leaning: The side that orders a group whose pairs make a circle.
    ///   - isContested: Whether both sides move a segment to different places: then `leaning` places it.
    /// - Returns: nil if there are too many segments to look at each pair.
    /// - Complexity: O(*n*²) for *n* segments.
    init?(
        of staying: [Int],
        _ places: Sides<[Int?]>,
        leaning: Side,
        isContested: (Int) -> Bool
    ) {
        guard staying.count <= Self.segmentsMax else { return nil }
        let contested = Set(staying.filter(isContested))
        // How many others each one stands before: the scores of a tournament.
        var counts = Array(repeating: 0, count: staying.count)
        for (upper, first) in staying.enumerated() {
            for lower in counts.indices.dropFirst(upper + 1) {
                let second = staying[lower]
                let sides: [Side] =
                    contested.contains(first) || contested.contains(second)
                    ? [leaning] : Side.allCases
                let isTurned = sides.contains { side in
                    guard let before = places[side][first], let after = places[side][second] else {
                        return false
                    }
                    return after < before
                }
                counts[isTurned ? lower : upper] += 1
            }
        }
        let ranking = counts.indices.sorted { (counts[$1], $0) < (counts[$0], $1) }
        var (start, sum) = (0, 0)
        for (last, index) in ranking.enumerated() {
            sum += counts[index]
            let (count, rest) = (last + 1, ranking.count - last - 1)
            // So many stand before each of the rest: they are a group for themselves.
            guard sum == count * (count - 1) / 2 + count * rest else { continue }
            let group = ranking[start..<count].map { staying[$0] }
            append(group, as: places[leaning])
            if group.count > 1, contested.isDisjoint(with: group) {
                circles.append(group.min() ?? 0)
            }
            start = count
        }
    }

    private mutating func append(_ group: [Int], as places: [Int?]) {
        let own = group.compactMap { segment in places[segment].map { (place: $0, segment) } }
        segments += own.count < group.count ? group : own.sorted { $0.place < $1.place }.map(\.1)
    }
}
