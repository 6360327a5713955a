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
    mutating func mixWords(_ bytes: Slice<UnsafeRawBufferPointer>) {
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

    /// Two rounds after which every bit of the word has a say in every bit of the result: the
    /// finaliser of MurmurHash3.
    static func finished(_ word: UInt64) -> UInt64 {
        var bits = word
        bits = (bits ^ (bits >> 33)) &* 0xff51_afd7_ed55_8ccd
        bits = (bits ^ (bits >> 33)) &* 0xc4ce_b9fe_1a85_ec53
        return bits ^ (bits >> 33)
    }

    private static let partSizeInBytes = 32
}
