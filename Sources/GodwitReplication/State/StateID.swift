public import GodwitTree

/// The name of a state: 20 bytes of content and 12 of lineage.
///
/// The content half is the digest of the state's objects, and a peer that has the objects can
/// verify it. The lineage half is a hash of the replica's name, the content and the parents. The
/// server computes it once, when it makes the state; from then on it is a name, so that an id stays
/// valid when a parent is folded away.
public struct StateID: Hashable, Sendable {
    public static let sizeInBytes = 32

    public let bytes: [UInt8]

    /// Takes over bytes that were stored or sent; nil unless there are exactly 32.
    public init?(bytes: [UInt8]) {
        guard bytes.count == Self.sizeInBytes else { return nil }
        self.bytes = bytes
    }

    /// Mints the id of a state.
    public init(content: ContentDigest, replica: String, parents: [StateID]) {
        let ancestry = parents.map(\.bytes).sorted { $0.lexicographicallyPrecedes($1) }
        let header: Value = [
            .string(Key(replica)), .bytes(content.bytes), .list(ancestry.map(Value.bytes)),
        ]
        let lineage = ContentDigest(of: [header.canonicalBytes], purpose: "godwit lineage 1")
        bytes = content.bytes + lineage.bytes.prefix(Self.sizeInBytes - ContentDigest.sizeInBytes)
    }

    /// No objects: every line begins here, and every peer has it.
    public static let root: StateID = {
        let lineage = [UInt8](repeating: 0, count: sizeInBytes - ContentDigest.sizeInBytes)
        guard let root = StateID(bytes: ContentSum.empty.digest.bytes + lineage) else {
            preconditionFailure("20 and 12 bytes are 32")
        }
        return root
    }()

    /// The digest of the state's objects.
    public var content: ContentDigest {
        guard let digest = ContentDigest(bytes: Array(bytes.prefix(ContentDigest.sizeInBytes)))
        else {
            preconditionFailure("An id begins with a digest")
        }
        return digest
    }

    /// The first eight digits, for people.
    public var short: String { String(description.prefix(8)) }
}

extension StateID: CustomStringConvertible {
    /// 64 hexadecimal digits.
    public var description: String { bytes.hex }
}
