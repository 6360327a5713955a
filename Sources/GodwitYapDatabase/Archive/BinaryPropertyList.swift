// Reads the binary format of property lists, which `NSKeyedArchiver` and `PropertyListEncoder` write.
//
// Foundation's own reader hides the references of a keyed archive on some systems, and stops the
// program at some damaged ones. The bytes come from a file that may be damaged, so:
//
//   (1) Each offset and each count is compared with the bytes that are there before it is used.
//   (2) Nothing lies deeper than `PropertyList.depthMax`; so a list that contains itself ends.
//   (3) Each object that is read is paid for by the memory that it takes, each time and before it is
//       made: a few bytes cannot unfold to more than about 64 times as much, plus 16 MiB.

internal import GodwitTree

/// The bytes of a binary property list.
struct BinaryPropertyList {
    static let magic = Array("bplist00".utf8)
    private static let trailerSize = 32
    /// What an object takes in memory beside its text or data, and what a reference to it takes.
    private static let objectSizeInBytes = 40
    private static let referenceSizeInBytes = 8

    private let bytes: [UInt8]
    private let offsetTable: Int
    private let offsetSize: Int
    private let referenceSize: Int
    private let count: Int
    private let top: Int
    private var budget: Int

    init(_ bytes: [UInt8]) throws(YapDatabaseError) {
        guard bytes.starts(with: Self.magic), bytes.count >= Self.magic.count + Self.trailerSize
        else { throw Self.malformed("it is too short") }
        let trailer = bytes.count - Self.trailerSize
        self.bytes = bytes
        offsetSize = Int(bytes[trailer + 6])
        referenceSize = Int(bytes[trailer + 7])
        budget = 1 << 24 + min(bytes.count, 1 << 40) * 64
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize),
            let count = Self.number(bytes[(trailer + 8)..<(trailer + 16)]),
            let top = Self.number(bytes[(trailer + 16)..<(trailer + 24)]),
            let table = Self.number(bytes[(trailer + 24)..<(trailer + 32)]),
            count > 0, top < count, table >= Self.magic.count, table < trailer,
            count <= (trailer - table) / offsetSize
        else { throw Self.malformed("its trailer is damaged") }
        (self.count, self.top, offsetTable) = (count, top, table)
    }

    mutating func root() throws(YapDatabaseError) -> PropertyList {
        try object(top, depth: 0)
    }

    private static func malformed(_ reason: String) -> YapDatabaseError {
        .unreadableData(reason: "the property list is damaged: \(reason)")
    }

    /// Returns nil for a number that no `Int` holds.
    private static func number(_ bytes: ArraySlice<UInt8>) -> Int? {
        var number: UInt64 = 0
        for byte in bytes {
            guard number >> 56 == 0 else { return nil }
            number = number << 8 | UInt64(byte)
        }
        return Int(exactly: number)
    }
}

extension BinaryPropertyList {
    private mutating func object(
        _ reference: Int,
        depth: Int
    ) throws(YapDatabaseError) -> PropertyList {
        guard depth <= PropertyList.depthMax else { throw Self.malformed("it nests too deep") }
        guard reference < count else { throw Self.malformed("it names an object it has not") }
        let entry = offsetTable + reference * offsetSize
        guard let offset = Self.number(bytes[entry..<(entry + offsetSize)]), offset < offsetTable
        else { throw Self.malformed("an object lies outside of it") }
        try pay(Self.objectSizeInBytes)
        let (kind, size) = (bytes[offset] >> 4, Int(bytes[offset] & 0xf))
        switch kind {
        case 0x0: return try simple(size)
        case 0x1: return try integer(at: offset + 1, size)
        case 0x2, 0x3: return try real(at: offset + 1, size, isDate: kind == 0x3)
        case 0x8: return .uid(try uid(at: offset + 1, size))
        case 0x4, 0x5, 0x6:
            let (start, length) = try length(at: offset, size)
            return try text(at: start, length, kind)
        case 0xa, 0xb, 0xc:
            let (start, length) = try length(at: offset, size)
            return .list(try items(at: start, length, depth))
        case 0xd:
            let (start, length) = try length(at: offset, size)
            return .map(try entries(at: start, length, depth))
        default: throw Self.malformed("it has an object of an unknown kind")
        }
    }

    private mutating func pay(_ cost: Int) throws(YapDatabaseError) {
        guard cost <= budget else { throw Self.malformed("it unfolds to far more than it holds") }
        budget -= cost
    }

