/// What a message asks for: on whose behalf it speaks, and whether it brings changes.
public struct MessageScope: Hashable, Sendable {
    /// The client that sends it.
    public let client: ClientID
    /// The id under which the server has known the client before, if the message names one.
    public let former: ClientID?
    /// Whether the message changes the replica, and not only what is noted about its client.
    public let carriesChanges: Bool
}

/// What a message may do to a replica.
public enum ReplicaRight: Hashable, Sendable {
    /// Learn of its objects and states.
    ///
    /// A message that carries changes is refused with ``ReplicationError/readOnly(_:)``. A device that has
    /// states which the server has lost does not give them back: it takes the server's objects.
    case read
    case write
}
