internal import Crypto

/// A hash of a set: the sum of its members' SHA-256 hashes, modulo 2^256.
///
/// Adding a member and taking it away again costs one addition each, in any order. The sum tells
/// two sets apart that differ by accident. It is no proof against a writer that may choose 2^32
/// members to collide (D. Wagner, "A Generalized Birthday Problem", 2002).
public struct SetHash: Hashable, Sendable {
    public static let sizeInBytes = 32

    /// Little-endian: the first word is the lowest.
    private var words: (UInt64, UInt64, UInt64, UInt64)

    /// The hash of the empty set.
    public static let zero = SetHash(words: (0, 0, 0, 0))

    private init(words: (UInt64, UInt64, UInt64, UInt64)) { self.words = words }

    /// Takes over bytes that were stored or sent; nil unless there are exactly 32.
    public init?(bytes: [UInt8]) {
        guard bytes.count == Self.sizeInBytes else { return nil }
        self.init(bytes)
    }

    /// The hash of one member, which begins with a word that keeps the purposes apart.
    public init(member bytes: [UInt8], purpose: StaticString) {
        var hash = SHA256()
        purpose.withUTF8Buffer { hash.update(bufferPointer: UnsafeRawBufferPointer($0)) }
        bytes.withUnsafeBytes { hash.update(bufferPointer: $0) }
        self.init(Array(hash.finalize()))
    }

    /// - Precondition: There are 32 bytes.
    private init(_ bytes: [UInt8]) {
        func word(_ index: Int) -> UInt64 {
            bytes.withUnsafeBytes {
                UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: 8 * index, as: UInt64.self))
            }
        }
        words = (word(0), word(1), word(2), word(3))
    }

    public var bytes: [UInt8] {
        [words.0, words.1, words.2, words.3].flatMap { word in
            withUnsafeBytes(of: word.littleEndian, Array.init)
        }
    }

    public static func += (left: inout Self, right: Self) {
        var carry: UInt64 = 0
        func add(_ left: inout UInt64, _ right: UInt64) {
            let (sum, overflow) = left.addingReportingOverflow(right)
            let (result, again) = sum.addingReportingOverflow(carry)
            left = result
            carry = overflow || again ? 1 : 0
        }
        add(&left.words.0, right.words.0)
        add(&left.words.1, right.words.1)
        add(&left.words.2, right.words.2)
        add(&left.words.3, right.words.3)
    }

    public static func -= (left: inout Self, right: Self) {
        var borrow: UInt64 = 0
        func subtract(_ left: inout UInt64, _ right: UInt64) {
            let (difference, overflow) = left.subtractingReportingOverflow(right)
            let (result, again) = difference.subtractingReportingOverflow(borrow)
            left = result
            borrow = overflow || again ? 1 : 0
        }
        subtract(&left.words.0, right.words.0)
        subtract(&left.words.1, right.words.1)
        subtract(&left.words.2, right.words.2)
        subtract(&left.words.3, right.words.3)
    }

    public static func == (left: Self, right: Self) -> Bool { left.words == right.words }

    public func hash(into hasher: inout Hasher) { hasher.combine(words.0) }
}
