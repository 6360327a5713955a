/// A resource of a footprint, in a form of which the order keeps what is below a path together.
///
///     a path            [1] host(4) component(4) component(4) …
///     any other name    [0] name(8)
///
/// Names are hashed. Two names with one hash give an order that is not needed, and lose none.
struct FootprintKey: Hashable, Comparable {
    let bytes: [UInt8]

    private static let headCount = 5
    private static let stepCount = 4

    /// - Parameter host: Where the resource is; nil for the only one.
    init(_ resource: String, on host: String?) {
        var bytes: [UInt8] = []
        if resource.utf8.first == UInt8(ascii: "/") {
            bytes.append(1)
            bytes.append(short: (host ?? "").utf8.stableHash)
            for name in resource.utf8.split(separator: UInt8(ascii: "/")) {
                bytes.append(short: name.stableHash)
            }
        } else {
            let name = host.map { "\($0) \(resource)" } ?? resource
            bytes.append(0)
            bytes.append(bigEndian: name.utf8.stableHash)
        }
        self.bytes = bytes
    }

    init(bytes: [UInt8]) { self.bytes = bytes }

    var isPath: Bool { bytes.first == 1 }

    /// Beyond all paths that are below this one.
    var end: FootprintKey { FootprintKey(bytes: bytes + [0x80]) }

    /// The paths above this one; none for another name.
    var ancestors: [FootprintKey] {
        guard isPath else { return [] }
        return stride(from: Self.headCount, to: bytes.count, by: Self.stepCount).map {
            FootprintKey(bytes: Array(bytes[..<$0]))
        }
    }

    func isAbove(_ other: FootprintKey) -> Bool {
        isPath && bytes.count < other.bytes.count && other.bytes.starts(with: bytes)
    }

    static func < (left: FootprintKey, right: FootprintKey) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}

extension [UInt8] {
    /// Appends 31 bits of a hash: no step begins with the bit that ``FootprintKey/end`` has.
    fileprivate mutating func append(short hash: UInt64) {
        append(bigEndian: UInt32(truncatingIfNeeded: hash ^ hash >> 32) & 0x7fff_ffff)
    }

    fileprivate mutating func append(bigEndian integer: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: integer.bigEndian) { append(contentsOf: $0) }
    }
}

extension Sequence<UInt8> {
    /// FNV-1a, 64 bits: the same in each process and version.
    fileprivate var stableHash: UInt64 {
        reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }
}
