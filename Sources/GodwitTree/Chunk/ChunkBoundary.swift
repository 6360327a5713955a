// Where a chunk ends.
//
// A chunk ends after an element when the last eight elements say so, but not before it has 8 and
// never after it has 128. The elements before the chunk have no say, so that one boundary never
// depends on another; eight of them have, so that a list of few different values, in no regular
// order, is cut as well. Where nothing is marked, as among equal items, every chunk has 128, and a
// change moves all boundaries behind it: such an edit is O(n).
// On the levels above the leaves, each child says so alone, by the mark of its last leaf.

/// The rule that ends a chunk.
enum ChunkBoundary {
    static let countMin = 8
    static let countMax = 128

    /// How many elements decide together.
    static let windowCount = 8

    /// The mark after one more element: a byte from each of the last eight.
    static func mark(_ mark: UInt64, with byte: UInt8) -> UInt64 { mark << 8 | UInt64(byte) }

    /// Whether a chunk with so many elements, and this mark after the last of them, is complete.
    static func isEnd(count: Int, mark: UInt64, level: Int) -> Bool {
        guard count >= countMin else { return false }
        return count >= countMax || isMarked(mark, level: level)
    }

    /// True for one mark of 32.
    static func isMarked(_ mark: UInt64, level: Int) -> Bool {
        BoundaryHash(kind: UInt64(level), mark).bits >> 59 == 0
    }
}
