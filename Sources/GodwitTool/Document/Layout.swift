import GodwitTree

/// How a JSON text is laid out, for what is written anew beside what stands in it already.
///
/// What the text does not show is nil, and is written as most programs do.
struct Layout {
    /// The end of a line.
    var newline: [UInt8] = [UInt8(ascii: "\n")]
    /// What a level is indented by; nil when the whole text is on one line.
    var indentation: [UInt8]? = [UInt8(ascii: " "), UInt8(ascii: " ")]
    /// The colon, with the white space around it.
    var colon: [UInt8]?
    /// The white space behind a comma within a line.
    var comma: [UInt8]?
    /// The white space behind `{` and before `}` within a line.
    var mapPadding: [UInt8]?
    /// The white space behind `[` and before `]` within a line.
    var listPadding: [UInt8]?
    var spelling = Spelling()

    /// Which characters of strings are escaped though they need not be.
    struct Spelling: Equatable {
        var escapesNonASCII = false
        var escapesSlashes = false
        var hasCapitalDigits = false
    }

    /// One line without white space.
    static let compact = Layout(indentation: nil, colon: [UInt8(ascii: ":")], comma: [])

    /// One line that people read.
    static let oneLine = Layout(indentation: nil)

    /// Two spaces a level.
    static let indented = Layout()

    private init(
        indentation: [UInt8]? = [UInt8(ascii: " "), UInt8(ascii: " ")],
        colon: [UInt8]? = nil,
        comma: [UInt8]? = nil
    ) {
        (self.indentation, self.colon, self.comma) = (indentation, colon, comma)
    }

    /// The layout that most of a text has.
    init(of root: Document.Node, in bytes: [UInt8]) {
        var survey = LayoutSurvey(bytes: bytes)
        survey.visit(root, indent: [])
        if let end = bytes.firstIndex(of: UInt8(ascii: "\n")), end > 0,
            bytes[end - 1] == UInt8(ascii: "\r")
        {
            newline = [UInt8(ascii: "\r"), UInt8(ascii: "\n")]
        }
        if !root.members.isEmpty { indentation = survey.indentations.commonest }
        colon = survey.colons.commonest
        comma = survey.commas.commonest
        mapPadding = survey.mapPaddings.commonest
        listPadding = survey.listPaddings.commonest
        spelling = survey.spelling
    }

    /// Whether the other layout breaks and indents lines in the same way; what is within a line
    /// differs already where one program has added to the text of another.
    func isBroken(like other: Layout) -> Bool {
        newline == other.newline && indentation == other.indentation
    }

    /// Whether text in the other layout looks as if it was written in this one.
    func isCompatible(with other: Layout) -> Bool {
        func agree(_ left: [UInt8]?, _ right: [UInt8]?) -> Bool {
            left == nil || right == nil || left == right
        }
        return isBroken(like: other)
            && agree(colon, other.colon) && agree(comma, other.comma)
            && agree(mapPadding, other.mapPadding) && agree(listPadding, other.listPadding)
    }
}

/// Counts what a text does in each place where a writer has a choice.
struct LayoutSurvey {
    private let bytes: [UInt8]
    private(set) var indentations = Tally()
    private(set) var colons = Tally()
    private(set) var commas = Tally()
    private(set) var mapPaddings = Tally()
    private(set) var listPaddings = Tally()
    private(set) var spelling = Layout.Spelling()

    init(bytes: [UInt8]) {
        self.bytes = bytes
        examineSpelling()
    }

    mutating func visit(_ node: Document.Node, indent: [UInt8]) {
        guard let first = node.members.first, let last = node.members.last else { return }
        var inner = indent
        if let lineIndent = Document.lineIndent(bytes[first.before]) {
            inner = Array(lineIndent)
            if inner.count > indent.count, inner.starts(with: indent) {
                indentations.count(Array(inner.dropFirst(indent.count)))
            } else {
                indentations.count([])
            }
        } else if Document.lineIndent(bytes[last.after]) == nil {
            if case .map = node.content { mapPaddings.count(Array(bytes[first.before])) }
            if case .list = node.content { listPaddings.count(Array(bytes[first.before])) }
        }
        for (position, member) in node.members.enumerated() {
            if member.key != nil { colons.count(Array(bytes[member.colon])) }
            if position > 0, Document.lineIndent(bytes[member.before]) == nil {
                commas.count(Array(bytes[member.before]))
            }
            visit(member.node, indent: Document.lineIndent(bytes[member.before]) ?? inner)
        }
    }

    /// Escapes need no parser: a backslash stands in strings only.
    private mutating func examineSpelling() {
        var (hasPlainUnicode, hasPlainSlashes, position) = (false, false, 0)
        while position < bytes.count {
            let byte = bytes[position]
            if byte >= 0x80, position > 2 { hasPlainUnicode = true }
            if byte == UInt8(ascii: "/") { hasPlainSlashes = true }
            if byte == UInt8(ascii: "\\"), position + 1 < bytes.count {
                position += 1
                if bytes[position] == UInt8(ascii: "/") { spelling.escapesSlashes = true }
                if bytes[position] == UInt8(ascii: "u") { examineEscape(at: position + 1) }
            }
            position += 1
        }
        if hasPlainUnicode { spelling.escapesNonASCII = false }
        if hasPlainSlashes { spelling.escapesSlashes = false }
    }

    private mutating func examineEscape(at position: Int) {
        let digits = String(decoding: bytes[position...].prefix(4), as: UTF8.self)
        if UInt16(digits, radix: 16) ?? 0 >= 0x80 { spelling.escapesNonASCII = true }
        if digits.contains(where: \.isUppercase) { spelling.hasCapitalDigits = true }
    }
}

/// How often something was seen.
struct Tally {
    private var counts: [[UInt8]: Int] = [:]

    mutating func count(_ bytes: [UInt8]) { counts[bytes, default: 0] += 1 }

    /// What was seen most often; of equals the shortest, and of these the first by their bytes.
    var commonest: [UInt8]? {
        counts.max { left, right in
            if left.value != right.value { return left.value < right.value }
            if left.key.count != right.key.count { return left.key.count > right.key.count }
            return right.key.lexicographicallyPrecedes(left.key)
        }?.key
    }
}

extension Document {
    /// What stands behind the last end of a line in white space; nil when it is within a line.
    static func lineIndent(_ space: ArraySlice<UInt8>) -> [UInt8]? {
        space.lastIndex(of: UInt8(ascii: "\n")).map { Array(space[($0 + 1)...]) }
    }
}
