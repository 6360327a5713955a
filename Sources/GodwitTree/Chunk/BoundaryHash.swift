// Where chunks end must be a function of the content alone, on every machine and in every
// release; so this hash is part of the format (`Documentation/formats.md`). It need not be strong:
// a peer that grinds it gets chunks of the least or the greatest size, and nothing worse.

/// A fast hash that decides where a chunk ends.
struct BoundaryHash {
    private(set) var bits: UInt64

    init(kind: UInt64, _ word: UInt64 = 0) {
        bits = kind
        mix(word)
    }

    mutating func mix(_ word: UInt64) {
        bits = (bits ^ word) &* 0x9e37_79b9_7f4a_7c15
        bits ^= bits >> 29
    }

    /// Mixes in the number of bytes, the first 32 and the last 32 of them.
    mutating func mix(_ bytes: UnsafeRawBufferPointer) {
        mix(UInt64(bytes.count))
        mixWords(bytes[..<min(bytes.count, Self.partSizeInBytes)])
        guard bytes.count > Self.partSizeInBytes else { return }
        mixWords(bytes[max(Self.partSizeInBytes, bytes.count - Self.partSizeInBytes)...])
    }

    /// Words are little-endian; the last is filled with zeros.
    private mutating func mixWords(_ bytes: Slice<UnsafeRawBufferPointer>) {
        let whole = bytes.count & ~7
        let buffer = UnsafeRawBufferPointer(rebasing: bytes)
        for offset in stride(from: 0, to: whole, by: 8) {
            mix(UInt64(littleEndian: buffer.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
        }
        guard whole < buffer.count else { return }
        var rest: UInt64 = 0
        for offset in whole..<buffer.count {
            rest |= UInt64(buffer[offset]) << ((offset - whole) * 8)
        }
        mix(rest)
    }

    private static let partSizeInBytes = 32
}

extension Key {
    var boundaryHash: UInt64 {
        var hash = BoundaryHash(kind: 6)
        withBytes { hash.mix(UnsafeRawBufferPointer($0)) }
        return hash.bits
    }
}

extension Value {
    /// A hash of the parts that identify a value; the content of nested containers is left out.
    ///
    /// - Complexity: O(1): at most 8 entries or 4 items count.
    var boundaryHash: UInt64 {
        switch self {
        case .list(let items):
            var hash = BoundaryHash(kind: 8, UInt64(items.count))
            for item in items.prefix(4) { hash.mix(item.shallowHash) }
            return hash.bits
        case .map(let map):
            var hash = BoundaryHash(kind: 9, UInt64(map.count))
            for entry in map.prefix(8) {
                hash.mix(entry.key.boundaryHash)
                hash.mix(entry.value.shallowHash)
            }
            return hash.bits
        default:
            return shallowHash
        }
    }

    private var shallowHash: UInt64 {
        switch self {
        case .null: return BoundaryHash(kind: 1).bits
        case .bool(let bool): return BoundaryHash(kind: 2, bool ? 1 : 0).bits
        case .int(let int): return BoundaryHash(kind: 4, UInt64(bitPattern: int)).bits
        case .double(let double): return BoundaryHash(kind: 5, double.double.bitPattern).bits
        case .string(let key): return key.boundaryHash
        case .bytes(let bytes):
            var hash = BoundaryHash(kind: 7)
            bytes.withUnsafeBytes { hash.mix($0) }
            return hash.bits
        case .list(let items): return BoundaryHash(kind: 8, UInt64(items.count)).bits
        case .map(let map): return BoundaryHash(kind: 9, UInt64(map.count)).bits
        }
    }
}
