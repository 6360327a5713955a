public import GodwitTree

/// The name of a state: 20 bytes of content and 12 of lineage.
///
/// The content half is the digest of the state's value, and can be verified by anyone who has
/// the value. The lineage half is a hash of the replica's name, the content and the parents,
/// computed once, when the state is minted; from then on it is a name, so that folding a parent
/// away never invalidates an id.
public struct StateID: Hashable, Sendable {
    public static let sizeInBytes = 32
    /// How many bytes of the lineage name a state within one replica.
    public static let abbreviationSizeInBytes = 8

    public let bytes: [UInt8]

    /// Takes over bytes that were stored or sent; nil unless there are exactly 32.
    public init?(bytes: [UInt8]) {
        guard bytes.count == Self.sizeInBytes else { return nil }
        self.bytes = bytes
    }

    /// Mints the id of a state.
    public init(content: Digest, replica: String, parents: [StateID]) {
        let ancestry = parents.map(\.bytes).sorted { $0.lexicographicallyPrecedes($1) }
        let header: Value = [
            .string(Key(replica)), .bytes(content.bytes), .list(ancestry.map(Value.bytes)),
        ]
        let lineage = Digest(of: [header.canonicalBytes], purpose: "godwit lineage 1")
        bytes = content.bytes + lineage.bytes.prefix(Self.sizeInBytes - Digest.sizeInBytes)
    }

    /// The empty map: every history begins here, and every peer has it.
    public static let root: StateID = {
        let content = Value.map([:]).digest
        let lineage = [UInt8](repeating: 0, count: sizeInBytes - Digest.sizeInBytes)
        guard let root = StateID(bytes: content.bytes + lineage) else {
            preconditionFailure("20 and 12 bytes are 32")
        }
        return root
    }()

    /// A replica without objects.
    static let noObjects: StateID = {
        let lineage = [UInt8](repeating: 0, count: sizeInBytes - Digest.sizeInBytes)
        guard let id = StateID(bytes: ContentSum.empty.digest.bytes + lineage) else {
            preconditionFailure("20 and 12 bytes are 32")
        }
        return id
    }()

    /// The digest of the state's value.
    public var content: Digest {
        guard let digest = Digest(bytes: Array(bytes.prefix(Digest.sizeInBytes))) else {
            preconditionFailure("An id begins with a digest")
        }
        return digest
    }

    /// What names the state in messages about one replica.
    public var abbreviation: [UInt8] {
        Array(bytes.dropFirst(Digest.sizeInBytes).prefix(Self.abbreviationSizeInBytes))
    }

    /// The first eight digits, for people.
    public var short: String { String(description.prefix(8)) }
}

extension StateID: CustomStringConvertible {
    /// 64 hexadecimal digits.
    public var description: String { bytes.hex }
}
