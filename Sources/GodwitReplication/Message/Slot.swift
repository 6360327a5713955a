public import GodwitStore

/// One replica's part of a request: where the client is, and what it brings.
public struct Slot: Hashable, Sendable {
    /// The epoch in which the client has its base; nil before its first answer.
    public let epoch: Epoch?
    /// The place of the client's base in the line; 0 for no objects.
    public let serial: Int64
    /// The abbreviation of the base's id.
    public let have: [UInt8]
    /// The client's id before it found that a clone uses it too.
    public let former: ClientID?
    public let batch: Batch?
}

/// One replica's part of an answer.
public struct SlotAnswer: Hashable, Sendable {
    public enum Status: String, Hashable, Sendable {
        /// The changes lead from the client's base to the head.
        case ok
        /// The batch is now part of the line; the changes lead on from where it leads.
        case accepted
        /// The server has seen a later request of this client, and has done nothing.
        case stale
        /// The server does not have the state that the client names, and has not taken the batch.
        case unknownBase
        /// The server has lost states, but not the client's base. The changes lead to the head; the
        /// batch is not taken.
        case epochChanged
    }

    public let status: Status
    public let epoch: Epoch
    /// The highest nonce that the server has written for the client.
    public let nonce: Int64
    /// What became of the client's last batch; nil when it has sent none.
    public let outcome: BatchOutcome?
    /// The state that the changes lead to.
    public let head: LineState
    public let changes: [ObjectKey: ObjectDelta]
}

/// A state of a replica: its place in the line, and its id.
public struct LineState: Hashable, Sendable {
    public let serial: Int64
    public let id: StateID

    /// No objects: every line begins here.
    public static let root = LineState(serial: 0, id: .noObjects)

    public init(serial: Int64, id: StateID) {
        self.serial = serial
        self.id = id
    }
}
