// The chunks of a three-way merge of sequences, as `diff3` finds them: S. Khanna, K. Kunal and
// B. C. Pierce, "A Formal Investigation of Diff3", 2007.

/// A part of a base sequence that a side changed, or both did, and what is there on each side.
struct Chunk3 {
    var base: Range<Int>
    var sides: Sides<Range<Int>>
    /// Whether each side changed it.
    var isChanged: Sides<Bool>

    /// The chunks of two changes, in order; between two of them at least one element of the base
    /// is the same everywhere.
    static func chunks(_ hunks: Sides<[Hunk]>) -> [Chunk3] {
        var rest = hunks.map { $0[...] }
        var shift = Sides(both: 0)
        var chunks: [Chunk3] = []
        while let start = [rest.ours.first, rest.theirs.first]
            .compactMap({ $0?.old.lowerBound }).min()
        {
            var end = start
            var grown = Sides(both: 0)
            var isChanged = Sides(both: false)
            var isGrowing = true
            while isGrowing {
                isGrowing = false
                for side in Side.allCases {
                    guard let hunk = rest[side].first, hunk.old.lowerBound <= end else { continue }
                    end = max(end, hunk.old.upperBound)
                    grown[side] += hunk.new.count - hunk.old.count
                    isChanged[side] = true
                    rest[side].removeFirst()
                    isGrowing = true
                }
            }
            func range(_ side: Side) -> Range<Int> {
                (start + shift[side])..<(end + shift[side] + grown[side])
            }
            let sides = Sides(ours: range(.ours), theirs: range(.theirs))
            chunks.append(Chunk3(base: start..<end, sides: sides, isChanged: isChanged))
            for side in Side.allCases { shift[side] += grown[side] }
        }
        return chunks
    }
}
