import GodwitTree

/// A merge of three documents.
///
/// It is written in the layout of ours; but if theirs was laid out anew, and ours is laid out like
/// the base, in that of theirs.
struct DocumentMerge {
    let merge: GodwitTree.Merge
    private let base: Document?
    private let ours: Document
    private let theirs: Document
    private let policy: MergePolicy
    /// The side whose layout the result has.
    private let form: Contest.Side

    /// - Parameter base: Nil when both sides have added the document.
    init(base: Document?, ours: Document, theirs: Document, policy: MergePolicy) {
        (self.base, self.ours, self.theirs, self.policy) = (base, ours, theirs, policy)
        let isTheirs = base.map { base in
            base.layout.isBroken(like: ours.layout) && !base.layout.isBroken(like: theirs.layout)
        }
        form = isTheirs == true ? .theirs : .ours
        merge = GodwitTree.Merge(
            base: base?.value ?? Self.empty(like: ours.value, theirs.value),
            ours: ours.value,
            theirs: theirs.value,
            policy: policy
        )
    }

    private static func empty(like ours: Value, _ theirs: Value) -> Value {
        switch (ours, theirs) {
        case (.map, .map): [:]
        case (.list, .list): []
        default: .null
        }
    }

    /// The merged value as text, with what was chosen for each conflict.
    var text: [UInt8] { text(of: merge.value) }

    /// A value that grew from these documents as text.
    func text(of value: Value) -> [UInt8] {
        if theirs.value == value, ours.bytes == base?.bytes { return theirs.bytes }
        // The writer takes the layout of the one that it calls ours.
        let (first, second) = form == .ours ? (ours, theirs) : (theirs, ours)
        let sources = Sources(
            base: base.map { Source($0, for: value, policy: policy) },
            ours: Source(first, for: value, policy: policy),
            theirs: Source(second, for: value, policy: policy)
        )
        var writer = DocumentWriter(layout: first.layout)
        writer.write(raw: part(\.head))
        writer.write(value, sources, indent: Array(first.indent(of: first.root)))
        writer.write(raw: part(\.tail))
        return writer.bytes
    }

    /// The merged value as text, with git's markers around what is contested.
    ///
    /// - Parameter size: How many characters a marker has.
    func markedText(size: Int = 7) -> ConflictMarkers {
        let contests = contests
        return ConflictMarkers(
            of: contests.conflicts,
            base: text(of: contests.value(.base)),
            ours: text(of: contests.value(.ours)),
            theirs: text(of: contests.value(.theirs)),
            newline: (form == .ours ? ours : theirs).layout.newline,
            size: size
        )
    }

    /// The merged value as text, as the base of another merge: it takes no side in what is contested,
    /// so that whatever people made of it later is a change.
    ///
    /// Nil where records or lists are contested, or a conflict has no place.
    var undecidedText: [UInt8]? { contests.undecided.map(text(of:)) }

    private var contests: Contests {
        Contests(
            in: merge,
            base: base?.value ?? Self.empty(like: ours.value, theirs.value),
            ours: ours.value,
            theirs: theirs.value
        )
    }

    /// What stands around the value: of ours, unless only theirs has changed it.
    private func part(_ part: (Document) -> ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        base.map(part) == part(ours) ? part(theirs) : part(ours)
    }
}

extension Document {
    /// The text of a value that grew from this document.
    ///
    /// - Parameter change: A document with parts that were put into it.
    func text(of value: Value, with change: Document? = nil) -> [UInt8] {
        var writer = DocumentWriter(layout: layout)
        writer.pool = SourcePool(self, change)
        writer.write(raw: head)
        let sources = Sources(ours: Source(self, for: value))
        writer.write(value, sources, indent: Array(indent(of: root)))
        writer.write(raw: tail)
        return writer.bytes
    }
}

extension Layout {
    /// A value that stands in no document as text.
    func text(of value: Value) -> String {
        var writer = DocumentWriter(layout: self)
        writer.write(value, Sources(), indent: [])
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
