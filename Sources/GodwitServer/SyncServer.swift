#if Server
internal import GodwitReplication
public import GodwitStore
internal import GodwitTree
internal import HTTPTypes
internal import Hummingbird
internal import HummingbirdCore
internal import HummingbirdHTTP2
public import Logging
internal import Metrics
internal import NIOCore
public import ServiceLifecycle

/// Serves replicas over HTTP.
///
/// ```swift
/// let server = SyncServer(store: try Store(.file("/var/lib/godwit/server.sqlite")), port: 7007)
/// try await server.run()
/// ```
///
/// It listens on loopback, and lets every client in. To listen elsewhere, it needs ``AccessControl``.
public struct SyncServer: Service {
    private let backend: ServerBackend
    private let host: String
    private let port: Int
    private let access: AccessControl
    private let tls: TLSFiles?
    private let allowedHosts: [String]
    private let clientSilenceMax: Duration?
    private let logger: Logger
    private let whenListening: @Sendable (Int) async -> Void
    /// How much of the server one principal may use.
    public var limits = ServerLimits()
    /// Counts requests, and is what `GET /metrics` answers.
    ///
    /// If it is nil, the server counts in the metrics system of the process, and has no such path.
    public var metrics: PrometheusMetrics?
    /// Whether the server has the replica "shopping", and serves a page at `/demo` that edits it.
    ///
    /// Everybody who reaches the server may then edit the list: for ``AccessControl/open`` alone.
    public var hasDemo = false
    /// How long requests that have begun may go on after a graceful shutdown begins.
    public var drainMax = Duration.seconds(20)
    /// See ``ReplicaRoutes/heartbeat``.
    var heartbeat = Duration.seconds(20)
    /// For how long a connection may be silent that waits for a request, or for the rest of one.
    ///
    /// A client keeps a connection for a minute, and proxies for two: they must not find it closed.
    var silenceMax = Duration.seconds(180)

    /// The largest request that is accepted, in bytes.
    public static let requestSizeMax = ReplicaRoutes.requestSizeMax

    /// How often the server looks for clients that do not return.
    private static let forgetInterval = Duration.seconds(3_600)

    /// - Parameters:
    ///   - store: Where the replicas are kept.
    ///   - host: The address to listen on.
    ///   - port: Where to listen; 0 for a free port.
    ///   - access: Which clients are let in.
    ///   - tls: The server's certificate; nil for HTTP without TLS, on loopback or behind a proxy.
    ///   - allowedHosts: The names under which clients reach the server, such as `sync.example.com` behind
    ///     a proxy that keeps the name. On loopback, requests for other names than `localhost` and these
    ///     are refused; on any other address, all are let in unless names are given.
    ///   - clientSilenceMax: For how long states are kept for a client that is not heard of; nil for ever.
    ///     A client that returns later loses nothing: it compares its objects.
    ///   - logger: Where the server logs.
    ///   - whenListening: Called with the port, once it is open.
    public init(
        store: Store,
        host: String = "127.0.0.1",
        port: Int = 7007,
        access: AccessControl = .open,
        tls: TLSFiles? = nil,
        allowedHosts: [String] = [],
        clientSilenceMax: Duration? = .seconds(180 * 24 * 3_600),
        logger: Logger = Logger(label: "godwit.server"),
        whenListening: @escaping @Sendable (Int) async -> Void = { _ in }
    ) {
        self.init(
            .store(store),
            host: host,
            port: port,
            access: access,
            tls: tls,
            allowedHosts: allowedHosts,
            clientSilenceMax: clientSilenceMax,
            logger: logger,
            whenListening: whenListening
        )
    }

    init(
        _ backend: ServerBackend,
        host: String,
        port: Int,
        access: AccessControl,
        tls: TLSFiles?,
        allowedHosts: [String],
        clientSilenceMax: Duration?,
        logger: Logger,
        whenListening: @escaping @Sendable (Int) async -> Void
    ) {
        self.backend = backend
        self.host = host
        self.port = port
        self.access = access
        self.tls = tls
        self.allowedHosts = allowedHosts
        self.clientSilenceMax = clientSilenceMax
        self.logger = logger
        self.whenListening = whenListening
    }

    /// Serves until the surrounding task is cancelled, or a graceful shutdown begins.
    ///
    /// - Throws: ``AccessError/openBeyondLoopback(address:)``, ``AccessError/unusableKeySet(path:reason:)``,
    ///   ``AccessError/unusableCertificate(path:reason:)`` before it listens; `StoreError`, and why it
    ///   cannot listen.
    public func run() async throws {
        try access.check(listeningOn: host)
        if tls == nil, !Loopback.contains(host) {
            logger.warning(
                "keys and tokens travel in the clear: serve TLS, or put a proxy with TLS before"
            )
        }
        let whenListening = whenListening
        let opened = try await backend.open(logger)
        let server = opened.server
        if hasDemo { try await server.create(ReplicaName("shopping")) }
        let routes = ReplicaRoutes(
            server: server,
            health: HealthCheck(trial: opened.check),
            hosts: HostCheck(address: host, names: allowedHosts),
            gate: try await Gate(
                opened.access,
                access,
                clientMax: limits.clientMax,
                logger: logger
            ),
            limiter: Limiter(limits),
            metrics: ServerMetrics(metrics ?? MetricsSystem.factory),
            published: metrics,
            hasDemo: hasDemo,
            heartbeat: heartbeat
        )
        let application = Application(
            router: routes.router,
            server: try protocols(),
            configuration: ApplicationConfiguration(
                address: .hostname(host, port: port),
                serverName: "godwit"
            ),
            onServerRunning: { channel in
                await whenListening(channel.localAddress?.port ?? 0)
            },
            logger: logger
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await application.run() }
            group.addTask { [drainMax] in
                // A client that does not send the rest of its request would hold the server up.
                try await gracefulShutdown()
                try await Task.sleep(for: drainMax)
            }
            if let run = opened.run { group.addTask { await run() } }
            if clientSilenceMax != nil {
                group.addTask { try await forgetSilentClients(of: server) }
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// HTTP/1.1; with a certificate TLS, and HTTP/2 for clients that speak it.
    private func protocols() throws -> HTTPServerBuilder {
        let http1 = HTTP1Channel.Configuration(idleTimeout: TimeAmount(silenceMax))
        guard let tls else { return .http1(configuration: http1) }
        let now = backend.clock.now
        let certificate = try ServerCertificate(tls, now: now, logger: logger)
        return try .http2Upgrade(
            tlsConfiguration: certificate.configuration,
            configuration: .init(idleTimeout: silenceMax, streamConfiguration: http1)
        )
    }

    /// Forgets clients that do not return, until the task is cancelled.
    private func forgetSilentClients(of server: ReplicaServer) async throws {
        while true {
            do {
                try await forgetSilentClientsOnce(of: server)
            } catch let error as CancellationError {
                throw error
            } catch {
                // It is tried again in an hour, and nothing depends on it.
                logger.error("silent clients stay", metadata: ["error": "\(error)"])
            }
            try await Task.sleep(for: Self.forgetInterval)
        }
    }

    private func forgetSilentClientsOnce(of server: ReplicaServer) async throws {
        for name in try await server.names() {
            let forgotten = try await server.forgetClients(of: name, silentFor: clientSilenceMax)
            for client in forgotten {
                logger.info("forgot a client", metadata: ["client": "\(client)"])
            }
        }
    }
}
#endif
