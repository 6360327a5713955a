extension Value {
    /// Reads one value from EDN text.
    ///
    /// ```swift
    /// let list = try Value(edn: "{:items [\"Bread\", \"Wine\"] ; to buy\n}")
    /// ```
    ///
    /// What ``ednText()`` writes reads back as the same value. Of what people write besides, a
    /// keyword is the string of its name, so that `:a` and `"a"` are one key; `(1 2)` is a vector;
    /// `\c` is a string of one character; `7N` is an int. Symbols, sets, ratios, exact decimals
    /// (`1.5M`), integers beyond 64 bits and tags other than `#bytes` are refused rather than
    /// turned into something else, unless `#_` discards them.
    ///
    /// - Throws: ``TreeError/malformed(format:offset:reason:)`` with the byte of the fault,
    ///   ``TreeError/tooDeep(limit:)`` or ``TreeError/overBudget(_:limit:)``.
    /// - Complexity: O(*n* log *n*) for maps that are not in order, else O(*n*).
    public init(
        edn text: String,
        depthMax: Int = Value.depthMax,
        budget: ReadBudget = .standard
    ) throws(TreeError) {
        try self.init(edn: Array(text.utf8), depthMax: depthMax, budget: budget)
    }

    /// Reads one value from EDN text in UTF-8 bytes.
    public init(
        edn bytes: [UInt8],
        depthMax: Int = Value.depthMax,
        budget: ReadBudget = .standard
    ) throws(TreeError) {
        var reader = EDNReader(bytes: bytes, depthMax: depthMax, budget: budget)
        self = try reader.readDocument().value(depthLeft: depthMax, limit: depthMax)
    }
}

/// Reads EDN, <https://github.com/edn-format/edn>, as far as its elements.
///
/// Only containers are read by recursion, and no deeper than the limit; tags and discards, of
/// which a million may follow each other, are kept on a stack.
struct EDNReader {
    private var cursor: TextCursor
    private let depthMax: Int

    init(bytes: [UInt8], depthMax: Int, budget: ReadBudget) {
        cursor = TextCursor(bytes: bytes, format: .edn, budget: budget)
        self.depthMax = depthMax
    }

    mutating func readDocument() throws(TreeError) -> EDNForm {
        guard let form = try readForm(depthLeft: depthMax) else {
            throw cursor.next == nil ? early : cursor.fault("no value begins like this")
        }
        guard try readForm(depthLeft: depthMax) == nil, cursor.next == nil else {
            throw cursor.fault("there is more after the value")
        }
        return form
    }

    private var early: TreeError { cursor.fault("the input ends too early") }

    /// The next element that is not discarded, with its tags; nil before a closing bracket or the
    /// end.
    private mutating func readForm(depthLeft: Int) throws(TreeError) -> EDNForm? {
        var tags: [Key] = []
        /// For each discard that waits for its element, how many tags stood before it.
        var discards: [Int] = []
        var start = 0
        while true {
            skipSpace()
            if tags.isEmpty { start = cursor.offset }
            switch (cursor.next, cursor.afterNext) {
            case (UInt8(ascii: "#"), UInt8(ascii: "_")):
                cursor.offset += 2
                try cursor.meter.take(memory: ReadCost.tag)
                discards.append(tags.count)
            case (UInt8(ascii: "#"), let letter?) where letter.isLetter:
                cursor.offset += 1
                try cursor.meter.take(memory: ReadCost.tag)
                tags.append(try readToken().key)
            case (nil, _) where tags.isEmpty && discards.isEmpty: return nil
            case (nil, _): throw early
            case (let byte?, _) where byte.isClosing:
                if tags.isEmpty, discards.isEmpty { return nil }
                throw cursor.fault("an element was expected after a tag or #_")
            default:
                try cursor.meter.take(memory: ReadCost.form)
                let content = try readContent(depthLeft: depthLeft)
                guard let level = discards.popLast() else {
                    return EDNForm(offset: start, tags: tags, content: content)
                }
                tags.removeLast(tags.count - level)
            }
        }
    }

    private mutating func readContent(depthLeft: Int) throws(TreeError) -> EDNForm.Content {
        switch (cursor.next, cursor.afterNext) {
        case (UInt8(ascii: "{"), _):
            let start = cursor.offset
            let forms = try readForms(skipping: 1, until: "}", depthLeft: depthLeft)
            guard forms.count.isMultiple(of: 2) else {
                throw cursor.fault("a key has no value in this map", at: start)
            }
            return .map(forms)
        case (UInt8(ascii: "["), _):
            return .list(try readForms(skipping: 1, until: "]", depthLeft: depthLeft))
        case (UInt8(ascii: "("), _):
            return .list(try readForms(skipping: 1, until: ")", depthLeft: depthLeft))
        case (UInt8(ascii: "#"), UInt8(ascii: "{")):
            return .set(try readForms(skipping: 2, until: "}", depthLeft: depthLeft))
        case (UInt8(ascii: "#"), UInt8(ascii: "#")):
            cursor.offset += 2
            _ = try readToken()
            return .foreign("infinities and NaN are not values")
        case (UInt8(ascii: "#"), _): throw cursor.fault("no value begins like this")
        case (UInt8(ascii: "\""), _): return .string(try cursor.readQuoted())
        case (UInt8(ascii: "\\"), _): return .string(try readCharacter())
        default: return try readWord()
        }
    }

