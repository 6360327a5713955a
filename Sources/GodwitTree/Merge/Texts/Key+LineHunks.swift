extension Key {
    var isLine: Bool { withBytes { !$0.contains(UInt8(ascii: "\n")) } }

    /// The lines that some splices change, as ranges of bytes before and after.
    ///
    /// - Complexity: O(*n*): the search never enters a window that it knows.
    func lineHunks(_ splices: [TextDelta.Splice]) -> [Hunk] {
        var hunks: [Hunk] = []
        var growth = 0
        withBytes { bytes in
            for splice in splices {
                let known = hunks.last?.old.upperBound ?? 0
                let start = Self.windowStart(before: splice.offset, notBefore: known, in: bytes)
                var end = known
                if known < bytes.count, splice.end + Self.contextMin > known {
                    end = Self.windowEnd(behind: splice, in: bytes)
                }
                let before = growth
                growth += splice.growth
                if let last = hunks.last, start <= last.old.upperBound {
                    end = max(end, last.old.upperBound)
                    hunks[hunks.count - 1] = Hunk(
                        old: last.old.lowerBound..<end,
                        new: last.new.lowerBound..<(end + growth)
                    )
                } else {
                    hunks.append(
                        Hunk(old: start..<end, new: (start + before)..<(end + growth))
                    )
                }
            }
        }
        return hunks
    }

    /// A line that is longer than this is cut between words, so far from what changes.
    private static let lineMax = 1_024
    private static let contextMin = 256

    /// The beginning of the line, or of a word at some distance.
    private static func windowStart(
        before offset: Int,
        notBefore known: Int,
        in bytes: UnsafeBufferPointer<UInt8>
    ) -> Int {
        let limit = offset - lineMax
        var blank: Int?
        var start = offset
        while start > known {
            if start <= limit, let blank { return blank }
            if bytes[start - 1] == UInt8(ascii: "\n") { return start }
            if blank == nil, offset - start >= contextMin, bytes[start - 1] == 0x20 {
                blank = start
            }
            start -= 1
        }
        return start
    }

    /// The end of the line, or of a word at some distance.
    private static func windowEnd(
        behind splice: TextDelta.Splice,
        in bytes: UnsafeBufferPointer<UInt8>
    ) -> Int {
        var end = splice.end
        if end > splice.offset, bytes[end - 1] == UInt8(ascii: "\n") {
            let isAtStart = splice.offset == 0 || bytes[splice.offset - 1] == UInt8(ascii: "\n")
            let staysLine = splice.inserted.isEmpty ? isAtStart : splice.inserted.isTerminated
            if staysLine { return end }
        }
        let limit = end + lineMax
        var blank: Int?
        while end < bytes.count {
            if end >= limit, let blank { return blank }
            end += 1
            if bytes[end - 1] == UInt8(ascii: "\n") { return end }
            if blank == nil, end - splice.end >= contextMin, bytes[end - 1] == 0x20 { blank = end }
        }
        return end
    }

    func text(_ range: Range<Int>) -> Key {
        withBytes { Key(String(decoding: $0[range], as: UTF8.self)) }
    }

    /// Some bytes as they are after the splices that lie within them.
    func text(_ range: Range<Int>, with splices: [TextDelta.Splice]) -> Key {
        var pieces: [Key] = []
        var position = range.lowerBound
        for splice in splices[splices.partitioningIndex { $0.offset >= range.lowerBound }...] {
            guard splice.end <= range.upperBound else { break }
            pieces.append(text(position..<splice.offset))
            pieces.append(splice.inserted)
            position = splice.end
        }
        pieces.append(text(position..<range.upperBound))
        return Key(joining: pieces)
    }
}
