// A change within a string: what is taken out and put in, by the place in the base.
//
//   (1) Offsets count UTF-8 bytes of the base, and ascend; between two splices at least one byte
//       stays. So there is one form for one change.
//   (2) No splice is empty.
//   (3) Both ends of what a splice takes out, and of every piece of what was put in, are between
//       Unicode scalars. That is checked where the text is at hand.

/// The change of a string's text.
public struct TextDelta: Hashable, Sendable {
    /// One place where text is replaced.
    public struct Splice: Hashable, Sendable {
        /// Where, in UTF-8 bytes of the base.
        public let offset: Int
        /// How many bytes are taken out.
        public let removed: Int
        /// The inserted text.
        public let inserted: Key

        public init(offset: Int, removed: Int, inserted: String) {
            self.init(offset: offset, removed: removed, inserted: Key(inserted))
        }

        init(offset: Int, removed: Int, inserted: Key) {
            self.offset = offset
            self.removed = removed
            self.inserted = inserted
        }

        var end: Int { offset + removed }
        var growth: Int { inserted.sizeInBytes - removed }
    }

    /// In ascending order; at least one.
    public let splices: [Splice]

    init(ordered splices: [Splice]) { self.splices = splices }

    /// Offsets beyond this are refused, so that no arithmetic on them can overflow.
    static let offsetMax = 1 << 40
}

extension Delta {
    /// A delta with these splices, in any order.
    ///
    /// - Throws: ``TreeError/invalidDelta(reason:)`` when two of them overlap.
    public static func text(_ splices: [TextDelta.Splice]) throws(TreeError) -> Delta {
        var writer = SpliceWriter()
        var last = 0
        for splice in splices.sorted(by: { $0.offset < $1.offset }) {
            guard splice.offset >= last, splice.removed >= 0,
                splice.offset <= TextDelta.offsetMax,
                splice.removed <= TextDelta.offsetMax - splice.offset
            else { throw .invalidDelta(reason: "splices overlap, or are out of range") }
            writer.keep(splice.offset - last)
            writer.remove(splice.removed)
            writer.insert(splice.inserted)
            last = splice.end
        }
        return writer.delta
    }
}

/// Puts splices together from what happens, in the order of the base.
struct SpliceWriter {
    private var splices: [TextDelta.Splice] = []
    private var start = 0
    private var base = 0
    private var inserted: [Key] = []

    mutating func keep(_ count: Int) {
        guard count > 0 else { return }
        close()
        base += count
        start = base
    }

    mutating func remove(_ count: Int) { base += count }

    mutating func insert(_ text: Key) {
        if !text.isEmpty { inserted.append(text) }
    }

    var delta: Delta {
        var writer = self
        writer.close()
        return writer.splices.isEmpty ? .keep : .text(TextDelta(ordered: writer.splices))
    }

    private mutating func close() {
        guard base > start || !inserted.isEmpty else { return }
        let text = inserted.count == 1 ? inserted[0] : Key(joining: inserted)
        splices.append(TextDelta.Splice(offset: start, removed: base - start, inserted: text))
        inserted = []
    }
}

// MARK: - Algebra

extension TextDelta {
    func applied(to base: Key) throws(TreeError) -> Key {
        guard let last = splices.last, last.end <= base.sizeInBytes else {
            throw .wrongBase(
                path: ValuePath(),
                reason: "the string has only \(base.sizeInBytes) bytes"
            )
        }
        var pieces: [Key] = []
        var end = 0
        for splice in splices {
            pieces.append(try base.piece(end..<splice.offset))
            pieces.append(splice.inserted)
            end = splice.end
        }
        pieces.append(try base.piece(end..<base.sizeInBytes))
        return Key(joining: pieces)
    }

    /// - Precondition: The delta applies to `base`.
    func inverted(on base: Key) throws(TreeError) -> TextDelta {
        var inverse: [Splice] = []
        var shift = 0
        for splice in splices {
            let removed = try base.piece(splice.offset..<splice.end)
            inverse.append(
                Splice(
                    offset: splice.offset + shift,
                    removed: splice.inserted.sizeInBytes,
                    inserted: removed
                )
            )
            shift += splice.growth
        }
        return TextDelta(ordered: inverse)
    }

    /// - Complexity: O(*k*) in the number of splices, and the text that they put in.
    func composed(with next: TextDelta) throws(TreeError) -> Delta {
        var source = SpliceReader(splices)
        var writer = SpliceWriter()
        var position = 0
        for splice in next.splices {
            try source.copy(splice.offset - position, to: &writer)
            try source.drop(splice.removed, to: &writer)
            writer.insert(splice.inserted)
            position = splice.end
        }
        source.copyRest(to: &writer)
        return writer.delta
    }
}

/// Reads what a text delta leads to, piece by piece.
private struct SpliceReader {
    private var rest: ArraySlice<TextDelta.Splice>
    /// The rest of the text of the splice before `rest`.
    private var inserted: Key = ""
    private var used = 0
    private var base = 0

    init(_ splices: [TextDelta.Splice]) { rest = splices[...] }

    /// Copies bytes of the result.
    mutating func copy(_ count: Int, to writer: inout SpliceWriter) throws(TreeError) {
        try read(count, &writer) { writer, piece in
            switch piece {
            case .kept(let count): writer.keep(count)
            case .new(let text): writer.insert(text)
            }
        }
    }

    /// Leaves bytes of the result out.
    mutating func drop(_ count: Int, to writer: inout SpliceWriter) throws(TreeError) {
        try read(count, &writer) { writer, piece in
            if case .kept(let count) = piece { writer.remove(count) }
        }
    }

    mutating func copyRest(to writer: inout SpliceWriter) {
        if let piece = try? inserted.piece(used..<inserted.sizeInBytes) { writer.insert(piece) }
        for splice in rest {
            writer.keep(splice.offset - base)
            writer.remove(splice.removed)
            writer.insert(splice.inserted)
            base = splice.end
        }
    }

    private enum Part {
        case kept(Int)
        case new(Key)
    }

    private mutating func read(
        _ count: Int,
        _ writer: inout SpliceWriter,
        _ body: (inout SpliceWriter, Part) -> Void
    ) throws(TreeError) {
        var left = count
        while left > 0 {
            if used < inserted.sizeInBytes {
                let taken = min(left, inserted.sizeInBytes - used)
                body(&writer, .new(try inserted.piece(used..<(used + taken))))
                used += taken
                left -= taken
            } else if let splice = rest.first, splice.offset == base {
                writer.remove(splice.removed)
                (base, inserted, used) = (splice.end, splice.inserted, 0)
                rest.removeFirst()
            } else {
                let taken = min(left, (rest.first?.offset ?? .max) - base)
                body(&writer, .kept(taken))
                base += taken
                left -= taken
            }
        }
    }
}
