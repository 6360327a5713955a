/// A text that is being edited, and writes down what is put in and taken out.
///
/// ```swift
/// try value.edit {
///     $0.note.text.insert("very ", at: 4)
///     $0.note.text.replaceSubrange(0..<3, with: "The")
/// }
/// ```
///
/// Offsets count UTF-8 bytes, as those of `String.utf8` do; an offset within a character is a
/// failure of the draft, and so is one beyond the end.
///
/// - Complexity: An edit is O(*k* / 256 + 256) in the number of edits so far. The string itself is
///   made once, when access to the text ends: edit a long text by many edits within one access,
///   such as a function that takes the text `inout`.
public struct TextDraft {
    private(set) var pieces: TextPieces
    private(set) var failure: TreeError?
    fileprivate let origin: UInt64

    fileprivate init(_ pieces: TextPieces, of origin: UInt64) {
        (self.pieces, self.origin) = (pieces, origin)
    }

    /// The text with all edits.
    ///
    /// - Complexity: O(*n*).
    public var string: String { pieces.text.text }

    /// How many bytes of UTF-8 the text has.
    public var utf8Count: Int { pieces.count }

    /// Puts text at an offset.
    public mutating func insert(_ text: String, at offset: Int) {
        replaceSubrange(offset..<offset, with: text)
    }

    /// Puts text at the end.
    public mutating func append(_ text: String) { insert(text, at: utf8Count) }

    /// Takes text out.
    public mutating func removeSubrange(_ range: Range<Int>) { replaceSubrange(range, with: "") }

    /// Puts text in the place of other text.
    public mutating func replaceSubrange(_ range: Range<Int>, with text: String) {
        guard range.lowerBound >= 0, range.upperBound <= pieces.count,
            pieces.isBoundary(range.lowerBound), pieces.isBoundary(range.upperBound)
        else {
            let reason = "\(range) is not a range of characters in \(pieces.count) bytes"
            failure = failure ?? .wrongBase(path: ValuePath(), reason: reason)
            return
        }
        pieces.replace(range, with: text)
    }
}

extension Draft {
    /// The verbs of a string: what is put in, and what is taken out.
    public var text: TextDraft {
        get { TextDraft(TextPieces(place.value?.key ?? ""), of: 0) }
        set { place.put(newValue) }
        _modify {
            var draft = place.lendText()
            defer { place.takeBack(draft) }
            yield &draft
        }
    }
}

extension DraftPlace {
    fileprivate mutating func put(_ text: TextDraft) {
        if let failure = text.failure { fail(failure) }
        value = .string(text.pieces.text)
        story = .set
    }

    fileprivate mutating func lendText() -> TextDraft {
        guard let text = value?.key else {
            fail("a string")
            return TextDraft(TextPieces(""), of: origin)
        }
        guard case .text(let pieces) = story else {
            return TextDraft(TextPieces(text), of: origin)
        }
        story = .none
        return TextDraft(pieces, of: origin)
    }

    fileprivate mutating func takeBack(_ text: TextDraft) {
        guard text.origin == origin else { return put(text) }
        if let failure = text.failure { fail(failure) }
        guard case .string? = value else { return }
        value = .string(text.pieces.text)
        if !story.isSet { story = .text(text.pieces) }
    }
}

extension Value {
    fileprivate var key: Key? {
        if case .string(let key) = self { key } else { nil }
    }
}

// A piece table: the text is pieces of two buffers, what it was and all that was ever put in. What
// is typed on behind the last keystroke lies behind it in the buffer too, and becomes one piece.

/// A text as pieces of what it was, and of what was put in.
struct TextPieces {
    private let base: Key
    private var added: [UInt8] = []
    private var pieces: PieceList<TextPiece>

    init(_ base: Key) {
        self.base = base
        pieces = PieceList([TextPiece(isNew: false, range: 0..<base.sizeInBytes)])
    }

    var count: Int { pieces.count }

    mutating func replace(_ range: Range<Int>, with text: String) {
        let start = added.count
        added.append(contentsOf: text.utf8)
        let new = TextPiece(isNew: true, range: start..<added.count)
        pieces.replace(range, with: new.count == 0 ? [] : [new])
    }

    /// Whether an offset is between characters.
    func isBoundary(_ offset: Int) -> Bool {
        guard offset < pieces.count else { return true }
        let (piece, place) = pieces[offset]
        let index = piece.range.lowerBound + place
        return piece.isNew ? added[index] & 0xc0 != 0x80 : base.isBoundary(index)
    }

    /// The text as a whole.
    var text: Key {
        base.withBytes { base in
            let text = String(unsafeUninitializedCapacity: pieces.count) { buffer in
                var end = 0
                for piece in pieces.pieces {
                    if piece.isNew {
                        end = buffer[end...].update(fromContentsOf: added[piece.range])
                    } else {
                        end = buffer[end...].update(fromContentsOf: base[piece.range])
                    }
                }
                return end
            }
            return Key(text)
        }
    }

    /// The change from what the text was; what was taken out and put in again is none.
    var delta: Delta {
        base.withBytes { base in
            var writer = SpliceWriter()
            var (position, inserted) = (0, [UInt8]())
            for piece in pieces.pieces + [TextPiece(isNew: false, range: base.count..<base.count)] {
                if piece.isNew {
                    inserted += added[piece.range]
                    continue
                }
                let removed = position..<max(position, piece.range.lowerBound)
                if base[removed].elementsEqual(inserted) {
                    writer.keep(removed.count)
                } else {
                    writer.remove(removed.count)
                    writer.insert(Key(String(decoding: inserted, as: UTF8.self)))
                }
                writer.keep(piece.count)
                (position, inserted) = (piece.range.upperBound, [])
            }
            return writer.delta
        }
    }
}

/// Bytes next to each other in one of the buffers.
struct TextPiece: Piece {
    let isNew: Bool
    let range: Range<Int>

    var count: Int { range.count }

    func split(at count: Int) -> (TextPiece, TextPiece) {
        let middle = range.lowerBound + count
        return (
            TextPiece(isNew: isNew, range: range.lowerBound..<middle),
            TextPiece(isNew: isNew, range: middle..<range.upperBound)
        )
    }

    func joined(with next: TextPiece) -> TextPiece? {
        guard isNew == next.isNew, range.upperBound == next.range.lowerBound else { return nil }
        return TextPiece(isNew: isNew, range: range.lowerBound..<next.range.upperBound)
    }
}
