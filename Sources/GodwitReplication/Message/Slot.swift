public import GodwitStore
internal import GodwitTree

/// A request for one replica.
struct LineRequest: Hashable, Sendable {
    let client: ClientID
    /// Grows with every request of a client.
    let nonce: Int64
    let slot: Slot
}

/// One replica's part of a request: where the client is, and what it brings.
public struct Slot: Hashable, Sendable {
    /// The place of the client's base in the line; 0 for no objects.
    public let serial: Int64
    /// The client's base and its epoch; ``StateToken/none`` before its first answer.
    public let have: StateToken
    /// The client's id before it found that a clone uses it too.
    public let former: ClientID?
    public let batch: Batch?
    /// Whether the answer must be small, because the connection is slow: with many changes the server
    /// does not know the base, and the client compares its objects in small pieces.
    public internal(set) var wantsLittle = false
}

/// One replica's part of an answer.
public struct SlotAnswer: Hashable, Sendable {
    public enum Status: String, Hashable, Sendable, CaseIterable {
        /// The changes lead from the client's base to the head.
        case ok
        /// The batch is now part of the line; the changes lead on from where it leads.
        case accepted
        /// The server has seen a later request of this client, and has done nothing.
        case stale
        /// The server does not have the state that the client names, or has lost later ones, and has
        /// not taken the batch.
        case unknownBase
        /// The server keeps a piece of what the client gives back, and waits for the next one.
        case staged
    }

    public let status: Status
    public let epoch: Epoch
    /// The highest nonce that the server has written for the client.
    public let nonce: Int64
    /// What became of the client's last batch; nil when it has sent none.
    public let outcome: BatchOutcome?
    /// The state that the changes lead to.
    public let head: LineState
    /// The starts of the server over which the changes lead, the oldest first.
    public let starts: [LineStart]
    public let changes: [ObjectKey: ObjectDelta]
}

/// A state of a line in few bytes: a hash of its epoch and its id.
public struct StateToken: Hashable, Sendable {
    public static let sizeInBytes = 5

    /// A client without a state.
    public static let none = StateToken([UInt8](repeating: 0, count: sizeInBytes))

    let bytes: [UInt8]

    fileprivate init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Reads a token; nil for another number of bytes.
    init?(bytes: [UInt8]) {
        guard bytes.count == Self.sizeInBytes else { return nil }
        self.bytes = bytes
    }
}

extension LineState {
    /// The state, as requests name it.
    public func token(in epoch: Epoch) -> StateToken {
        let place = withUnsafeBytes(of: epoch.number.bigEndian) { Array($0) }
        let digest = ContentDigest(of: [place, id.bytes], purpose: "godwit token 3")
        return StateToken(Array(digest.bytes.prefix(StateToken.sizeInBytes)))
    }
}

/// A state of a replica: its place in the line, and its id.
public struct LineState: Hashable, Sendable {
    public let serial: Int64
    public let id: StateID

    /// No objects: every line begins here.
    public static let root = LineState(serial: 0, id: .root)

    public init(serial: Int64, id: StateID) {
        self.serial = serial
        self.id = id
    }
}
