public import GodwitStore
public import GodwitTree

/// Who takes part in a replica: one for each device, for as long as its store lives.
public struct ClientID: Hashable, Sendable {
    public let identifier: Identifier

    public init(_ identifier: Identifier) { self.identifier = identifier }
}

extension ClientID: CustomStringConvertible {
    public var description: String { identifier.description }
}

/// What a client sends: which state it has, and one batch of changes to it, if there are any.
///
/// As CBOR, or as JSON with bytes in hexadecimal, it is a list (format version 3):
///
///     [3, nonce, features, have, seal]                           a client that only asks
///     [3, nonce, features, have, sequence, check, delta, seal]   a client that sends a batch
///
/// `features` has a bit for each thing that the client can read; `have` is the abbreviation of the state's id, empty for the root; `check` the first 4 bytes of
/// the content that the batch leads to; `seal` 4 bytes of a digest of all before it, or null.
public struct ExchangeRequest: Hashable, Sendable {
    /// A change that was frozen, and is sent in these words until the server has answered it.
    public struct Batch: Hashable, Sendable {
        /// The number of the batch; each client counts its own from 1.
        public let sequence: Int64
        public let check: [UInt8]
        /// From the state that the request names.
        public let delta: ExchangeDelta
    }

    /// Grows with every request of a client.
    ///
    /// An older one moves no refs.
    public let nonce: Int64
    /// What the client can read.
    public var features = ExchangeFeatures.own
    /// The abbreviation of the state that the client has.
    public let have: [UInt8]
    public let batch: Batch?

    static let version: Int64 = 3
    /// What a server spends to read the batch of a request, and what a device packs it for.
    static let budget = ReadBudget.standard
    static let checkSizeInBytes = 4

    /// How deep a message may nest: a delta, in a list.
    public static let depthMax = Delta.encodedDepthMax + 1
}

extension ExchangeRequest {
    /// The request as data.
    public var encoded: Value {
        let named = have == StateID.root.abbreviation ? [] : have
        let head: [Value] = [
            .int(Self.version), .int(nonce), .int(features.rawValue), .bytes(named),
        ]
        guard let batch else { return MessageFields.sealed(head) }
        return MessageFields.sealed(
            head + [.int(batch.sequence), .bytes(batch.check), batch.delta.encoded]
        )
    }

    /// Reads a request from data.
    public init(encoded value: Value) throws(ReplicationError) {
        var fields = try MessageFields(value, version: Self.version)
        nonce = try fields.integer("nonce")
        features = ExchangeFeatures(rawValue: try fields.integer("features"))
        let named = try fields.bytes("have")
        guard named.isEmpty || named.count == StateID.abbreviationSizeInBytes else {
            throw .malformedMessage(reason: "a state is named by 8 bytes or none")
        }
        have = named.isEmpty ? StateID.root.abbreviation : named
        guard fields.hasMore else {
            batch = nil
            return
        }
        let sequence = try fields.integer("sequence")
        let check = try fields.bytes("check")
        guard check.count == Self.checkSizeInBytes, sequence > 0 else {
            throw .malformedMessage(reason: "a batch has a number and a check of 4 bytes")
        }
        batch = Batch(sequence: sequence, check: check, delta: try fields.delta())
        try fields.finish()
    }
}
