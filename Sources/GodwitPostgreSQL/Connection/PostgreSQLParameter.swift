#if PostgreSQL
/// An argument of a statement, as it travels: in the binary form of its type.
package enum PostgreSQLParameter: Sendable {
    case integer(Int64?)
    case bytes([UInt8]?)
    case text(String)
    case integers([Int64?])
    case byteStrings([[UInt8]?])

    /// The number of the type in every PostgreSQL: those of the built-in types never change.
    var type: UInt32 {
        switch self {
        case .integer: 20
        case .bytes: 17
        case .text: 25
        case .integers: 1_016
        case .byteStrings: 1_001
        }
    }

    /// The binary form; nil for NULL.
    var encoded: [UInt8]? {
        switch self {
        case .integer(let number): number?.networkBytes
        case .bytes(let bytes): bytes
        case .text(let text): Array(text.utf8)
        case .integers(let numbers): Self.array(of: 20, numbers.map { $0?.networkBytes })
        case .byteStrings(let strings): Self.array(of: 17, strings)
        }
    }

    /// One dimension, which begins at 1.
    private static func array(of type: UInt32, _ elements: [[UInt8]?]) -> [UInt8] {
        let hasNull: Int32 = elements.contains { $0 == nil } ? 1 : 0
        var bytes: [UInt8] = []
        bytes.reserveCapacity(elements.reduce(20) { $0 + 4 + ($1?.count ?? 0) })
        guard !elements.isEmpty else {
            return Int32(0).networkBytes + hasNull.networkBytes + type.networkBytes
        }
        bytes += Int32(1).networkBytes + hasNull.networkBytes + type.networkBytes
        bytes += Int32(elements.count).networkBytes + Int32(1).networkBytes
        for element in elements {
            bytes += Int32(element?.count ?? -1).networkBytes
            if let element { bytes += element }
        }
        return bytes
    }
}

extension FixedWidthInteger {
    /// The most significant byte first.
    var networkBytes: [UInt8] { withUnsafeBytes(of: bigEndian, Array.init) }
}
#endif
