// Finding what changed in a text.
//
//   (1) Only prose is compared: a hash, a version or an address changes as a whole.
//   (2) Lines are compared first, then the words of the lines that differ. No word is ever cut.
//   (3) The cost is bounded: a text with too many differences, or too long a hunk, is replaced
//       there as one.

/// The search for the change between two texts.
enum TextDiff {
    /// Shorter texts, in words, are names and titles: they change as a whole.
    private static let wordsMin = 4
    private static let lineDifferenceMax = 512
    private static let wordDifferenceMax = 128
    private static let hunkMaxInBytes = 1 << 16

    /// Splices closer than this are one.
    private static let gapMinInBytes = 4

    /// A delta within the string; nil where the whole string is better set.
    static func delta(from old: Key, to new: Key) -> Delta? {
        guard old != new, isProse(old) else { return nil }
        let splices = splices(Array(old.text.utf8), Array(new.text.utf8))
        let cost = splices.reduce(0) { $0 + $1.inserted.sizeInBytes + 4 }
        guard cost < new.sizeInBytes else { return nil }
        return try? .text(splices)
    }

    /// Whether a string is made of several words.
    static func isProse(_ text: Key) -> Bool {
        guard text.sizeInBytes >= 2 * wordsMin - 1 else { return false }
        let beginning = text.withBytes { bytes -> [UInt8] in
            var end = Swift.min(bytes.count, proseSampleInBytes)
            while end < bytes.count, bytes[end] & 0xc0 == 0x80 { end += 1 }
            return Array(bytes[..<end])
        }
        return Words(beginning).wordCount >= wordsMin
    }

    private static let proseSampleInBytes = 512

    /// The splices that lead from one text to another, by lines and words.
    static func splices(_ old: [UInt8], _ new: [UInt8]) -> [TextDelta.Splice] {
        let (oldLines, newLines) = (lines(of: old), lines(of: new))
        let hunks = EditPath.hunks(
            from: oldLines.map { old[$0] },
            to: newLines.map { new[$0] },
            differenceMax: lineDifferenceMax
        )
        var changes: [Hunk] = []
        for hunk in hunks {
            changes += words(
                (old, bytes(hunk.old, of: oldLines, end: old.count)),
                (new, bytes(hunk.new, of: newLines, end: new.count))
            )
        }
        return changes.map { change in
            TextDelta.Splice(
                offset: change.old.lowerBound,
                removed: change.old.count,
                inserted: String(decoding: new[change.new], as: UTF8.self)
            )
        }
    }

    /// Which bytes of a hunk of lines change.
    private static func words(
        _ old: (bytes: [UInt8], range: Range<Int>),
        _ new: (bytes: [UInt8], range: Range<Int>)
    ) -> [Hunk] {
        let whole = Hunk(old: old.range, new: new.range)
        guard !old.range.isEmpty, !new.range.isEmpty,
            max(old.range.count, new.range.count) <= hunkMaxInBytes
        else { return [whole] }
        let oldWords = Words(Array(old.bytes[old.range]))
        let newWords = Words(Array(new.bytes[new.range]))
        let numbers = Words.numbered([oldWords, newWords])
        let hunks = EditPath.hunks(
            from: numbers[0],
            to: numbers[1],
            differenceMax: wordDifferenceMax
        )
        var changes: [Hunk] = []
        for hunk in hunks {
            let change = Hunk(
                old: bytes(hunk.old, of: oldWords.tokens, end: old.range.count)
                    .shifted(by: old.range.lowerBound),
                new: bytes(hunk.new, of: newWords.tokens, end: new.range.count)
                    .shifted(by: new.range.lowerBound)
            )
            if let last = changes.last,
                change.old.lowerBound - last.old.upperBound < gapMinInBytes
            {
                changes[changes.count - 1] = Hunk(
                    old: last.old.lowerBound..<change.old.upperBound,
                    new: last.new.lowerBound..<change.new.upperBound
                )
            } else {
                changes.append(change)
            }
        }
        return changes
    }

    /// The bytes of each line, with its newline.
    static func lines(of bytes: [UInt8]) -> [Range<Int>] {
        var lines: [Range<Int>] = []
        var start = 0
        for (index, byte) in bytes.enumerated() where byte == UInt8(ascii: "\n") {
            lines.append(start..<(index + 1))
            start = index + 1
        }
        if start < bytes.count { lines.append(start..<bytes.count) }
        return lines
    }

    /// The bytes of some tokens.
    private static func bytes(
        _ range: Range<Int>,
        of tokens: [Range<Int>],
        end: Int
    ) -> Range<Int> {
        let lower = range.lowerBound < tokens.count ? tokens[range.lowerBound].lowerBound : end
        return lower..<(range.isEmpty ? lower : tokens[range.upperBound - 1].upperBound)
    }
}

extension Range<Int> {
    fileprivate func shifted(by distance: Int) -> Range<Int> {
        (lowerBound + distance)..<(upperBound + distance)
    }
}
