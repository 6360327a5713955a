import GodwitTree

/// Writes a value with the pieces of documents that hold parts of it.
///
/// 1. A value that ours has is written as it stands there, byte for byte; so is what only theirs
///    has changed, if both are laid out alike.
/// 2. A container that ours has in another form keeps its brackets, the white space around each
///    member that stays, and the order of its keys (``KeyOrder``).
/// 3. In a document that a change is applied to, a value that stands elsewhere in it or in the change
///    was moved, copied or put in from there, and is written in the same way.
/// 4. Any other value gets the layout of its neighbours, or else the ``Layout`` of ours; its numbers,
///    strings and keys are spelt as in the document they come from.
struct DocumentWriter {
    private let layout: Layout
    /// Where parts that have no place of their own may have come from.
    var pool: SourcePool?
    private(set) var bytes: [UInt8] = []

    init(layout: Layout) { self.layout = layout }

    mutating func write(_ value: Value, _ sources: Sources, indent: [UInt8]) {
        let layout = layout
        let moved = sources.areReplaced ? pool?.source(of: value) : nil
        let sources = moved.map { Sources(theirs: $0) } ?? sources
        let plan = sources.plan { source in
            source.isScalar
                || source.document.layout.isCompatible(with: layout)
                    && source.document.indent(of: source.node).elementsEqual(indent)
        }
        switch (plan, value) {
        case (.copy(let source), _): bytes += source.text
        case (.compose, .map(let map)): write(map, sources, indent: indent)
        case (.compose, .list(let list)): write(list, sources, indent: indent)
        case (.compose, _): write(scalar: value)
        }
    }

    mutating func write(raw text: ArraySlice<UInt8>) { bytes += text }

    private mutating func write(scalar value: Value) {
        switch value {
        case .string(let key): bytes += layout.spelling.quoted(key.text)
        case .bytes(let spelling):
            bytes +=
                Numeral(spelling).map { Array($0.spelling.utf8) } ?? HalfText(spelling)?.spelling
                ?? Array(value.jsonText().utf8)
        default: bytes += value.jsonText().utf8
        }
    }
}

// MARK: - Containers

extension DocumentWriter {
    /// An entry or an item that is to be written.
    private struct Piece {
        var name: [UInt8] = []
        let value: Value
        /// Where ours has it in the container that keeps its form.
        let own: Document.Member?
        /// The white space before it in theirs, if that is laid out like ours.
        var otherSpace: ArraySlice<UInt8>?
        let sources: Sources
    }

    private mutating func write(_ map: Value.Map, _ sources: Sources, indent: [UInt8]) {
        let members = (
            base: sources.base?.entries ?? [:], ours: sources.ours?.entries ?? [:],
            theirs: sources.theirs?.entries ?? [:]
        )
        let spelling = layout.spelling
        let pieces = keys(of: map, sources).compactMap { key -> Piece? in
            guard let value = map[key] else { return nil }
            let spelt = [
                (members.ours, sources.ours), (members.theirs, sources.theirs),
                (members.base, sources.base),
            ].lazy.compactMap { members, source in
                members[key].flatMap { member in source.map { $0.document.bytes[member.name] } }
            }.first
            return Piece(
                name: spelt.map { Array($0) } ?? spelling.quoted(key.text),
                value: value,
                own: members.ours[key],
                otherSpace: space(before: members.theirs[key], in: sources.theirs),
                sources: sources.entry(key, members)
            )
        }
        write(pieces, in: ("{", "}"), sources, indent: indent)
    }

    private func keys(of map: Value.Map, _ sources: Sources) -> [Key] {
        func keys(_ source: Source?) -> [Key]? {
            guard let source, case .map(let members) = source.node.content else { return nil }
            return members.compactMap(\.key)
        }
        let result = Set(map.lazy.map(\.key))
        let (ours, theirs) = (keys(sources.ours), keys(sources.theirs))
        return KeyOrder.merged(
            base: keys(sources.base),
            ours: ours ?? theirs ?? keys(sources.base) ?? [],
            theirs: theirs ?? keys(sources.base) ?? [],
            result: result
        )
    }

    private mutating func write(_ list: Value.List, _ sources: Sources, indent: [UInt8]) {
        let base = sources.base?.items(count: list.count) ?? []
        let ours = ourItems(of: list, sources) ?? []
        let theirs = sources.theirs?.items(count: list.count) ?? []
        let own = sources.ours?.node.members ?? []
        let others = sources.theirs?.node.members ?? []
        let pieces = list.enumerated().map { position, value in
            let isIn = { (items: [(position: Int, source: Source)?]) in
                position < items.count ? items[position] : nil
            }
            return Piece(
                value: value,
                own: isIn(ours).map { own[$0.position] },
                otherSpace: space(
                    before: isIn(theirs).map { others[$0.position] },
                    in: sources.theirs
                ),
                sources: Sources(
                    base: isIn(base)?.source,
                    ours: isIn(ours)?.source,
                    theirs: isIn(theirs)?.source
                )
            )
        }
        write(pieces, in: ("[", "]"), sources, indent: indent)
    }

    private func ourItems(
        of list: Value.List,
        _ sources: Sources
    ) -> [(position: Int, source: Source)?]? {
        guard let pool else { return sources.ours?.items(count: list.count) }
        return sources.ours?.items(replacedIn: list) { !pool.isPlaced($0) }
    }

    private mutating func write(
        _ pieces: [Piece],
        in brackets: (open: Unicode.Scalar, close: Unicode.Scalar),
        _ sources: Sources,
        indent: [UInt8]
    ) {
        bytes.append(UInt8(ascii: brackets.open))
        defer { bytes.append(UInt8(ascii: brackets.close)) }
        guard !pieces.isEmpty else { return }
        let spacing = spacing(isMap: brackets.open == "{", sources, indent: indent)
        for (position, piece) in pieces.enumerated() {
            let isFirst = position == 0
            let before = spacing.before(piece.own, other: piece.otherSpace, isFirst: isFirst)
            bytes += before
            if brackets.open == "{" {
                bytes += piece.name
                bytes += spacing.colon(piece.own)
            }
            let inner = Document.lineIndent(before[...]) ?? indent
            write(piece.value, piece.sources, indent: inner)
            guard position < pieces.count - 1 else { break }
            bytes += spacing.after(piece.own)
            bytes.append(UInt8(ascii: ","))
        }
        bytes += spacing.end
    }

    private func space(
        before member: Document.Member?,
        in source: Source?
    ) -> ArraySlice<UInt8>? {
        guard let member, let document = source?.document,
            document.layout.isCompatible(with: layout)
        else { return nil }
        return document.bytes[member.before]
    }

    /// Of ours, if it has members there; else as theirs or the base breaks lines in that place.
    private func spacing(isMap: Bool, _ sources: Sources, indent: [UInt8]) -> Spacing {
        let isSameKind = { (source: Source) in
            switch source.node.content {
            case .map: isMap && !source.node.members.isEmpty
            case .list: !isMap && !source.node.members.isEmpty
            case .scalar: false
            }
        }
        if let ours = sources.ours, isSameKind(ours) {
            return Spacing(of: ours.node, in: ours.document, layout: layout)
        }
        let model = [sources.theirs, sources.base].lazy.compactMap { $0 }.first(where: isSameKind)
        let isBroken = model.flatMap { model -> Bool? in
            guard model.document.layout.indentation != nil else { return nil }
            return model.node.members.contains { member in
                Document.lineIndent(model.document.bytes[member.before]) != nil
            }
        }
        return Spacing(layout: layout, isMap: isMap, isBroken: isBroken ?? true, indent: indent)
    }
}
