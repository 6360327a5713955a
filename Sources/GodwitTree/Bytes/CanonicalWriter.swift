// The pieces of canonical bytes, in deterministic CBOR (RFC 8949 section 4.2.1): shortest integers
// and lengths, and the shortest float that holds the number exactly.

/// Writes the pieces of deterministic CBOR.
struct CanonicalWriter {
    var bytes: [UInt8] = []

    /// The head of a list; the caller writes the items.
    mutating func writeListHead(_ count: Int) { writeHead(.list, UInt64(count)) }

    /// The head of a map; the caller writes the entries.
    mutating func writeMapHead(_ count: Int) { writeHead(.map, UInt64(count)) }

    /// Begins what is hashed for one purpose.
    mutating func beginDigest(of purpose: String) {
        bytes.append(contentsOf: purpose.utf8)
        bytes.append(0)
    }

    /// Begins what is hashed for a node of a tree.
    mutating func beginDigest(of purpose: String, level: Int, count: Int) {
        beginDigest(of: purpose)
        bytes.append(UInt8(level))
        writeHead(.positive, UInt64(count))
    }

    /// The bytes that stand for chunks in the digest of the node above them, or for items of a list.
    ///
    /// - Parameter tag: What comes before each, if anything does.
    mutating func writeReferences(
        count: Int,
        tag: UInt8? = nil,
        _ digest: (Int) -> ContentDigest
    ) {
        let size = ContentDigest.sizeInBytes + (tag == nil ? 0 : 1)
        var offset = bytes.count
        bytes.append(contentsOf: repeatElement(tag ?? 0, count: count * size))
        bytes.withUnsafeMutableBytes { bytes in
            for index in 0..<count {
                offset += size
                digest(index).store(in: bytes, before: offset)
            }
        }
    }

    mutating func writeInteger(_ int: Int64) {
        if int >= 0 {
            writeHead(.positive, UInt64(int))
        } else {
            writeHead(.negative, UInt64(bitPattern: ~int))
        }
    }

    /// Text, in UTF-8.
    mutating func writeText(_ text: UnsafeBufferPointer<UInt8>) {
        writeHead(.string, UInt64(text.count))
        bytes.append(contentsOf: text)
    }

    mutating func writeBytes(_ content: [UInt8]) {
        writeHead(.bytes, UInt64(content.count))
        bytes.append(contentsOf: content)
    }

    private mutating func writeHead(_ major: MajorType, _ argument: UInt64) {
        let type = major.rawValue << 5
        switch argument {
        case 0..<24: bytes.append(type | UInt8(argument))
        case 24...0xff: append(type | 24, UInt8(argument))
        case 0x100...0xffff: append(type | 25, UInt16(argument))
        case 0x1_0000...0xffff_ffff: append(type | 26, UInt32(argument))
        default: append(type | 27, argument)
        }
    }

    mutating func writeDouble(_ double: Double) {
        let single = Float(double)
        guard Double(single) == double else { return append(0xfb, double.bitPattern) }
        guard let half = HalfFloat(single) else { return append(0xfa, single.bitPattern) }
        append(0xf9, half.bitPattern)
    }

    private mutating func append(_ head: UInt8, _ argument: some FixedWidthInteger) {
        bytes.append(head)
        withUnsafeBytes(of: argument.bigEndian) { bytes.append(contentsOf: $0) }
    }
}

/// The upper three bits of a CBOR item's first byte.
enum MajorType: UInt8 {
    case positive, negative, bytes, string, list, map, tag, simple
}

/// The 16-bit float of IEEE 754, which Swift does not have on every platform.
struct HalfFloat {
    let bitPattern: UInt16

    init(bitPattern: UInt16) { self.bitPattern = bitPattern }

    /// Returns nil when the number has no exact 16-bit form.
    init?(_ single: Float) {
        let bits = single.bitPattern
        let sign = UInt16(bits >> 16) & 0x8000
        let exponent = Int(bits >> 23 & 0xff) - 127
        let fraction = bits & 0x7f_ffff
        switch exponent {
        case -127 where fraction == 0:
            self.bitPattern = sign
        case -14...15 where fraction & 0x1fff == 0:
            self.bitPattern = sign | UInt16(exponent + 15) << 10 | UInt16(fraction >> 13)
        case -24 ... -15:
            let significand = fraction | 0x80_0000
            let shift = UInt32(-1 - exponent)
            guard significand & (1 << shift - 1) == 0 else { return nil }
            self.bitPattern = sign | UInt16(significand >> shift)
        default:
            return nil
        }
    }

    /// The same number as a double; infinities and NaN are kept for the reader to refuse.
    var double: Double {
        let sign: Double = bitPattern & 0x8000 == 0 ? 1 : -1
        let exponent = Int(bitPattern >> 10 & 0x1f)
        let fraction = Double(bitPattern & 0x3ff)
        switch exponent {
        case 0: return sign * fraction * 0x1p-24
        case 31: return fraction == 0 ? sign * .infinity : .nan
        default:
            return sign * (1 + fraction / 1024)
                * Double(sign: .plus, exponent: exponent - 15, significand: 1)
        }
    }
}
