extension Value {
    /// Reads strict JSON (RFC 8259): byte-exact keys, exact 64-bit integers, no duplicate keys.
    ///
    /// ```swift
    /// let item = try Value(json: #"{"name": "Wine", "price": 12.50}"#)
    /// ```
    ///
    /// A number without fraction and exponent is an int, any other a double. A number that
    /// neither can hold is refused rather than rounded to something else.
    ///
    /// - Throws: ``TreeError/malformed(format:offset:reason:)`` with the byte of the fault, or
    ///   ``TreeError/tooDeep(limit:)``.
    public init(json text: String, depthMax: Int = Value.depthMax) throws(TreeError) {
        try self.init(json: Array(text.utf8), depthMax: depthMax)
    }

    /// Reads strict JSON from UTF-8 bytes.
    public init(json bytes: [UInt8], depthMax: Int = Value.depthMax) throws(TreeError) {
        var reader = JSONReader(bytes: bytes, depthMax: depthMax)
        self = try reader.readDocument()
    }
}

struct JSONReader {
    private let bytes: [UInt8]
    private let depthMax: Int
    private var offset = 0

    init(bytes: [UInt8], depthMax: Int) {
        self.bytes = bytes
        self.depthMax = depthMax
    }

    mutating func readDocument() throws(TreeError) -> Value {
        skipSpace()
        let value = try readValue(depthLeft: depthMax)
        skipSpace()
        guard offset == bytes.count else { throw fault("there is more after the value") }
        return value
    }

    private mutating func readValue(depthLeft: Int) throws(TreeError) -> Value {
        switch next {
        case UInt8(ascii: "{"): return try readMap(depthLeft: depthLeft)
        case UInt8(ascii: "["): return try readList(depthLeft: depthLeft)
        case UInt8(ascii: "\""): return .string(try readString())
        case UInt8(ascii: "t"): return try readWord("true", .bool(true))
        case UInt8(ascii: "f"): return try readWord("false", .bool(false))
        case UInt8(ascii: "n"): return try readWord("null", .null)
        case UInt8(ascii: "-"), .some(UInt8(ascii: "0")...UInt8(ascii: "9")):
            return try readNumber()
        case nil: throw fault("the input ends too early")
        default: throw fault("no value begins like this")
        }
    }
}

extension JSONReader {
    private mutating func readMap(depthLeft: Int) throws(TreeError) -> Value {
        guard depthLeft > 0 else { throw .tooDeep(limit: depthMax) }
        let start = offset
        offset += 1
        var entries: [Value.Map.Entry] = []
        skipSpace()
        if skip("}") { return .map([:]) }
        repeat {
            skipSpace()
            guard next == UInt8(ascii: "\"") else { throw fault("a key was expected") }
            let key = try readString()
            skipSpace()
            guard skip(":") else { throw fault("a colon was expected") }
            skipSpace()
            let value = try readValue(depthLeft: depthLeft - 1)
            entries.append(Value.Map.Entry(key: key, value: value))
            skipSpace()
        } while skip(",")
        guard skip("}") else { throw fault("a comma or the end of the object was expected") }
        switch Value.Map.build(entries) {
        case .success(let map): return .map(map)
        case .failure(let twice):
            throw fault("the key \"\(twice.key)\" occurs twice in this object", at: start)
        }
    }

    private mutating func readList(depthLeft: Int) throws(TreeError) -> Value {
        guard depthLeft > 0 else { throw .tooDeep(limit: depthMax) }
        offset += 1
        var items: [Value] = []
        skipSpace()
        if skip("]") { return .list(items) }
        repeat {
            skipSpace()
            items.append(try readValue(depthLeft: depthLeft - 1))
            skipSpace()
        } while skip(",")
        guard skip("]") else { throw fault("a comma or the end of the array was expected") }
        return .list(items)
    }

    private mutating func readWord(_ word: String, _ value: Value) throws(TreeError) -> Value {
        guard bytes[offset...].starts(with: word.utf8) else { throw fault("an unknown word") }
        offset += word.utf8.count
        return value
    }

    private mutating func readNumber() throws(TreeError) -> Value {
        let start = offset
        var isInteger = true
        _ = skip("-")
        if !skip("0") { try skipDigits() }
        if skip(".") {
            isInteger = false
            try skipDigits()
        }
        if skip("e") || skip("E") {
            isInteger = false
            if !skip("+") { _ = skip("-") }
            try skipDigits()
        }
        let lexeme = String(decoding: bytes[start..<offset], as: UTF8.self)
        if isInteger {
            if let int = Int64(lexeme) { return .int(int) }
            throw fault("the integer does not fit in 64 bits", at: start)
        }
        if let double = Double(lexeme), let finite = Finite(double) { return .double(finite) }
        throw fault("the number is beyond a double's range", at: start)
    }
}

extension JSONReader {
    private mutating func readString() throws(TreeError) -> Key {
        let start = offset
        offset += 1
        var content: [UInt8] = []
        var plain = offset
        while true {
            guard let byte = next else { throw fault("the string has no end", at: start) }
            switch byte {
            case UInt8(ascii: "\""):
                content.append(contentsOf: bytes[plain..<offset])
                offset += 1
                guard let text = String(validating: content, as: UTF8.self) else {
                    throw fault("the string is not UTF-8", at: start)
                }
                return Key(text)
            case UInt8(ascii: "\\"):
                content.append(contentsOf: bytes[plain..<offset])
                content.append(contentsOf: String(try readEscape()).utf8)
                plain = offset
            case 0..<0x20:
                throw fault("a control character must be escaped")
            default:
                offset += 1
            }
        }
    }

    private mutating func readEscape() throws(TreeError) -> Character {
        let start = offset
        offset += 1
        defer { offset += 1 }
        switch next {
        case UInt8(ascii: "\""): return "\""
        case UInt8(ascii: "\\"): return "\\"
        case UInt8(ascii: "/"): return "/"
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{c}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return Character(try readScalar(from: start))
        default: throw fault("no such escape", at: start)
        }
    }

    /// Reads `u` and four digits, or a surrogate pair of two such, and stops on the last digit.
    private mutating func readScalar(from start: Int) throws(TreeError) -> Unicode.Scalar {
        let high = try readHex(from: start)
        if let scalar = Unicode.Scalar(high) { return scalar }
        offset += 1
        guard high < 0xdc00, next == UInt8(ascii: "\\"), bytes.count > offset + 1,
            bytes[offset + 1] == UInt8(ascii: "u")
        else { throw fault("half of a surrogate pair stands alone", at: start) }
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
        for byte in bytes[(offset + 1)...(offset + 4)] {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue, byte < 0x80 else {
                throw fault("four hexadecimal digits were expected", at: start)
            }
            code = code << 4 | UInt32(digit)
        }
        offset += 4
        return code
    }
}

extension JSONReader {
    private var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        offset += 1
        return true
    }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 {
            offset += 1
        }
    }

    private mutating func skipDigits() throws(TreeError) {
        let start = offset
        while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
            offset += 1
        }
        guard offset > start else { throw fault("a digit was expected") }
    }

    private func fault(_ reason: String, at place: Int? = nil) -> TreeError {
        .malformed(format: .json, offset: place ?? offset, reason: reason)
    }
}
