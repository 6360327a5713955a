public import GodwitTree

/// What the server answers: its head, and how to get there.
///
/// As data it is a list (format version 3):
///
///     [3, features, acknowledged, head, origin, delta, seal]
///
/// with 0, 1 or 2 for an origin of `have`, `target` or `root`.
public struct ExchangeResponse: Hashable, Sendable {
    /// The state from which the delta leads to the head.
    public enum Origin: Int64, Hashable, Sendable {
        /// The state that the client said it has.
        case have
        /// The state that the client's batch leads to.
        case target
        /// The empty map: all there is, for a client whose state the server does not know.
        case root
    }

    /// What the server can read.
    public var features = ExchangeFeatures.own
    /// The client's last batch that has become part of the replica.
    public let acknowledged: Int64
    public let head: StateID
    public let origin: Origin
    public let delta: ExchangeDelta

    static let version: Int64 = 3
    /// What a device spends to read an answer: it takes all that its server has, but no bomb.
    static let budget = ReadBudget(memoryMax: .max)
}

extension ExchangeResponse {
    /// The response as data.
    public var encoded: Value { encoded(delta.encoded) }

    /// The response as data that people can read.
    public var encodedForPeople: Value { encoded(delta.encodedForPeople) }

    private func encoded(_ delta: Value) -> Value {
        MessageFields.sealed([
            .int(Self.version), .int(features.rawValue), .int(acknowledged), .bytes(head.bytes),
            .int(origin.rawValue), delta,
        ])
    }

    /// Reads a response from data.
    public init(encoded value: Value) throws(ReplicationError) {
        var fields = try MessageFields(value, version: Self.version)
        features = ExchangeFeatures(rawValue: try fields.integer("features"))
        acknowledged = try fields.integer("acknowledged")
        guard let head = StateID(bytes: try fields.bytes("head")) else {
            throw .malformedMessage(reason: "a state's id has 32 bytes")
        }
        self.head = head
        guard let origin = Origin(rawValue: try fields.integer("origin")) else {
            throw .malformedMessage(reason: "an origin is 0, 1 or 2")
        }
        self.origin = origin
        delta = try fields.delta()
        try fields.finish()
    }
}
