// Finding what changed in prose.
//
// The common beginning and end are left alone. What remains is compared by words, with Myers'
// greedy algorithm (E. W. Myers, An O(ND) difference algorithm and its variations, 1986), but
// only as far as a bounded number of differences: beyond it the remainder is replaced as one. So
// the cost is linear in the text, times a constant.

/// The search for the change between two texts.
enum TextDiff {
    /// Shorter strings are names, versions, dates: they change as a whole.
    static let proseMinInBytes = 32

    private static let differenceMax = 128

    /// Splices closer than this are one.
    private static let gapMinInBytes = 4

    /// A delta within the string; nil where the whole string is better set.
    static func delta(from old: Key, to new: Key) -> Delta? {
        guard isProse(old), old != new else { return nil }
        let splices = splices(Array(old.text.utf8), Array(new.text.utf8))
        let cost = splices.reduce(0) { $0 + $1.inserted.sizeInBytes + 4 }
        guard cost < new.sizeInBytes else { return nil }
        return try? .text(splices)
    }

    /// Whether a string is made of words: a hash, a version or an address is not.
    static func isProse(_ text: Key) -> Bool {
        text.sizeInBytes >= proseMinInBytes && text.withBytes { $0.contains(where: isSpace) }
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x0a || byte == 0x09
    }

    private static func splices(_ old: [UInt8], _ new: [UInt8]) -> [TextDelta.Splice] {
        var start = zip(old, new).prefix { $0 == $1 }.count
        while start > 0, isContinuation(old, start) || isContinuation(new, start) { start -= 1 }
        let rest = min(old.count, new.count) - start
        var end = zip(old.reversed(), new.reversed()).prefix(rest).prefix { $0 == $1 }.count
        while end > 0, isContinuation(old, old.count - end) { end -= 1 }

        let (oldWords, newWords) = (
            words(of: old, start..<(old.count - end)), words(of: new, start..<(new.count - end))
        )
        var splices: [(old: Range<Int>, new: Range<Int>)] = []
        for change in changes(oldWords.map { old[$0] }, newWords.map { new[$0] }) {
            let oldRange = bytes(change.old, of: oldWords, from: start)
            let newRange = bytes(change.new, of: newWords, from: start)
            if let last = splices.last, oldRange.lowerBound - last.old.upperBound < gapMinInBytes {
                splices[splices.count - 1] = (
                    last.old.lowerBound..<oldRange.upperBound,
                    last.new.lowerBound..<newRange.upperBound
                )
            } else {
                splices.append((oldRange, newRange))
            }
        }
        return splices.map { change in
            TextDelta.Splice(
                offset: change.old.lowerBound,
                removed: change.old.count,
                inserted: String(decoding: new[change.new], as: UTF8.self)
            )
        }
    }

    private static func isContinuation(_ bytes: [UInt8], _ index: Int) -> Bool {
        index < bytes.count && bytes[index] & 0xc0 == 0x80
    }

    /// Words, and single characters between them; no scalar is cut.
    private static func words(of bytes: [UInt8], _ range: Range<Int>) -> [Range<Int>] {
        var words: [Range<Int>] = []
        var start = range.lowerBound
        for index in range.dropFirst() where !(isWord(bytes[index - 1]) && isWord(bytes[index])) {
            words.append(start..<index)
            start = index
        }
        if start < range.upperBound { words.append(start..<range.upperBound) }
        return words
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), 0x80...:
            true
        default: false
        }
    }

    /// The bytes of some words.
    private static func bytes(
        _ range: Range<Int>,
        of words: [Range<Int>],
        from start: Int
    ) -> Range<Int> {
        let lower =
            range.lowerBound < words.count
            ? words[range.lowerBound].lowerBound : words.last?.upperBound ?? start
        return lower..<(range.isEmpty ? lower : words[range.upperBound - 1].upperBound)
    }

    /// Which words are replaced by which, by Myers' algorithm.
    private static func changes(
        _ old: [ArraySlice<UInt8>],
        _ new: [ArraySlice<UInt8>]
    ) -> [(old: Range<Int>, new: Range<Int>)] {
        guard !old.isEmpty, !new.isEmpty else { return [(old.indices, new.indices)] }
        guard let path = EditPath(old, new, differenceMax: differenceMax) else {
            return [(old.indices, new.indices)]
        }
        return path.changes
    }
}

/// A shortest way from one sequence to another by insertions and removals.
private struct EditPath {
    private(set) var changes: [(old: Range<Int>, new: Range<Int>)] = []

    /// Returns nil when the sequences have more than `differenceMax` differences.
    init?<Element: Equatable>(_ old: [Element], _ new: [Element], differenceMax: Int) {
        var furthest = [Int](repeating: 0, count: 2 * differenceMax + 3)
        let middle = differenceMax + 1
        var trace: [[Int]] = []
        search: for differences in 0...differenceMax {
            trace.append(furthest)
            for diagonal in stride(from: -differences, through: differences, by: 2) {
                let (below, above) =
                    (furthest[middle + diagonal - 1], furthest[middle + diagonal + 1])
                let isDown = diagonal == -differences || diagonal != differences && below < above
                var x = isDown ? above : below + 1
                while x < old.count, x - diagonal < new.count, old[x] == new[x - diagonal] {
                    x += 1
                }
                furthest[middle + diagonal] = x
                if x >= old.count, x - diagonal >= new.count { break search }
            }
            if differences == differenceMax { return nil }
        }
        walkBack(trace, from: (old.count, new.count), middle: middle)
    }

    private mutating func walkBack(_ trace: [[Int]], from end: (Int, Int), middle: Int) {
        var (x, y) = end
        var reversed: [(old: Range<Int>, new: Range<Int>)] = []
        for differences in trace.indices.reversed() where differences > 0 {
            let furthest = trace[differences]
            let diagonal = x - y
            let (below, above) = (furthest[middle + diagonal - 1], furthest[middle + diagonal + 1])
            let isDown = diagonal == -differences || diagonal != differences && below < above
            let previousX = isDown ? above : below
            let previousY = previousX - (isDown ? diagonal + 1 : diagonal - 1)
            let step = (
                old: previousX..<(isDown ? previousX : previousX + 1),
                new: previousY..<(isDown ? previousY + 1 : previousY)
            )
            if let next = reversed.last, next.old.lowerBound == step.old.upperBound,
                next.new.lowerBound == step.new.upperBound
            {
                reversed[reversed.count - 1] = (
                    step.old.lowerBound..<next.old.upperBound,
                    step.new.lowerBound..<next.new.upperBound
                )
            } else {
                reversed.append(step)
            }
            (x, y) = (previousX, previousY)
        }
        changes = reversed.reversed()
    }
}