    /// - Throws: Unless so many bytes are there.
    private func slice(at start: Int, _ length: Int) throws(YapDatabaseError) -> ArraySlice<UInt8> {
        guard start <= offsetTable, length >= 0, length <= offsetTable - start else {
            throw Self.malformed("an object ends outside of it")
        }
        return bytes[start..<(start + length)]
    }

    /// The length that an object's first bytes tell, and where its content begins.
    private func length(
        at offset: Int,
        _ size: Int
    ) throws(YapDatabaseError) -> (start: Int, length: Int) {
        guard size == 0xf else { return (offset + 1, size) }
        let marker = try slice(at: offset + 1, 1)
        let width = 1 << Int(marker[offset + 1] & 0xf)
        guard marker[offset + 1] >> 4 == 0x1, width <= 8,
            let length = Self.number(try slice(at: offset + 2, width))
        else { throw Self.malformed("a length is none") }
        return (offset + 2 + width, length)
    }

    private func simple(_ size: Int) throws(YapDatabaseError) -> PropertyList {
        switch size {
        case 0x0: return .null
        case 0x8: return .bool(false)
        case 0x9: return .bool(true)
        default: throw Self.malformed("it has an object of an unknown kind")
        }
    }

    /// One, two and four bytes have no sign; sixteen hold what eight with a sign do not.
    private func integer(at start: Int, _ size: Int) throws(YapDatabaseError) -> PropertyList {
        guard size <= 4 else { throw Self.malformed("an integer has too many bytes") }
        let slice = try slice(at: start, 1 << size)
        let low = slice.suffix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        if size < 4 { return .int(size == 3 ? Int64(bitPattern: low) : Int64(low)) }
        guard slice.prefix(8).allSatisfy({ $0 == 0 }) else {
            throw Self.malformed("an integer has more than 64 bits")
        }
        return Int64(exactly: low).map { .int($0) } ?? .double(Double(low))
    }

    private func real(
        at start: Int,
        _ size: Int,
        isDate: Bool
    ) throws(YapDatabaseError) -> PropertyList {
        guard size == 3 || (size == 2 && !isDate) else {
            throw Self.malformed("a number has an unknown size")
        }
        let bits = try slice(at: start, 1 << size).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let number =
            size == 3
            ? Double(bitPattern: bits)
            : Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits)))
        return isDate ? .date(number) : .double(number)
    }

    private func uid(at start: Int, _ size: Int) throws(YapDatabaseError) -> Int {
        guard let uid = Self.number(try slice(at: start, size + 1)) else {
            throw Self.malformed("it names an object it has not")
        }
        return uid
    }

    private mutating func text(
        at start: Int,
        _ length: Int,
        _ kind: UInt8
    ) throws(YapDatabaseError) -> PropertyList {
        guard length <= bytes.count else { throw Self.malformed("a text ends outside of it") }
        let slice = try slice(at: start, kind == 0x6 ? 2 * length : length)
        try pay(slice.count)
        if kind == 0x4 { return .data(Array(slice)) }
        if kind == 0x5 { return .text(String(decoding: slice, as: UTF8.self)) }
        let units = (0..<length).map { index in
            UInt16(slice[start + 2 * index]) << 8 | UInt16(slice[start + 2 * index + 1])
        }
        return .text(String(decoding: units, as: UTF16.self))
    }

    private mutating func references(
        at start: Int,
        _ length: Int
    ) throws(YapDatabaseError) -> [Int] {
        guard length <= bytes.count else { throw Self.malformed("a list ends outside of it") }
        let slice = try slice(at: start, length * referenceSize)
        try pay(length * Self.referenceSizeInBytes)
        var references: [Int] = []
        references.reserveCapacity(length)
        for index in 0..<length {
            let place = start + index * referenceSize
            guard let reference = Self.number(slice[place..<(place + referenceSize)]) else {
                throw Self.malformed("it names an object it has not")
            }
            references.append(reference)
        }
        return references
    }

    private mutating func items(
        at start: Int,
        _ length: Int,
        _ depth: Int
    ) throws(YapDatabaseError) -> [PropertyList] {
        var items: [PropertyList] = []
        for reference in try references(at: start, length) {
            items.append(try object(reference, depth: depth + 1))
        }
        return items
    }

    private mutating func entries(
        at start: Int,
        _ length: Int,
        _ depth: Int
    ) throws(YapDatabaseError) -> [Key: PropertyList] {
        let keys = try references(at: start, length)
        let values = try references(at: start + length * referenceSize, length)
        var entries: [Key: PropertyList] = [:]
        for (key, value) in zip(keys, values) {
            guard let name = try object(key, depth: depth + 1).text else {
                throw Self.malformed("a key is no text")
            }
            entries[Key(name)] = try object(value, depth: depth + 1)
        }
        return entries
    }
}
