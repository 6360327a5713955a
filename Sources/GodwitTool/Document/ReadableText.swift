import GodwitTree

/// A document as lines that a diff of text can compare, for people.
///
/// Each scalar has a line of its own, and no comma, so that a change touches the lines of what
/// changed and no other. Keys keep the order of the document, numbers their spelling.
///
/// - Text of several lines, also as a list of lines, is shown line by line behind a bar; so is the
///   source of each cell of a notebook, however long it is.
/// - A point, that is a list of at most four numbers, stays on one line.
/// - Of a long word, such as a picture in Base64, the beginning, the size and a digest are shown.
struct ReadableText {
    private let document: Document
    private let isNotebook: Bool
    private(set) var text = ""

    init(_ document: Document) {
        self.document = document
        isNotebook = document.value["nbformat"] != nil && document.value["cells"] != nil
        write(document.root, document.value, prefix: "", level: 0)
    }

    private mutating func write(
        _ node: Document.Node,
        _ value: Value,
        prefix: String,
        level: Int
    ) {
        switch (node.content, value) {
        case (.map(let members), .map(let map)) where !members.isEmpty:
            line(prefix + "{", level)
            for member in members {
                guard let key = member.key, let value = map[key] else { continue }
                write(member.node, value, prefix: name(key) + ": ", level: level + 1)
            }
            line("}", level)
        case (.list(let members), .list(let items)) where !members.isEmpty:
            if let point = point(members) { return line(prefix + point, level) }
            if let lines = Self.lines(of: items, isText: isText(prefix)) {
                return write(block: lines, prefix + "[|", level)
            }
            line(prefix + "[", level)
            for (member, item) in zip(members, items) {
                write(member.node, item, prefix: "", level: level + 1)
            }
            line("]", level)
        case (_, .string(let key)):
            let text = key.text
            guard text.utf8.contains(UInt8(ascii: "\n")) || isText(prefix) else {
                return line(prefix + shown(text), level)
            }
            write(block: text, prefix + "|", level)
        default: line(prefix + spelling(node), level)
        }
    }

    /// Whether the value of this key is source, also where it has one line only.
    private func isText(_ prefix: String) -> Bool { isNotebook && prefix == "\"source\": " }

    private mutating func line(_ content: String, _ level: Int) {
        text += String(repeating: "  ", count: level) + content + "\n"
    }

    private mutating func write(block: String, _ head: String, _ level: Int) {
        line(head, level)
        for part in block.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false) {
            line(blockLine(String(part)), level + 1)
        }
    }

    private func spelling(_ node: Document.Node) -> String {
        let text = String(decoding: document.bytes[node.range], as: UTF8.self)
        if case .scalar = node.content { return text }
        return node.members.isEmpty ? text.filter { !$0.isWhitespace } : text
    }

    private func name(_ key: Key) -> String { Layout.compact.text(of: .string(key)) }

    private func shown(_ text: String) -> String {
        guard let short = Self.shortened(text) else {
            return Layout.compact.text(of: .string(Key(text))).withoutControls
        }
        return short
    }

    /// A line of a block.
    ///
    /// A blank behind the bar says that the text stands there as it is: one that is long, or has other
    /// control characters than tabs, stands in quotes.
    private func blockLine(_ text: String) -> String {
        if let short = Self.shortened(text) { return "|" + short }
        guard text.withoutControls != text else { return "| " + text }
        return "|" + Layout.compact.text(of: .string(Key(text))).withoutControls
    }

    /// Nil for what is short, or has words.
    private static func shortened(_ text: String) -> String? {
        guard text.utf8.count > wordMax, !text.utf8.contains(UInt8(ascii: " ")) else { return nil }
        let digest = Value.string(Key(text)).digest.description.prefix(16)
        let start = String(text.prefix(32)).withoutControls
        return "\"\(start)…\" (\(text.utf8.count) bytes, \(digest))"
    }

    private static let wordMax = 256

    private func point(_ members: [Document.Member]) -> String? {
        guard members.count <= 4 else { return nil }
        let parts = members.map { spelling($0.node) }
        guard parts.allSatisfy({ $0.first == "-" || $0.first?.isNumber == true }) else {
            return nil
        }
        return "[" + parts.joined(separator: ", ") + "]"
    }

    /// The text that a list of lines is: each but the last is one whole line, and no other list is the
    /// same text.
    private static func lines(of items: Value.List, isText: Bool) -> String? {
        let lines = items.compactMap(\.text)
        let newline = UInt8(ascii: "\n")
        let endsLine = { (line: String) in line.utf8.last == newline }
        guard lines.count == items.count, lines.dropLast().allSatisfy(endsLine),
            lines.allSatisfy({ !$0.isEmpty && !$0.utf8.dropLast().contains(newline) }),
            isText || lines.contains(where: endsLine)
        else { return nil }
        return lines.joined()
    }
}
