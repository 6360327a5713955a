import GodwitTree

/// Three versions of a text as one, with git's markers around the lines in which they differ.
///
/// The versions are one merged document that differs only in what is contested: lines that all
/// three have are not contested. A comma that comes or goes with a contested line is marked too.
struct ConflictMarkers {
    private typealias Line = ArraySlice<UInt8>

    /// Lines that follow one another in each version.
    private struct Hunk {
        var base: Range<Int>
        var ours: Range<Int>
        var theirs: Range<Int>
        let isContested: Bool

        var isEmpty: Bool { base.isEmpty && ours.isEmpty && theirs.isEmpty }

        /// Takes the lines that follow on these.
        mutating func extend(through next: Hunk) {
            base = base.lowerBound..<next.base.upperBound
            ours = ours.lowerBound..<next.ours.upperBound
            theirs = theirs.lowerBound..<next.theirs.upperBound
        }
    }

    /// The text with its markers.
    private(set) var bytes: [UInt8] = []
    /// How many places are marked.
    private(set) var count = 0
    /// The conflicts that the markers show.
    let conflicts: Set<Conflict>
    private let newline: [UInt8]
    private let size: Int

    /// - Parameter size: How many characters a marker has; git's have 7.
    init(
        of conflicts: Set<Conflict>,
        base: [UInt8],
        ours: [UInt8],
        theirs: [UInt8],
        newline: [UInt8],
        size: Int
    ) {
        (self.conflicts, self.newline, self.size) = (conflicts, newline, size)
        let (base, ours, theirs) = (Self.lines(base), Self.lines(ours), Self.lines(theirs))
        for hunk in Self.hunks(base, ours, theirs) {
            guard hunk.isContested else {
                bytes += ours[hunk.ours].joined()
                continue
            }
            count += 1
            write("<", "ours")
            write(ours[hunk.ours])
            write("|", "base")
            write(base[hunk.base])
            write("=", nil)
            write(theirs[hunk.theirs])
            write(">", "theirs")
        }
    }

    private mutating func write(_ sign: Character, _ label: String?) {
        bytes += String(repeating: sign, count: size).utf8
        if let label { bytes += " \(label)".utf8 }
        bytes += newline
    }

    private mutating func write(_ lines: ArraySlice<Line>) {
        bytes += lines.joined()
        if let last = lines.last, last.last != UInt8(ascii: "\n") { bytes += newline }
    }
}

// MARK: - Hunks

extension ConflictMarkers {
    /// The text in turns: lines that all have, lines that are contested.
    ///
    /// Both sides are compared with the base alone: a line that one has of one record, and the other of
    /// another, is no line of both. (Sanjeev Khanna, Keshav Kunal, Benjamin C. Pierce: A Formal Investigation
    /// of Diff3, 2007)
    private static func hunks(_ base: [Line], _ ours: [Line], _ theirs: [Line]) -> [Hunk] {
        var hunks: [Hunk] = []
        let (bases, others) = (partners(of: ours, in: base), partners(of: base, in: theirs))
        var (baseEnd, oursEnd, theirsEnd) = (0, 0, 0)
        for place in 0...ours.count {
            let isEnd = place == ours.count
            let partner = isEnd ? base.count : bases[place]
            let other = isEnd ? theirs.count : bases[place].flatMap { others[$0] }
            guard let partner, let other else { continue }
            let (mine, their) = (ours[oursEnd..<place], theirs[theirsEnd..<other])
            let between = Hunk(
                base: baseEnd..<partner,
                ours: oursEnd..<place,
                theirs: theirsEnd..<other,
                isContested: mine != their
            )
            append(between, to: &hunks, ours)
            guard !isEnd else { break }
            (baseEnd, oursEnd, theirsEnd) = (partner + 1, place + 1, other + 1)
            let shared = Hunk(
                base: partner..<baseEnd,
                ours: place..<oursEnd,
                theirs: other..<theirsEnd,
                isContested: false
            )
            append(shared, to: &hunks, ours)
        }
        return hunks
    }

    /// Brackets alone do not part two contested places: each choice must be a whole.
    private static func append(_ hunk: Hunk, to hunks: inout [Hunk], _ ours: [Line]) {
        guard !hunk.isEmpty else { return }
        guard let last = hunks.last else { return hunks.append(hunk) }
        if last.isContested == hunk.isContested {
            hunks[hunks.count - 1].extend(through: hunk)
        } else if hunk.isContested, hunks.count > 1, !ours[last.ours].contains(where: hasWord) {
            hunks.removeLast()
            hunks[hunks.count - 1].extend(through: hunk)
        } else {
            hunks.append(hunk)
        }
    }

