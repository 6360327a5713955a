/// A text that both sides changed: a string, or a list of strings that are lines.
///
/// A merge looks only at lines that a side changed, and counts the bytes between them.
final class MergedText {
    enum Part {
        /// So many bytes that neither side changed.
        case kept(Int)
        case changed(TextWindow)
    }

    let place: MergePlace
    private let base: Value
    private let deltas: Sides<Delta>
    private(set) var pieces: [Part] = []
    /// Whether one side may have put another text in this place.
    var isOfTwoItems = false

    /// Merges two changes of a string.
    init(
        _ base: Key,
        _ splices: Sides<[TextDelta.Splice]>,
        _ deltas: Sides<Delta>,
        _ place: MergePlace
    ) {
        (self.base, self.deltas, self.place) = (.string(base), deltas, place)
        var position = 0
        for hunk in Chunk3.chunks(splices.map { base.lineHunks($0) }) {
            pieces.append(.kept(hunk.base.lowerBound - position))
            let text = base.text(hunk.base)
            let sides = splices.map { base.text(hunk.base, with: $0) }
            pieces.append(.changed(TextWindow(text, sides, place)))
            position = hunk.base.upperBound
        }
        pieces.append(.kept(base.sizeInBytes - position))
    }

    /// Merges two versions of a list of lines.
    init(lines base: [Key], _ sides: Sides<[Key]>, _ deltas: Sides<Delta>, _ place: MergePlace) {
        self.base = .list(Value.List(base.map(Value.string)))
        (self.deltas, self.place) = (deltas, place)
        pieces = [.changed(TextWindow(lines: base, sides, place))]
    }

    /// The text as the base and both sides have it.
    ///
    /// - Complexity: O(*n*).
    var versions: MergeVersions {
        MergeVersions(base: place.isNew ? nil : base, sides: deltas.map { base.changed(by: $0) })
    }

    var windows: [TextWindow] {
        pieces.compactMap { if case .changed(let window) = $0 { window } else { nil } }
    }

    /// The choices that are left.
    var contested: [MergeChoice] { windows.flatMap(\.contested) }

    /// Whether the two changes are so close that people should look at them.
    var isDoubtful: Bool { isOfTwoItems || windows.contains(where: \.isDoubtful) }

    var written: MergedChange {
        if case .list = base { return writtenList }
        var delta = SpliceWriter()
        var after = Sides(both: SpliceWriter())
        for piece in pieces {
            switch piece {
            case .kept(let count):
                delta.keep(count)
                for side in Side.allCases { after[side].keep(count) }
            case .changed(let window):
                let result = window.result
                delta.write(from: window.base, to: result)
                for side in Side.allCases {
                    after[side].write(from: window.sides[side], to: result)
                }
            }
        }
        return MergedChange(delta: .apply(delta.delta), after: after.map { .apply($0.delta) })
    }

    private var writtenList: MergedChange {
        let bytes = windows.flatMap { Array($0.result.text.utf8) }
        let lines = TextDiff.lines(of: bytes).map {
            Value.string(Key(String(decoding: bytes[$0], as: UTF8.self)))
        }
        let (result, versions) = (Value.list(lines), versions)
        return MergedChange(
            delta: .apply(.diff(base, result, nil as MergePolicy.Node?)),
            after: versions.sides.map { side in
                side.map { .apply(.diff($0, result, nil as MergePolicy.Node?)) }
            }
        )
    }
}

extension SpliceWriter {
    /// Writes how one text becomes another.
    fileprivate mutating func write(from old: Key, to new: Key) {
        guard old != new else { return keep(old.sizeInBytes) }
        var position = 0
        for splice in TextDiff.splices(Array(old.text.utf8), Array(new.text.utf8)) {
            keep(splice.offset - position)
            remove(splice.removed)
            insert(splice.inserted)
            position = splice.end
        }
        keep(old.sizeInBytes - position)
    }
}

// MARK: - Lines of a string

extension Key {
    fileprivate var isLine: Bool { withBytes { !$0.contains(UInt8(ascii: "\n")) } }

