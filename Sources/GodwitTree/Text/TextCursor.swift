/// The way of a reader through the bytes of a text, with what JSON and EDN have in common.
struct TextCursor {
    let bytes: [UInt8]
    let format: TreeError.Format
    var offset = 0
    var meter: ReadMeter

    init(bytes: [UInt8], format: TreeError.Format, budget: ReadBudget) {
        self.bytes = bytes
        self.format = format
        meter = ReadMeter(budget)
    }

    var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    /// The byte behind the next one.
    var afterNext: UInt8? { offset + 1 < bytes.count ? bytes[offset + 1] : nil }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        offset += 1
        return true
    }

    func fault(_ reason: String, at place: Int? = nil) -> TreeError {
        .malformed(format: format, offset: place ?? offset, reason: reason)
    }
}

// MARK: - Strings

extension TextCursor {
    /// Reads a string in quotes; only in EDN may it hold control characters as they are.
    mutating func readQuoted() throws(TreeError) -> Key {
        let start = offset
        offset += 1
        try skipPlain(from: start)
        if next == UInt8(ascii: "\"") {
            defer { offset += 1 }
            return try key(bytes[(start + 1)..<offset], from: start)
        }
        var content: [UInt8] = []
        var plain = start + 1
        while next == UInt8(ascii: "\\") {
            try meter.take(memory: 2 * (offset - plain) + Self.escapeCost)
            content.append(contentsOf: bytes[plain..<offset])
            UTF8.encode(try readEscape()) { content.append($0) }
            plain = offset
            try skipPlain(from: start)
        }
        content.append(contentsOf: bytes[plain..<offset])
        offset += 1
        return try key(content[...], from: start)
    }

    /// The most memory that a character of an escaped string takes while its room grows.
    private static let escapeCost = 8

    /// Goes on to the next quote or backslash.
    private mutating func skipPlain(from start: Int) throws(TreeError) {
        while let byte = next {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): return
            case 0..<0x20 where format == .json:
                throw fault("a control character must be escaped")
            default: offset += 1
            }
        }
        throw fault("the string has no end", at: start)
    }

    private mutating func key(
        _ content: ArraySlice<UInt8>,
        from start: Int
    ) throws(TreeError) -> Key {
        try meter.take(memory: ReadCost.bytes(content.count))
        guard let text = String(validating: content, as: UTF8.self) else {
            throw fault("the string is not UTF-8", at: start)
        }
        return Key(text)
    }

    private mutating func readEscape() throws(TreeError) -> Unicode.Scalar {
        let start = offset
        offset += 1
        defer { offset += 1 }
        switch next {
        case UInt8(ascii: "\""): return "\""
        case UInt8(ascii: "\\"): return "\\"
        case UInt8(ascii: "/") where format == .json: return "/"
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{c}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try readScalar(from: start)
        default: throw fault("no such escape", at: start)
        }
    }

    /// Reads `u` and four digits, or a surrogate pair of two such, and stops on the last digit.
    private mutating func readScalar(from start: Int) throws(TreeError) -> Unicode.Scalar {
        let high = try readHex(from: start)
        if let scalar = Unicode.Scalar(high) { return scalar }
        offset += 1
        guard high < 0xdc00, next == UInt8(ascii: "\\"), afterNext == UInt8(ascii: "u") else {
            throw fault("half of a surrogate pair stands alone", at: start)
        }
        offset += 1
        let low = try readHex(from: start)
        guard (0xdc00..<0xe000).contains(low),
            let scalar = Unicode.Scalar(0x1_0000 + (high - 0xd800) << 10 + (low - 0xdc00))
        else { throw fault("half of a surrogate pair stands alone", at: start) }
        return scalar
    }

    private mutating func readHex(from start: Int) throws(TreeError) -> UInt32 {
        guard bytes.count - offset > 4 else { throw fault("the escape has no end", at: start) }
        var code: UInt32 = 0
        for place in (offset + 1)...(offset + 4) {
            guard let digit = bytes[place].hexDigit else {
                throw fault("four hexadecimal digits were expected", at: start)
            }
            code = code << 4 | UInt32(digit)
        }
        offset += 4
        return code
    }
}

extension UInt8 {
    /// The value of this letter as a hexadecimal digit; nil for any other.
    var hexDigit: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
