#if Server
public import Logging

/// Which clients a sync server lets in, how much each may use, and what the server counts and records.
///
/// ```swift
/// import Logging
///
/// var options = SyncOptions(access: .keys)
/// options.allowedOrigins = ["https://app.example.com"]
/// options.limits.requestRate = 50
/// options.auditLogger = Logger(label: "com.example.audit")
/// try await SyncServer(store: store, host: "0.0.0.0", options: options).run()
/// ```
public struct SyncOptions: Sendable {
    /// Which clients are let in.
    public var access: AccessControl
    /// The names under which clients reach the server, such as `sync.example.com` behind a proxy that keeps
    /// the name.
    ///
    /// On loopback, the server refuses requests for other names than `localhost` and these; on any other
    /// address, it lets all in unless names are given.
    public var allowedHosts: [String] = []
    /// The web pages of other sites that may use the server, such as `https://app.example.com`.
    ///
    /// A browser says where a page is from (`Origin`). The server answers pages of its own and of these
    /// origins, and refuses others. A native app has no origin; one in a web view has, such as
    /// `capacitor://localhost`.
    public var allowedOrigins: [String] = []
    /// For how long the server keeps states for a client that is silent; nil for ever.
    ///
    /// A client that returns later loses nothing: it compares its objects.
    public var clientSilenceMax: Duration? = .seconds(180 * 24 * 3_600)
    /// How much of the server one principal may use.
    public var limits = ServerLimits()
    /// Counts requests, and is what `GET /metrics` answers.
    ///
    /// If it is nil, the server counts in the metrics system of the process, and has no such path; ``SyncRoutes``
    /// have none either.
    public var metrics: PrometheusMetrics?
    /// Records which principal has made a replica, has sent changes, or was refused; see ``AuditAction``.
    public var auditLogger: Logger?
    /// Whether each request is a span of the process's tracer (swift-distributed-tracing).
    public var isTraced = false
    /// Whether the server has the replica "shopping", and serves a page at `/demo` that edits it.
    ///
    /// Everybody who reaches the server may then edit the list: for ``AccessControl/open`` alone.
    /// ``SyncRoutes`` have no pages.
    public var hasDemo = false
    /// See ``ReplicaRoutes/heartbeat``.
    var heartbeat = Duration.seconds(20)

    public init(access: AccessControl = .open) { self.access = access }
}
#endif
