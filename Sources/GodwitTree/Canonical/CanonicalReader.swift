extension Value {
    /// Reads a value from its canonical bytes, and refuses every other encoding of it.
    ///
    /// What is accepted encodes again to the same bytes. Nothing is allocated on the word of the
    /// input alone: a length beyond the end is refused before room is made for it.
    ///
    /// - Throws: ``TreeError/malformed(format:offset:reason:)`` with the place of the fault,
    ///   ``TreeError/tooDeep(limit:)`` or ``TreeError/overBudget(_:limit:)``.
    public init(
        canonicalBytes bytes: [UInt8],
        depthMax: Int = Value.depthMax,
        budget: ReadBudget = .standard
    ) throws(TreeError) {
        var meter = ReadMeter(budget)
        try self.init(canonicalBytes: bytes, depthMax: depthMax, meter: &meter)
    }

    /// Reads one of several values that share a budget.
    package init(
        canonicalBytes bytes: [UInt8],
        depthMax: Int = Value.depthMax,
        meter: inout ReadMeter
    ) throws(TreeError) {
        var reader = CanonicalReader(bytes: bytes, depthMax: depthMax, meter: meter)
        self = try reader.readValue(depthLeft: depthMax)
        guard reader.offset == bytes.count else {
            throw reader.fault("there is more after the value")
        }
        meter = reader.meter
    }
}

struct CanonicalReader {
    private let bytes: [UInt8]
    private let depthMax: Int
    private(set) var offset = 0
    var meter: ReadMeter

    /// Room made before the items are seen: nested lists that all lie about their length must not
    /// add up to more memory than the input could fill.
    private static let reserveMax = 1_024

    init(bytes: [UInt8], depthMax: Int, meter: ReadMeter) {
        self.bytes = bytes
        self.depthMax = depthMax
        self.meter = meter
    }

    mutating func readValue(depthLeft: Int) throws(TreeError) -> Value {
        let start = offset
        let first = try readByte()
        let low = first & 0x1f
        guard let major = MajorType(rawValue: first >> 5) else { throw fault("no such type") }
        switch major {
        case .positive:
            return .int(try signed(readArgument(low), from: start))
        case .negative:
            return .int(~(try signed(readArgument(low), from: start)))
        case .bytes:
            return .bytes(Array(try readBytes(low)))
        case .string:
            return .string(try readText(low))
        case .list:
            return try readList(count: readCount(low), depthLeft: depthLeft)
        case .map:
            return try readMap(count: readCount(low), depthLeft: depthLeft)
        case .tag:
            throw fault("tags are not used", at: start)
        case .simple:
            return try readSimple(low, from: start)
        }
    }

    func fault(_ reason: String, at place: Int? = nil) -> TreeError {
        .malformed(format: .cbor, offset: place ?? offset, reason: reason)
    }
}

extension CanonicalReader {
    private mutating func readList(count: Int, depthLeft: Int) throws(TreeError) -> Value {
        guard depthLeft > 0 else { throw .tooDeep(limit: depthMax) }
        try meter.take(memory: ReadCost.list(count))
        var items: [Value] = []
        items.reserveCapacity(min(count, Self.reserveMax))
        for _ in 0..<count { items.append(try readValue(depthLeft: depthLeft - 1)) }
        return .list(items)
    }

    private mutating func readMap(count: Int, depthLeft: Int) throws(TreeError) -> Value {
        guard depthLeft > 0 else { throw .tooDeep(limit: depthMax) }
        try meter.take(memory: ReadCost.map(count))
        var entries: [Value.Map.Entry] = []
        entries.reserveCapacity(min(count, Self.reserveMax))
        for _ in 0..<count {
            let start = offset
            let key = try readKey()
            if let last = entries.last, !(last.key < key) {
                throw fault("keys are not in canonical order, or one occurs twice", at: start)
            }
            let value = try readValue(depthLeft: depthLeft - 1)
            entries.append(Value.Map.Entry(key: key, value: value))
        }
        return .map(Value.Map(ascending: entries))
    }

    mutating func readKey() throws(TreeError) -> Key {
        let first = try readByte()
        guard first >> 5 == MajorType.string.rawValue else {
            throw fault("a key is not a string", at: offset - 1)
        }
        return try readText(first & 0x1f)
    }

