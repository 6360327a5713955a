#if Server
/// How much of a server one principal may use.
///
/// ```swift
/// var options = SyncOptions(access: .keys)
/// options.limits.requestRate = 50
/// try await SyncServer(store: store, options: options).run()
/// ```
///
/// The server looks at a limit before it decodes a message, and counts bytes as they arrive. It answers 429, and says
/// in `Retry-After` when to try again; `ReplicaConnector` waits that long.
public struct ServerLimits: Hashable, Sendable {
    /// How many requests a second one principal may make in the long run; nil for any number.
    public var requestRate: Double?
    /// How many requests one principal may make at once after a pause.
    public var requestBurst = 100
    /// How many bytes of requests the server holds for one principal at a time.
    public var principalBytesMax = 128 << 20
    /// How many bytes of requests the server holds for all principals at a time.
    public var bytesMax = 512 << 20
    /// How many streams of events one principal may have open; nil for any number.
    public var streamMax: Int?
    /// How many ids of clients one principal may use in a replica, on a server with access control.
    public var clientMax = 10_000
    /// How many replicas there may be that one principal may make; nil for any number.
    ///
    /// The server counts all replicas that the principal's right to create covers, such as those of `acme.*`.
    public var replicaMax: Int?
    /// How many bytes the objects of one replica may have; nil for any number.
    ///
    /// See `ReplicaServer.Options.replicaSizeMax`.
    public var replicaSizeMax: Int64?

    public init() {}
}
#endif
