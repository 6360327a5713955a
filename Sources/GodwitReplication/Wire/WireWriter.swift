internal import GodwitStore
internal import GodwitTree

/// Writes the body of a message, field after field.
struct WireWriter {
    private(set) var bytes: [UInt8] = []

    /// Writes a number in as few bytes as it needs: seven bits in each, the lowest first.
    ///
    /// - Precondition: It is not negative.
    mutating func number(_ number: Int64) {
        precondition(number >= 0, "A message has no negative numbers")
        var rest = UInt64(number)
        while rest >= 0x80 {
            bytes.append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    mutating func count(_ count: Int) { number(Int64(count)) }

    mutating func byte(_ byte: UInt8) { bytes.append(byte) }

    /// Writes bytes of which the reader knows the count.
    mutating func fixed(_ part: [UInt8]) { bytes += part }

    mutating func fixed(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.bigEndian) { bytes += $0 }
    }

    mutating func block(_ part: [UInt8]) {
        count(part.count)
        bytes += part
    }

    mutating func text(_ key: Key) { block(Array(key.text.utf8)) }

    mutating func key(_ key: ObjectKey) {
        text(key.collection)
        text(key.key)
    }

    /// Writes whether there is something, and what it is.
    mutating func optional<Field>(_ field: Field?, _ write: (inout WireWriter, Field) -> Void) {
        byte(field == nil ? 0 : 1)
        if let field { write(&self, field) }
    }

    mutating func list<Fields: Collection>(
        _ fields: Fields,
        _ write: (inout WireWriter, Fields.Element) -> Void
    ) {
        count(fields.count)
        for field in fields { write(&self, field) }
    }
}
