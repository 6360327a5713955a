/// A client of a replica, as its server knows it.
public struct ReplicaClient: Hashable, Sendable {
    public let id: ClientID
    /// The state that it last said it has; 0 for none.
    public let acked: Int64
    /// The state that was last sent to it; 0 for none.
    public let sent: Int64
    /// For how long it has sent nothing that was written.
    public let silence: Duration

    /// Whether the server keeps no state for it.
    ///
    /// A client that comes back compares its objects with the server's; nothing is lost.
    public var isForgotten: Bool { acked == 0 && sent == 0 }

    package init(id: ClientID, acked: Int64, sent: Int64, silence: Duration) {
        self.id = id
        self.acked = acked
        self.sent = sent
        self.silence = silence
    }
}
