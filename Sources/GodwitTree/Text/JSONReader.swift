extension Value {
    /// Reads strict JSON (RFC 8259): byte-exact keys, exact 64-bit integers, no duplicate keys.
    ///
    /// ```swift
    /// let item = try Value(json: #"{"name": "Wine", "price": 12.50}"#)
    /// ```
    ///
    /// A number without fraction and exponent is an int, any other the nearest double. An int beyond 64
    /// bits and a number beyond a double's range are refused.
    ///
    /// - Throws: ``TreeError/malformed(format:offset:reason:)`` with the byte of the fault,
    ///   ``TreeError/tooDeep(limit:)`` or ``TreeError/overBudget(_:limit:)``.
    public init(
        json text: String,
        depthMax: Int = Value.depthMax,
        budget: ReadBudget = .standard
    ) throws(TreeError) {
        try self.init(json: Array(text.utf8), depthMax: depthMax, budget: budget)
    }

    /// Reads strict JSON from UTF-8 bytes.
    public init(
        json bytes: [UInt8],
        depthMax: Int = Value.depthMax,
        budget: ReadBudget = .standard
    ) throws(TreeError) {
        var reader = JSONReader(bytes: bytes, depthMax: depthMax, budget: budget)
        self = try reader.readDocument()
    }
}

extension Value {
    /// Reads JSON of JavaScript's: it writes doubles up to 10²¹ as integers, so that an integer beyond 64 bits is
    /// the nearest double.
    package init(
        javaScriptJSON bytes: [UInt8],
        depthMax: Int,
        budget: ReadBudget
    ) throws(TreeError) {
        var reader = JSONReader(bytes: bytes, depthMax: depthMax, budget: budget)
        reader.roundsIntegers = true
        self = try reader.readDocument()
    }
}

struct JSONReader {
    private var cursor: TextCursor
    private let depthMax: Int
    /// Whether an integer beyond 64 bits is the nearest double.
    var roundsIntegers = false

    init(bytes: [UInt8], depthMax: Int, budget: ReadBudget) {
        cursor = TextCursor(bytes: bytes, format: .json, budget: budget)
        self.depthMax = depthMax
    }

    mutating func readDocument() throws(TreeError) -> Value {
        skipSpace()
        let value = try readValue(depthLeft: depthMax)
        skipSpace()
        guard cursor.offset == cursor.bytes.count else {
            throw cursor.fault("there is more after the value")
        }
        return value
    }

    private mutating func readValue(depthLeft: Int) throws(TreeError) -> Value {
        switch cursor.next {
        case UInt8(ascii: "{"): return try readMap(depthLeft: depthLeft)
        case UInt8(ascii: "["): return try readList(depthLeft: depthLeft)
        case UInt8(ascii: "\""): return .string(try cursor.readQuoted())
        case UInt8(ascii: "t"): return try readWord("true", .bool(true))
        case UInt8(ascii: "f"): return try readWord("false", .bool(false))
        case UInt8(ascii: "n"): return try readWord("null", .null)
        case UInt8(ascii: "-"), .some(UInt8(ascii: "0")...UInt8(ascii: "9")):
            return try readNumber()
        case nil: throw cursor.fault("the input ends too early")
        default: throw cursor.fault("no value begins like this")
        }
    }
}

extension JSONReader {
    private mutating func readMap(depthLeft: Int) throws(TreeError) -> Value {
        guard depthLeft > 0 else { throw .tooDeep(limit: depthMax) }
        let start = cursor.offset
        cursor.offset += 1
        var entries: [Value.Map.Entry] = []
        skipSpace()
        if cursor.skip("}") { return .map([:]) }
        repeat {
            skipSpace()
            try cursor.meter.take(memory: ReadCost.entry(entries.count + 1))
            guard cursor.next == UInt8(ascii: "\"") else {
                throw cursor.fault("a key was expected")
            }
            let key = try cursor.readQuoted()
            skipSpace()
            guard cursor.skip(":") else { throw cursor.fault("a colon was expected") }
            skipSpace()
            let value = try readValue(depthLeft: depthLeft - 1)
            entries.append(Value.Map.Entry(key: key, value: value))
            skipSpace()
        } while cursor.skip(",")
        guard cursor.skip("}") else {
            throw cursor.fault("a comma or the end of the object was expected")
        }
        switch Value.Map.build(entries) {
        case .success(let map): return .map(map)
        case .failure(let twice):
            throw cursor.fault("the key \"\(twice.key)\" occurs twice in this object", at: start)
        }
    }

    private mutating func readList(depthLeft: Int) throws(TreeError) -> Value {
        guard depthLeft > 0 else { throw .tooDeep(limit: depthMax) }
        cursor.offset += 1
        var items: [Value] = []
        skipSpace()
        if cursor.skip("]") { return .list(items) }
        repeat {
            skipSpace()
            try cursor.meter.take(memory: ReadCost.item(items.count + 1))
            items.append(try readValue(depthLeft: depthLeft - 1))
            skipSpace()
        } while cursor.skip(",")
        guard cursor.skip("]") else {
            throw cursor.fault("a comma or the end of the array was expected")
        }
        return .list(items)
    }

    private mutating func readWord(_ word: String, _ value: Value) throws(TreeError) -> Value {
        guard cursor.bytes[cursor.offset...].starts(with: word.utf8) else {
            throw cursor.fault("an unknown word")
        }
        cursor.offset += word.utf8.count
        return value
    }

    private mutating func readNumber() throws(TreeError) -> Value {
        let start = cursor.offset
        var isInteger = true
        _ = cursor.skip("-")
        if !cursor.skip("0") { try skipDigits() }
        if cursor.skip(".") {
            isInteger = false
            try skipDigits()
        }
        if cursor.skip("e") || cursor.skip("E") {
            isInteger = false
            if !cursor.skip("+") { _ = cursor.skip("-") }
            try skipDigits()
        }
        let digits = cursor.bytes[start..<cursor.offset]
        if isInteger, digits.count <= Self.safeDigits { return .int(Self.integer(digits)) }
        try cursor.meter.take(memory: ReadCost.bytes(digits.count))
        let lexeme = String(decoding: digits, as: UTF8.self)
        if isInteger {
            if let int = Int64(lexeme) { return .int(int) }
            if roundsIntegers, let double = Double(lexeme), let finite = Finite(double) {
                return .double(finite)
            }
            throw cursor.fault("the integer does not fit in 64 bits", at: start)
        }
        if let double = Double(lexeme), let finite = Finite(double) { return .double(finite) }
        throw cursor.fault("the number is beyond a double's range", at: start)
    }

    /// So many digits, with a sign among them, fit in 64 bits.
    private static let safeDigits = 18

    private static func integer(_ lexeme: ArraySlice<UInt8>) -> Int64 {
        let isNegative = lexeme.first == UInt8(ascii: "-")
        let magnitude = lexeme.dropFirst(isNegative ? 1 : 0).reduce(0 as Int64) { number, digit in
            number &* 10 &+ Int64(digit &- UInt8(ascii: "0"))
        }
        return isNegative ? -magnitude : magnitude
    }
}

extension JSONReader {
    private mutating func skipSpace() {
        while let byte = cursor.next, byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 {
            cursor.offset += 1
        }
    }

    private mutating func skipDigits() throws(TreeError) {
        let start = cursor.offset
        while let byte = cursor.next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
            cursor.offset += 1
        }
        guard cursor.offset > start else { throw cursor.fault("a digit was expected") }
    }
}