    private mutating func readText(_ low: UInt8) throws(TreeError) -> Key {
        let start = offset
        let slice = try readBytes(low)
        guard let text = String(validating: slice, as: UTF8.self) else {
            throw fault("a string is not UTF-8", at: start)
        }
        return Key(text)
    }

    private mutating func readSimple(_ low: UInt8, from start: Int) throws(TreeError) -> Value {
        switch low {
        case 20: return .bool(false)
        case 21: return .bool(true)
        case 22: return .null
        case 25...27: break
        default: throw fault("this simple value is not used", at: start)
        }
        let double =
            switch low {
            case 25: HalfFloat(bitPattern: try readBigEndian()).double
            case 26: Double(Float(bitPattern: try readBigEndian()))
            default: Double(bitPattern: try readBigEndian())
            }
        return try shortest(double, from: start)
    }

    /// Accepts a double only in the form in which it would be written.
    private func shortest(_ double: Double, from start: Int) throws(TreeError) -> Value {
        guard let finite = Finite(double) else { throw fault("not a finite number", at: start) }
        let value = Value.double(finite)
        guard value.canonicalBytes.elementsEqual(bytes[start..<offset]) else {
            throw fault("a float is not in its shortest form", at: start)
        }
        return value
    }
}

extension CanonicalReader {
    var isAtEnd: Bool { offset == bytes.count }
    var bytesLeft: Int { bytes.count - offset }

    func peekByte() throws(TreeError) -> UInt8 {
        guard offset < bytes.count else { throw fault("the input ends too early") }
        return bytes[offset]
    }

    mutating func readByte() throws(TreeError) -> UInt8 {
        let byte = try peekByte()
        offset += 1
        return byte
    }

    mutating func readBytes(count: Int) throws(TreeError) -> ArraySlice<UInt8> {
        guard count <= bytesLeft else { throw fault("the input ends too early") }
        defer { offset += count }
        return bytes[offset..<(offset + count)]
    }

    /// The count in the head of a list or a map.
    mutating func readHeadCount() throws(TreeError) -> Int { try readCount(readByte() & 0x1f) }

    /// UTF-8 text of a size that is known.
    mutating func readText(sizeInBytes: Int) throws(TreeError) -> Key {
        guard sizeInBytes <= bytesLeft else { throw fault("the input ends too early") }
        try meter.take(memory: ReadCost.bytes(sizeInBytes))
        guard let text = String(validating: bytes[offset..<(offset + sizeInBytes)], as: UTF8.self)
        else { throw fault("a string is not UTF-8") }
        offset += sizeInBytes
        return Key(text)
    }

    private mutating func readBigEndian<Integer: FixedWidthInteger>() throws(TreeError) -> Integer {
        let width = Integer.bitWidth / 8
        guard bytesLeft >= width else { throw fault("the input ends too early") }
        var result: Integer = 0
        for byte in bytes[offset..<(offset + width)] { result = result << 8 | Integer(byte) }
        offset += width
        return result
    }

    private mutating func readArgument(_ low: UInt8) throws(TreeError) -> UInt64 {
        let start = offset
        let (argument, least): (UInt64, UInt64)
        switch low {
        case 0..<24: return UInt64(low)
        case 24: (argument, least) = (UInt64(try readByte()), 24)
        case 25: (argument, least) = (UInt64(try readBigEndian() as UInt16), 0x100)
        case 26: (argument, least) = (UInt64(try readBigEndian() as UInt32), 0x1_0000)
        case 27: (argument, least) = (try readBigEndian(), 0x1_0000_0000)
        default: throw fault("lengths are always definite", at: start - 1)
        }
        guard argument >= least else { throw fault("not the shortest form", at: start - 1) }
        return argument
    }

    /// The number of items to come; each takes at least a byte, so more cannot be there.
    private mutating func readCount(_ low: UInt8) throws(TreeError) -> Int {
        let argument = try readArgument(low)
        guard argument <= UInt64(bytesLeft) else {
            throw fault("the input ends too early")
        }
        return Int(argument)
    }

    private mutating func readBytes(_ low: UInt8) throws(TreeError) -> ArraySlice<UInt8> {
        let count = try readCount(low)
        try meter.take(memory: ReadCost.bytes(count))
        defer { offset += count }
        return bytes[offset..<(offset + count)]
    }

    private func signed(_ argument: UInt64, from start: Int) throws(TreeError) -> Int64 {
        guard let signed = Int64(exactly: argument) else {
            throw fault("an integer is beyond 64 bits", at: start)
        }
        return signed
    }
}