    /// The lines that some splices change, as ranges of bytes before and after.
    ///
    /// - Complexity: O(*n*): the search never enters a window that it knows.
    fileprivate func lineHunks(_ splices: [TextDelta.Splice]) -> [Hunk] {
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

    fileprivate func text(_ range: Range<Int>) -> Key {
        withBytes { Key(String(decoding: $0[range], as: UTF8.self)) }
    }

    /// Some bytes as they are after the splices that lie within them.
    fileprivate func text(_ range: Range<Int>, with splices: [TextDelta.Splice]) -> Key {
        var pieces: [Key] = []
        var position = range.lowerBound
        for splice in splices[splices.firstIndex(from: range.lowerBound)...] {
            guard splice.end <= range.upperBound else { break }
            pieces.append(text(position..<splice.offset))
            pieces.append(splice.inserted)
            position = splice.end
        }
        pieces.append(text(position..<range.upperBound))
        return Key(joining: pieces)
    }
}

extension [TextDelta.Splice] {
    /// The first splice that begins at an offset, or behind it.
    fileprivate func firstIndex(from offset: Int) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].offset < offset { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

// MARK: - Texts that are merged

extension Merger {
    mutating func mergeTexts(
        _ base: Value?,
        _ deltas: Sides<Delta>,
        _ place: MergePlace
    ) -> MergeNode {
        guard case .string(let old)? = base else {
            return choice(.bothSet, base, deltas.map { base?.changed(by: $0) }, place)
        }
        let splices = deltas.map { $0.splices(of: old) }
        if let ours = splices.ours, let theirs = splices.theirs {
            let text = MergedText(old, Sides(ours: ours, theirs: theirs), deltas, place)
            if !text.isWholeContest || !old.isLine { return decided(text) }
        }
        return choice(.bothSet, base, deltas.map { base?.changed(by: $0) }, place)
    }

    /// Merges lists of strings that are the lines of one text.
    mutating func mergeLines(
        _ base: Value.List,
        _ deltas: Sides<ListDelta>,
        _ place: MergePlace
    ) -> MergeNode? {
        guard place.rules == nil, base.count <= Self.linesMax, let old = base.lines else {
            return nil
        }
        let deltas = deltas.map { Delta.list($0.recipe) }
        let values = deltas.map { Value.list(base).changed(by: $0) }
        guard let our = values.ours.list?.lines, let their = values.theirs.list?.lines,
            old.areSeveralLines || our.areSeveralLines || their.areSeveralLines
        else { return nil }
        return decided(MergedText(lines: old, Sides(ours: our, theirs: their), deltas, place))
    }

    private static let linesMax = 100_000

    /// The text, or a rule's answer where something is contested.
    private func decided(_ text: MergedText) -> MergeNode {
        guard text.place.rules?.rule != nil, !text.contested.isEmpty else { return .text(text) }
        let versions = text.versions
        return text.place.decide(.bothRewrote, versions).map { .decided($0, versions) }
            ?? .text(text)
    }
}

extension Delta {
    /// This change of a text as splices; nil where it makes something else of it.
    fileprivate func splices(of base: Key) -> [TextDelta.Splice]? {
        switch self {
        case .text(let delta): delta.splices
        case .set(.string(let new)):
            TextDiff.splices(Array(base.text.utf8), Array(new.text.utf8))
        default: nil
        }
    }
}

extension MergedText {
    /// Whether both sides contest all that either changed: then it is one value.
    fileprivate var isWholeContest: Bool {
        windows.allSatisfy { $0.isWholeContest }
    }
}

extension Value.List {
    /// The items, where all are strings and all but the last end with a newline.
    var lines: [Key]? {
        var lines: [Key] = []
        for item in self {
            guard case .string(let line) = item, lines.last?.isTerminated ?? true, line.isLineText
            else { return nil }
            lines.append(line)
        }
        return lines
    }
}

extension Key {
    /// Whether this is one line, with or without its newline.
    fileprivate var isLineText: Bool {
        !isEmpty && withBytes { !$0.dropLast().contains(UInt8(ascii: "\n")) }
    }
}

extension [Key] {
    fileprivate var areSeveralLines: Bool { count > 1 }
}