    private mutating func readForms(
        skipping opening: Int,
        until close: Unicode.Scalar,
        depthLeft: Int
    ) throws(TreeError) -> [EDNForm] {
        guard depthLeft > 0 else { throw .tooDeep(limit: depthMax) }
        try cursor.meter.take(memory: ReadCost.forms)
        cursor.offset += opening
        var forms: [EDNForm] = []
        while let form = try readForm(depthLeft: depthLeft - 1) { forms.append(form) }
        guard cursor.next != nil else { throw early }
        guard cursor.skip(close) else { throw cursor.fault("\(close) was expected") }
        return forms
    }

    /// Skips what separates elements: space, commas and comments.
    private mutating func skipSpace() {
        while let byte = cursor.next {
            if byte == UInt8(ascii: ";") {
                let rest = cursor.bytes[cursor.offset...]
                cursor.offset = rest.firstIndex(of: UInt8(ascii: "\n")) ?? cursor.bytes.count
            } else if byte.isSpace {
                cursor.offset += 1
            } else {
                return
            }
        }
    }
}

// MARK: - Words

extension EDNReader {
    /// A keyword, a number, nil, true, false, or a symbol.
    private mutating func readWord() throws(TreeError) -> EDNForm.Content {
        let start = cursor.offset
        let token = try readToken()
        switch token.text {
        case "nil": return .null
        case "true": return .bool(true)
        case "false": return .bool(false)
        default: break
        }
        if token.bytes.first == UInt8(ascii: ":") {
            let name = token.bytes.dropFirst()
            guard let first = name.first, first != UInt8(ascii: ":") else {
                throw cursor.fault("a keyword has a name", at: start)
            }
            return .keyword(Key(String(decoding: name, as: UTF8.self)))
        }
        guard EDNNumber.isNumber(token.bytes) else { return .foreign("a symbol is not a value") }
        guard let content = EDNNumber.content(token.bytes) else {
            throw cursor.fault("no number is written like this", at: start)
        }
        return content
    }

    private mutating func readCharacter() throws(TreeError) -> Key {
        let start = cursor.offset
        cursor.offset += 1
        guard let first = cursor.next, first > 0x20 else {
            throw cursor.fault("a character was expected", at: start)
        }
        // The first may be a bracket or a comma, which ends a token elsewhere.
        let name = first.isToken ? try readToken().text : String(Unicode.Scalar(first))
        if !first.isToken { cursor.offset += 1 }
        if name.unicodeScalars.count == 1 { return Key(name) }
        switch name {
        case "newline": return "\n"
        case "return": return "\r"
        case "space": return " "
        case "tab": return "\t"
        case "formfeed": return "\u{c}"
        case "backspace": return "\u{8}"
        default:
            guard name.utf8.count == 5, name.utf8.first == UInt8(ascii: "u"),
                name.utf8.dropFirst().allSatisfy(\.isHexDigit),
                let scalar = UInt32(name.dropFirst(), radix: 16).flatMap(Unicode.Scalar.init)
            else { throw cursor.fault("no character has this name", at: start) }
            return Key(String(scalar))
        }
    }

    private struct Token {
        let bytes: ArraySlice<UInt8>
        let text: String
        var key: Key { Key(text) }
    }

    private mutating func readToken() throws(TreeError) -> Token {
        let start = cursor.offset
        while let byte = cursor.next, byte.isToken { cursor.offset += 1 }
        let bytes = cursor.bytes[start..<cursor.offset]
        guard !bytes.isEmpty else {
            throw cursor.next == nil ? early : cursor.fault("no value begins like this")
        }
        try cursor.meter.take(memory: 2 * ReadCost.bytes(bytes.count))
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw cursor.fault("a word is not UTF-8", at: start)
        }
        return Token(bytes: bytes, text: text)
    }
}

extension UInt8 {
    fileprivate var isSpace: Bool {
        self == 0x20 || (0x09...0x0d).contains(self) || self == UInt8(ascii: ",")
    }

    fileprivate var isClosing: Bool {
        self == UInt8(ascii: "}") || self == UInt8(ascii: "]") || self == UInt8(ascii: ")")
    }

    fileprivate var isLetter: Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) || self >= 0x80
    }

    fileprivate var isHexDigit: Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self)
            || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self | 0x20)
    }

    /// Whether a keyword, a symbol or a number goes on with this byte.
    fileprivate var isToken: Bool {
        switch self {
        case 0...0x20, 0x7f: false
        case UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "\""), UInt8(ascii: "\\"): false
        case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"): false
        case UInt8(ascii: "@"), UInt8(ascii: "^"), UInt8(ascii: "`"), UInt8(ascii: "~"): false
        default: !isClosing
        }
    }
}
