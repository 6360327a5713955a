internal import Crypto

/// The digest of some content: the first 20 bytes of a SHA-256.
///
/// A collision takes about 2^80 attempts; see `Documentation/formats.md` for what is hashed.
public struct ContentDigest: Hashable, Sendable {
    public static let sizeInBytes = 20

    /// The longest scalar, in canonical bytes, that stands for itself in its container's digest.
    static let embeddedMaxInBytes = 64

    private let words: (UInt64, UInt64, UInt32)

    /// Takes over bytes that were stored or sent; nil unless there are exactly 20.
    public init?(bytes: [UInt8]) {
        guard bytes.count == Self.sizeInBytes else { return nil }
        words = bytes.withUnsafeBytes(Self.words)
    }

    /// Hashes the parts one after the other, after a word that keeps the purposes apart.
    public init(of parts: [[UInt8]], purpose: String) {
        self.init(ofBytes: Array(purpose.utf8) + [0] + parts.joined())
    }

    /// Hashes bytes that begin with their purpose.
    init(ofBytes bytes: [UInt8]) {
        var hash = SHA256()
        bytes.withUnsafeBytes { hash.update(bufferPointer: $0) }
        words = hash.finalize().withUnsafeBytes(Self.words)
    }

    /// A placeholder until the digest is computed.
    static let zero = ContentDigest(words: (0, 0, 0))

    private init(words: (UInt64, UInt64, UInt32)) { self.words = words }

    /// The first byte.
    var firstByte: UInt8 { withUnsafeBytes(of: words) { $0[0] } }

    public var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.sizeInBytes)
        append(to: &bytes)
        return bytes
    }

    func append(to bytes: inout [UInt8]) {
        withUnsafeBytes(of: words) {
            bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: $0[..<Self.sizeInBytes]))
        }
    }

    /// Writes the digest so that it ends before an offset.
    func store(in bytes: UnsafeMutableRawBufferPointer, before end: Int) {
        bytes.storeBytes(of: words.0, toByteOffset: end - 20, as: UInt64.self)
        bytes.storeBytes(of: words.1, toByteOffset: end - 12, as: UInt64.self)
        bytes.storeBytes(of: words.2, toByteOffset: end - 4, as: UInt32.self)
    }

    private static func words(_ bytes: UnsafeRawBufferPointer) -> (UInt64, UInt64, UInt32) {
        (
            bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self),
            bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self),
            bytes.loadUnaligned(fromByteOffset: 16, as: UInt32.self)
        )
    }

    public static func == (left: Self, right: Self) -> Bool { left.words == right.words }

    public func hash(into hasher: inout Hasher) {
        // A digest is as random as a hash can be.
        hasher.combine(words.0)
    }
}

extension ContentDigest: CustomStringConvertible {
    public var description: String { bytes.hex }
}
