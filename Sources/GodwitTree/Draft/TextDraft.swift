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
/// - Complexity: An edit is O(*k* / 256 + 256) in the number of edits so far. The string itself is made
///   once, when access to the text ends: edit a long text by many edits within one access, such
///   as a function that takes the text `inout`.
public struct TextDraft {
    private(set) var runs: TextRuns
    private(set) var failure: TreeError?
    fileprivate let origin = Draft.Origin()

    init(_ runs: TextRuns) { self.runs = runs }

    /// The text with all edits.
    ///
    /// - Complexity: O(*n*).
    public var string: String { runs.text.text }

    /// How many bytes of UTF-8 the text has.
    public var utf8Count: Int { runs.count }

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
        guard range.lowerBound >= 0, range.upperBound <= runs.count,
            runs.isBoundary(range.lowerBound), runs.isBoundary(range.upperBound)
        else {
            let reason = "\(range) is not a range of characters in \(runs.count) bytes"
            failure = failure ?? .wrongBase(path: Path(), reason: reason)
            return
        }
        runs.replace(range, with: text)
    }
}

extension Draft {
    /// The text of a string, to edit it by what is put in and taken out.
    public var text: TextDraft {
        get { TextDraft(TextRuns(current.flatMap(\.key) ?? "")) }
        set { set(.string(Key(newValue.string))) }
        _modify {
            var draft = TextDraft(takeText())
            let origin = draft.origin
            defer { if draft.origin === origin { put(draft) } else { self.text = draft } }
            yield &draft
        }
    }

    private mutating func takeText() -> TextRuns {
        guard let text = current?.key else {
            fail("a string")
            return TextRuns("")
        }
        guard case .text(let runs) = recording else { return TextRuns(text) }
        recording = .none
        return runs
    }

    private mutating func put(_ text: TextDraft) {
        if let failure = text.failure { fail(failure) }
        guard case .string? = current else { return }
        current = .string(text.runs.text)
        if !recording.isSet { recording = .text(text.runs) }
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
struct TextRuns {
    private let base: Key
    private var added: [UInt8] = []
    private var runs: RunSequence<TextRun>

    init(_ base: Key) {
        self.base = base
        runs = RunSequence(kept: TextRun(isNew: false, range: 0..<base.sizeInBytes))
    }

    var count: Int { runs.count }

    mutating func replace(_ range: Range<Int>, with text: String) {
        let start = added.count
        added.append(contentsOf: text.utf8)
        let new = TextRun(isNew: true, range: start..<added.count)
        runs.replace(range, with: new.count == 0 ? [] : [new])
    }

    /// Whether an offset is between characters.
    func isBoundary(_ offset: Int) -> Bool {
        guard offset < runs.count else { return true }
        let (run, place) = runs[offset]
        let index = run.range.lowerBound + place
        return run.isNew ? added[index] & 0xc0 != 0x80 : base.isBoundary(index)
    }

    /// The text as a whole.
    var text: Key {
        base.withBytes { base in
            let text = String(unsafeUninitializedCapacity: runs.count) { buffer in
                var end = 0
                for run in runs.runs {
                    if run.isNew {
                        end = buffer[end...].update(fromContentsOf: added[run.range])
                    } else {
                        end = buffer[end...].update(fromContentsOf: base[run.range])
                    }
                }
                return end
            }
            return Key(text)
        }
    }

    var delta: Delta {
        var writer = SpliceWriter()
        var position = 0
        for run in runs.runs {
            if run.isNew {
                writer.insert(Key(String(decoding: added[run.range], as: UTF8.self)))
            } else {
                writer.remove(run.range.lowerBound - position)
                writer.keep(run.count)
                position = run.range.upperBound
            }
        }
        writer.remove(base.sizeInBytes - position)
        return writer.delta
    }
}

/// Bytes next to each other in one of the buffers.
struct TextRun: EditRun {
    let isNew: Bool
    let range: Range<Int>

    var count: Int { range.count }

    func split(at count: Int) -> (TextRun, TextRun) {
        let middle = range.lowerBound + count
        return (
            TextRun(isNew: isNew, range: range.lowerBound..<middle),
            TextRun(isNew: isNew, range: middle..<range.upperBound)
        )
    }

    func joined(with next: TextRun) -> TextRun? {
        guard isNew == next.isNew, range.upperBound == next.range.lowerBound else { return nil }
        return TextRun(isNew: isNew, range: range.lowerBound..<next.range.upperBound)
    }
}
