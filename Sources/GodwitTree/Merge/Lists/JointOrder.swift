/// The order of the segments in which each two stand as a side has turned them, or else as the base has them.
///
/// Two recipes may tell one order by different moves: where two items have changed places, one says that the
/// first went down, the other that the second went up. If a merge made both moves, it would turn the two back.
/// So the merge looks at pairs where both sides have moved items.
struct JointOrder {
    /// The segments in their merged order.
    let segments: [Int]

    /// As many as are looked at pair by pair.
    private static let segmentsMax = 512

    /// - Parameters:
    ///   - staying: The segments that both sides have, or that one removed and the other edited.
    ///   - isContested: Whether both sides move a segment to different places: then `leaning` places it.
    /// - Returns: nil if the turned pairs of both sides do not make one order.
    /// - Complexity: O(*n*²) for *n* segments.
    init?(
        of staying: [Int],
        _ places: Sides<[Int?]>,
        leaning: Side,
        isContested: (Int) -> Bool
    ) {
        guard staying.count <= Self.segmentsMax else { return nil }
        let contested = Set(staying.filter(isContested))
        // In a tournament without circles each one stands before another number of others.
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
        guard Set(counts).count == counts.count else { return nil }
        segments = zip(counts, staying).sorted { $0.0 > $1.0 }.map(\.1)
    }
}
