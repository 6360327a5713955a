/// The white space around the members of one container.
struct Spacing {
    private let bytes: [UInt8]
    /// Behind the opening bracket.
    private let first: [UInt8]
    /// Behind a comma.
    private let next: [UInt8]
    private let usualAfter: [UInt8]
    private let usualColon: [UInt8]
    /// Before the closing bracket.
    let end: [UInt8]

    private let start: Int
    private let stop: Int

    /// The space of a container that has members already.
    init(of node: Document.Node, in document: Document, layout: Layout) {
        let members = node.members
        bytes = document.bytes
        start = members.first?.before.lowerBound ?? 0
        stop = members.last?.after.lowerBound ?? 0
        first = members.first.map { Array(document.bytes[$0.before]) } ?? []
        end = members.last.map { Array(document.bytes[$0.after]) } ?? []
        var (commas, ends) = (Tally(), Tally())
        for member in members.dropFirst() { commas.count(Array(document.bytes[member.before])) }
        for member in members.dropLast() { ends.count(Array(document.bytes[member.after])) }
        let isBroken = Document.lineIndent(first[...]) != nil
        next = commas.commonest ?? (isBroken ? first : layout.commaOrUsual)
        usualAfter = ends.commonest ?? []
        usualColon =
            members.last.map { Array(document.bytes[$0.colon]) } ?? layout.colon ?? Self.colon
    }

    /// The space of a container that is new.
    init(layout: Layout, isMap: Bool, isBroken: Bool, indent: [UInt8]) {
        (bytes, start, stop, usualAfter) = ([], 0, 0, [])
        usualColon = layout.colon ?? Self.colon
        if let indentation = layout.indentation, isBroken {
            first = layout.newline + indent + indentation
            next = first
            end = layout.newline + indent
        } else {
            first = (isMap ? layout.mapPadding : layout.listPadding) ?? []
            next = layout.commaOrUsual
            end = first
        }
    }

    /// - Parameter other: What stands before a new member in the document that it comes from: an
    ///   empty line before it comes along.
    func before(
        _ own: Document.Member?,
        other: ArraySlice<UInt8>?,
        isFirst: Bool
    ) -> [UInt8] {
        guard !isFirst else { return first }
        if let own, own.before.lowerBound != start { return Array(bytes[own.before]) }
        let indent = Document.lineIndent(next[...])
        if own == nil, let other, let indent, Document.lineIndent(other) == indent {
            return Array(other)
        }
        return next
    }

    func colon(_ own: Document.Member?) -> [UInt8] {
        own.map { Array(bytes[$0.colon]) } ?? usualColon
    }

    func after(_ own: Document.Member?) -> [UInt8] {
        guard let own, own.after.lowerBound != stop else { return usualAfter }
        return Array(bytes[own.after])
    }

    private static let colon = [UInt8(ascii: ":"), UInt8(ascii: " ")]
}

extension Layout {
    /// What stands behind a comma within a line: nothing in a document that has no space behind its colons
    /// either.
    fileprivate var commaOrUsual: [UInt8] {
        comma ?? (colon == [UInt8(ascii: ":")] ? [] : [UInt8(ascii: " ")])
    }
}
