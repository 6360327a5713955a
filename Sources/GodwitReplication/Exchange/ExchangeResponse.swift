public import GodwitTree

/// What the server answers: its head, and how to get there.
///
/// As data it is a list (format version 1):
///
///     [1, acknowledged, head, origin, delta]
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

    /// The client's last batch that has become part of the replica.
    public let acknowledged: Int64
    public let head: StateID
    public let origin: Origin
    public let delta: Delta

    static let version: Int64 = 1
}

extension ExchangeResponse {
    /// The response as data.
    public var encoded: Value {
        [
            .int(Self.version), .int(acknowledged), .bytes(head.bytes), .int(origin.rawValue),
            delta.encoded,
        ]
    }

    /// Reads a response from data.
    public init(encoded value: Value) throws(ReplicationError) {
        var fields = try MessageFields(value, version: Self.version)
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

/// Reads the fields of a message, one after the other.
struct MessageFields {
    private var rest: ArraySlice<Value>

    init(_ value: Value, version: Int64) throws(ReplicationError) {
        guard case .list(let items) = value else {
            throw .malformedMessage(reason: "a message is a list")
        }
        rest = items[...]
        let found = try integer("version")
        guard found == version else { throw .unknownVersion(found) }
    }

    var hasMore: Bool { !rest.isEmpty }

    mutating func integer(_ name: String) throws(ReplicationError) -> Int64 {
        guard let integer = rest.popFirst()?.integer, integer >= 0 else {
            throw .malformedMessage(reason: "\(name) is not a number")
        }
        return integer
    }

    /// A byte string, or the hexadecimal text that stands for one in JSON.
    mutating func bytes(_ name: String) throws(ReplicationError) -> [UInt8] {
        switch rest.popFirst() {
        case .bytes(let bytes)?: return bytes
        case .string(let key)?:
            if let bytes = [UInt8](hex: key.text) { return bytes }
        default: break
        }
        throw .malformedMessage(reason: "\(name) is not a byte string")
    }

    mutating func delta() throws(ReplicationError) -> Delta {
        guard let value = rest.popFirst() else {
            throw .malformedMessage(reason: "the delta is missing")
        }
        do throws(TreeError) {
            return try Delta(encoded: value)
        } catch {
            throw .invalidDelta(reason: error.description)
        }
    }

    func finish() throws(ReplicationError) {
        guard rest.isEmpty else { throw .malformedMessage(reason: "there are too many fields") }
    }
}

/// The name of a replica, as it stands in URLs.
public struct ReplicaName: Hashable, Sendable {
    public let text: String

    public init(_ text: String) throws(ReplicationError) {
        let isAllowed = text.unicodeScalars.allSatisfy {
            $0.isASCII && ($0.properties.isAlphabetic || ("0"..."9").contains($0))
                || "._-".unicodeScalars.contains($0)
        }
        guard isAllowed, (1...128).contains(text.count), text.contains(where: { $0 != "." }) else {
            throw .invalidName(text)
        }
        self.text = text
    }
}

extension ReplicaName: CustomStringConvertible {
    public var description: String { text }
}
