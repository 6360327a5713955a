package import GodwitStore
internal import GodwitTree

/// A request for one replica.
struct LineRequest: Hashable, Sendable {
    let client: ClientID
    /// Grows with every request of a client.
    let nonce: Int64
    let slot: Slot
}

/// One replica's part of a request: where the client is, and what it brings.
package struct Slot: Hashable, Sendable {
    /// The place of the client's base in the line; 0 for no objects.
    package let serial: Int64
    /// The client's base and its epoch; ``StateToken/none`` before its first answer.
    package let have: StateToken
    /// The client's id before it found that a clone uses it too.
    package let former: ClientID?
    package let batch: Batch?
    /// Whether the answer must be small, because the connection is slow: with many changes the server
    /// does not know the base, and the client compares its objects in small pieces.
    package internal(set) var wantsLittle = false
}

/// One replica's part of an answer.
package struct SlotAnswer: Hashable, Sendable {
    package enum Status: String, Hashable, Sendable, CaseIterable {
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

    package let status: Status
    package let epoch: Epoch
    /// The highest nonce that the server has written for the client.
    package let nonce: Int64
    /// What became of the client's last batch; nil when it has sent none.
    package let outcome: BatchOutcome?
    /// The state that the changes lead to.
    package let head: LineState
    /// The starts of the server over which the changes lead, the oldest first.
    package let starts: [LineStart]
    package let changes: [ObjectKey: ObjectDelta]
}

/// A state of a line in few bytes: a hash of its epoch and its id.
package struct StateToken: Hashable, Sendable {
    package static let sizeInBytes = 5

    /// A client without a state.
    package static let none = StateToken([UInt8](repeating: 0, count: sizeInBytes))

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
    package func token(in epoch: Epoch) -> StateToken {
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
