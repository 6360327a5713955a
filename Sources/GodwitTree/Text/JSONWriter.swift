extension Value {
    /// The value as JSON text, keys in byte order.
    ///
    /// JSON has no byte strings: they are written as hexadecimal text, and do not read back as
    /// bytes. Everything else reads back as the same value.
    ///
    /// - Parameter indentation: Spaces per level, or nil for one line without spaces.
    public func jsonText(indentation: Int? = nil) -> String {
        var writer = JSONWriter(indentation: indentation)
        writer.write(self, level: 0)
        return writer.text
    }
}

struct JSONWriter {
    private let indentation: Int?
    private(set) var text = ""

    init(indentation: Int?) {
        self.indentation = indentation.map { max(0, min($0, Self.indentationMax)) }
    }

    private static let indentationMax = 64

    mutating func write(_ value: Value, level: Int) {
        switch value {
        case .null: text += "null"
        case .bool(let bool): text += bool ? "true" : "false"
        case .int(let int): text += String(int)
        case .double(let double): text += double.double.description
        case .string(let key): text.appendQuoted(key.text)
        case .bytes(let bytes): text.appendQuoted(bytes.hex)
        case .list(let items):
            writeContainer("[", Array(items), "]", level: level) { $0.write($1, level: level + 1) }
        case .map(let map):
            writeContainer("{", map.alphabetical, "}", level: level) { writer, entry in
                writer.text.appendQuoted(entry.key.text)
                writer.text += writer.indentation == nil ? ":" : ": "
                writer.write(entry.value, level: level + 1)
            }
        }
    }

    private mutating func writeContainer<Item>(
        _ open: String,
        _ items: [Item],
        _ close: String,
        level: Int,
        body: (inout JSONWriter, Item) -> Void
    ) {
        text += open
        for (position, item) in items.enumerated() {
            if position > 0 { text += "," }
            breakLine(level: level + 1)
            body(&self, item)
        }
        if !items.isEmpty { breakLine(level: level) }
        text += close
    }

    private mutating func breakLine(level: Int) {
        guard let indentation else { return }
        text += "\n" + String(repeating: " ", count: indentation * level)
    }
}

extension String {
    /// Appends a string in quotes, with the escapes that JSON and EDN share.
    mutating func appendQuoted(_ content: String) {
        append("\"")
        for scalar in content.unicodeScalars {
            switch scalar {
            case "\"": append("\\\"")
            case "\\": append("\\\\")
            case "\n": append("\\n")
            case "\r": append("\\r")
            case "\t": append("\\t")
            case "\u{0}"..<" ":
                append("\\u00" + [UInt8(scalar.value)].hex)
            default: unicodeScalars.append(scalar)
            }
        }
        append("\"")
    }
}

extension Array<UInt8> {
    /// Two lowercase hexadecimal digits a byte.
    package var hex: String {
        String(unsafeUninitializedCapacity: 2 * count) { text in
            for (index, byte) in enumerated() {
                text[2 * index] = (byte >> 4).hexLetter
                text[2 * index + 1] = (byte & 15).hexLetter
            }
            return 2 * count
        }
    }

    /// The bytes that hexadecimal text stands for, or nil when it is not such text.
    package init?(hex text: String) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count / 2)
        var high: UInt8?
        for letter in text.utf8 {
            guard let digit = letter.hexDigit else { return nil }
            if let first = high.take() { bytes.append(first << 4 | digit) } else { high = digit }
        }
        guard high == nil else { return nil }
        self = bytes
    }
}

extension UInt8 {
    /// The digit for a number below 16.
    fileprivate var hexLetter: UInt8 {
        self < 10 ? UInt8(ascii: "0") + self : UInt8(ascii: "a") - 10 + self
    }
}
