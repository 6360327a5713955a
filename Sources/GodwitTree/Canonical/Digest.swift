internal import Crypto

/// The digest of some content: the first 20 bytes of a SHA-256.
///
/// A collision takes about 2^80 attempts; see `Documentation/formats.md` for what is hashed.
public struct Digest: Hashable, Sendable {
    public static let sizeInBytes = 20

    public let bytes: [UInt8]

    /// Takes over bytes that were stored or sent; nil unless there are exactly 20.
    public init?(bytes: [UInt8]) {
        guard bytes.count == Self.sizeInBytes else { return nil }
        self.bytes = bytes
    }

    /// Hashes the parts one after the other, after a word that keeps the purposes apart.
    public init(of parts: [[UInt8]], purpose: String) {
        var hash = SHA256()
        for part in [Array(purpose.utf8), [0]] + parts {
            part.withUnsafeBytes { hash.update(bufferPointer: $0) }
        }
        bytes = Array(hash.finalize().prefix(Self.sizeInBytes))
    }
}

extension Digest: CustomStringConvertible {
    public var description: String { bytes.hex }
}

extension Value {
    /// The digest of the canonical bytes: equal exactly when the values are.
    ///
    /// - Complexity: O(*n*) in the size of the value.
    public var digest: Digest {
        Digest(of: [canonicalBytes], purpose: Self.digestPurpose)
    }

    /// The digest of a value whose canonical bytes are already at hand.
    public static func digest(ofCanonicalBytes bytes: [UInt8]) -> Digest {
        Digest(of: [bytes], purpose: digestPurpose)
    }

    private static let digestPurpose = "godwit value 1"
}
