internal import GodwitStore
internal import GodwitTree

/// Reads the body of a message, field after field.
///
/// The other side may be hostile: nothing is allocated for a count before as many bytes are there, and
/// all fields together share a budget.
struct WireReader {
    private let bytes: [UInt8]
    private var position = 0
    private var meter: ReadMeter

    init(_ frame: WireFrame) {
        bytes = frame.body
        meter = ReadMeter(frame.budget)
    }

    /// What is left of the message's budget.
    var budget: ReadBudget { meter.left }

    private var left: Int { bytes.count - position }

    static func malformed(_ reason: String) -> ReplicationError {
        .malformedMessage(reason: reason)
    }

    mutating func byte() throws(ReplicationError) -> UInt8 {
        guard left > 0 else { throw Self.malformed("it ends in the middle of a field") }
        defer { position += 1 }
        return bytes[position]
    }

    /// Reads a number below 2^56, so that a receiver may count on from it.
    ///
    /// - Throws: Also for a number in more bytes than it needs, so that one message has one form.
    mutating func number() throws(ReplicationError) -> Int64 {
        var number: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 56, by: 7) {
            let byte = try byte()
            number |= UInt64(byte & 0x7F) << shift
            guard byte & 0x80 == 0 else { continue }
            guard byte != 0 || shift == 0 else { throw Self.malformed("a number is too long") }
            return Int64(number)
        }
        throw Self.malformed("a number is too large")
    }

    /// Reads a nonce, from which its receiver may count on.
    mutating func nonce() throws(ReplicationError) -> Int64 {
        let nonce = try number()
        guard nonce < 1 << 55 else { throw Self.malformed("a nonce is too large") }
        return nonce
    }

    /// Checks the version of an object.
    static func version(_ number: Int64) throws(ReplicationError) -> Int {
        guard (1..<1 << 48).contains(number) else {
            throw malformed("an object has no such version")
        }
        return Int(number)
    }

    /// How many fields follow, of which each has at least one byte.
    mutating func count() throws(ReplicationError) -> Int {
        let count = try number()
        guard count <= left else { throw Self.malformed("there are fewer fields than it says") }
        return Int(count)
    }

    mutating func fixed(_ count: Int) throws(ReplicationError) -> [UInt8] {
        guard count <= left else { throw Self.malformed("it ends in the middle of a field") }
        defer { position += count }
        return Array(bytes[position..<(position + count)])
    }

    mutating func fixed<Number: FixedWidthInteger>(
        _ type: Number.Type
    ) throws(ReplicationError) -> Number {
        try fixed(Number.bitWidth / 8).reduce(0) { $0 << 8 | Number(truncatingIfNeeded: $1) }
    }

    mutating func block() throws(ReplicationError) -> [UInt8] { try fixed(count()) }

    /// Pays for what a field takes in memory.
    mutating func take(memory: Int) throws(ReplicationError) {
        try refusing { () throws(TreeError) in try meter.take(memory: memory) }
    }

    /// Reads a value from canonical bytes.
    mutating func value() throws(ReplicationError) -> Value {
        let bytes = try block()
        return try refusing { () throws(TreeError) in
            try Value(canonicalBytes: bytes, meter: &meter)
        }
    }

    mutating func text() throws(ReplicationError) -> Key {
        let bytes = try block()
        try take(memory: WireCost.text(bytes.count))
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Self.malformed("a text is not UTF-8")
        }
        return Key(text)
    }

    mutating func key() throws(ReplicationError) -> ObjectKey {
        let collection = try text()
        return ObjectKey(collection: collection, key: try text())
    }

    mutating func flag() throws(ReplicationError) -> Bool {
        switch try byte() {
        case 0: return false
        case 1: return true
        default: throw Self.malformed("a field is neither there nor absent")
        }
    }

    mutating func optional<Field>(
        _ read: (inout WireReader) throws(ReplicationError) -> Field
    ) throws(ReplicationError) -> Field? {
        try flag() ? try read(&self) : nil
    }

    mutating func list<Field>(
        countMax: Int = .max,
        _ read: (inout WireReader) throws(ReplicationError) -> Field
    ) throws(ReplicationError) -> [Field] {
        let count = try count()
        guard count <= countMax else { throw Self.malformed("a list has more than \(countMax)") }
        var fields: [Field] = []
        for _ in 0..<count { fields.append(try read(&self)) }
        return fields
    }

    func finish() throws(ReplicationError) {
        guard left == 0 else { throw Self.malformed("there is more than it says") }
    }
}