    private static func hasWord(_ line: Line) -> Bool {
        line.contains { byte in
            byte >= 0x80 || Character(Unicode.Scalar(byte)).isLetter
                || Character(Unicode.Scalar(byte)).isNumber
        }
    }

    private static func lines(_ bytes: [UInt8]) -> [Line] {
        var lines: [Line] = []
        var start = 0
        for (place, byte) in bytes.enumerated() where byte == UInt8(ascii: "\n") {
            lines.append(bytes[start...place])
            start = place + 1
        }
        return start < bytes.count ? lines + [bytes[start...]] : lines
    }

    /// For each line its partner in another version, in order; nil for a line that has none.
    ///
    /// Lines that stand once in each version are partners first, and the lines beside partners as far
    /// as they are equal: most lines of a record are in others, too. Between them the versions differ in
    /// few places, so a walk that finds its way again after each of them is enough, and its cost is
    /// linear where a general diff's is not. (Bram Cohen's patience diff)
    private static func partners(of lines: [Line], in others: [Line]) -> [Int?] {
        var partners = [Int?](repeating: nil, count: lines.count)
        var (start, otherStart) = (0, 0)
        for (line, other) in anchors(lines, others) + [(lines.count, others.count)]
        where line >= start && other >= otherStart {
            var (end, otherEnd) = (line, other)
            while start < end, otherStart < otherEnd, lines[start] == others[otherStart] {
                partners[start] = otherStart
                (start, otherStart) = (start + 1, otherStart + 1)
            }
            while start < end, otherStart < otherEnd, lines[end - 1] == others[otherEnd - 1] {
                (end, otherEnd) = (end - 1, otherEnd - 1)
                partners[end] = otherEnd
            }
            walk(lines, start..<end, others, otherStart..<otherEnd, &partners)
            (start, otherStart) = (line, other)
        }
        return partners
    }

    /// The lines that stand once in each version, as far as their order is the same.
    private static func anchors(_ lines: [Line], _ others: [Line]) -> [(Int, Int)] {
        func places(_ lines: [Line]) -> [Line: Int?] {
            var places: [Line: Int?] = [:]
            for (place, line) in lines.enumerated() {
                places[line] = places.keys.contains(line) ? .some(nil) : place
            }
            return places
        }
        let otherPlaces = places(others)
        let pairs = places(lines).compactMap { line, place -> (Int, Int)? in
            guard let place, let other = otherPlaces[line] ?? nil else { return nil }
            return (place, other)
        }.sorted { $0.0 < $1.0 }
        // The longest ascending run of places in the other version.
        var (ends, before): ([Int], [Int?]) = ([], [])
        for (index, pair) in pairs.enumerated() {
            var (low, high) = (0, ends.count)
            while low < high {
                let middle = (low + high) / 2
                if pairs[ends[middle]].1 < pair.1 { low = middle + 1 } else { high = middle }
            }
            before.append(low > 0 ? ends[low - 1] : nil)
            if low == ends.count { ends.append(index) } else { ends[low] = index }
        }
        var (run, next): ([(Int, Int)], Int?) = ([], ends.last)
        while let index = next {
            run.append(pairs[index])
            next = before[index]
        }
        return run.reversed()
    }

    /// Finds the partners of lines between others that have theirs.
    private static func walk(
        _ lines: [Line],
        _ range: Range<Int>,
        _ others: [Line],
        _ otherRange: Range<Int>,
        _ partners: inout [Int?]
    ) {
        var (line, other) = (range.lowerBound, otherRange.lowerBound)
        while line < range.upperBound, other < otherRange.upperBound {
            if lines[line] == others[other] {
                partners[line] = other
                (line, other) = (line + 1, other + 1)
            } else if let skip = resumption(
                lines[line..<range.upperBound],
                others[other..<otherRange.upperBound]
            ) {
                (line, other) = (line + skip.lines, other + skip.others)
            } else {
                return
            }
        }
    }

    /// How few lines of each version must be left out until a line is equal; of brackets alone two
    /// in a row.
    private static func resumption(
        _ lines: ArraySlice<Line>,
        _ others: ArraySlice<Line>
    ) -> (lines: Int, others: Int)? {
        for distance in 1...min(distanceMax, lines.count + others.count) {
            for count in max(0, distance - others.count)...min(distance, lines.count) {
                let (rest, otherRest) = (lines.dropFirst(count), others.dropFirst(distance - count))
                guard let line = rest.first, line == otherRest.first else { continue }
                let (next, otherNext) = (rest.dropFirst().first, otherRest.dropFirst().first)
                if hasWord(line) || next == otherNext { return (count, distance - count) }
            }
        }
        return nil
    }

    /// Beyond this distance two versions of a place count as different throughout.
    private static let distanceMax = 1_000
}
