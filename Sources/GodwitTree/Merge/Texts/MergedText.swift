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
    var isDoubtful: Bool {
        isOfTwoItems || windows.contains(where: \.isDoubtful) || hasLineTooMany
    }

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

extension MergedText {
    /// Whether a line that a side moved is there twice, or though the other side removed it.
    private var hasLineTooMany: Bool {
        let windows = windows
        let old = windows.lineCounts(of: \.base)
        let counts = Sides(ours: Side.ours, theirs: .theirs)
            .map { side in windows.lineCounts { $0.sides[side] } }
        return windows.lineCounts(of: \.result).contains { line, count in
            guard old[line] != nil else { return false }
            let (ours, theirs) = (counts.ours[line] ?? 0, counts.theirs[line] ?? 0)
            return count > max(ours, theirs) || min(ours, theirs) == 0
        }
    }

    /// Whether both sides contest all that either changed: then it is one value.
    var isWholeContest: Bool {
        windows.allSatisfy { $0.isWholeContest }
    }
}

extension [TextWindow] {
    /// How often each line that says something is in a text of the windows.
    fileprivate func lineCounts(of text: (TextWindow) -> Key) -> [Substring: Int] {
        var counts: [Substring: Int] = [:]
        for window in self {
            for line in text(window).text.split(separator: "\n") where line.saysSomething {
                counts[line, default: 0] += 1
            }
        }
        return counts
    }
}

extension Substring {
    private static let letterMin = 4

    /// Whether there are a few letters or digits.
    fileprivate var saysSomething: Bool {
        var left = Self.letterMin
        for character in self where character.isLetter || character.isNumber {
            left -= 1
            if left == 0 { return true }
        }
        return false
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
    var areSeveralLines: Bool { count > 1 }
}
