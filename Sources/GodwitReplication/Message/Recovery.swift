package import GodwitStore

/// Asks the server how a client gets back in sync whose base the server does not have.
package struct RecoveryRequest: Hashable, Sendable {
    package let client: ClientID
    package let nonce: Int64
    package let former: ClientID?
    /// The epoch of the client's base; nil before its first answer.
    package let epoch: Epoch?
    /// States of that epoch that the client has adopted; the last one is its base.
    package let adopted: [LineState]
    /// States of earlier epochs that it has adopted, the last one last.
    package let earlier: [LineState]
    /// The last starts of the server before the client's base, the oldest first.
    package let starts: [LineStart]
}

/// How a client gets back in sync.
package struct RecoveryAnswer: Hashable, Sendable {
    package enum Way: String, Hashable, Sendable, CaseIterable {
        /// The client compares its objects with the head, and adopts what differs.
        case adopt
        /// The client has states that the line has lost. It compares its objects with the state and
        /// gives back what differs.
        case giveBack
        /// The server does not know the client: it keeps its objects beside those of the head.
        case unite
        /// The server has seen a later request of this client.
        case stale
    }

    package let way: Way
    package let epoch: Epoch
    package let nonce: Int64
    package let outcome: BatchOutcome?
    /// The state to compare with; the server keeps it for the client.
    package let state: LineState
    /// The last starts of the server before that state, the oldest first.
    package let starts: [LineStart]
    /// How many objects the client has given back on that state already, in the order of their keys.
    package var givenCount: Int64 = 0
}

/// Gives back to the line what it has lost, in one piece or several.
///
/// The server keeps the pieces until the last one is there, and takes all of them in at once. A piece
/// that is sent again replaces itself and those that came after it.
package struct RestorationRequest: Hashable, Sendable {
    package let client: ClientID
    package let nonce: Int64
    /// The epoch of the client's base.
    package let epoch: Epoch
    /// The state that the objects were compared with.
    package let comparedWith: Int64
    /// States of that epoch that the client has adopted; the last one is its base.
    package let adopted: [LineState]
    /// How many objects the pieces before this one have.
    package let start: Int64
    /// Whether no other piece follows.
    package let isLast: Bool
    /// The client's objects where they differ from that state, in the order of their keys; nil where
    /// it has none.
    package let objects: [ObjectKey: VersionedValue?]
}
