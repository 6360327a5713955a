#if Server
public import GodwitStore
internal import Hummingbird
internal import HummingbirdCore
internal import HummingbirdHTTP2
public import Logging
internal import NIOCore
public import ServiceLifecycle

/// Serves replicas over HTTP.
///
/// ```swift
/// let server = SyncServer(store: try Store(.file("/var/lib/godwit/server.sqlite")), port: 7007)
/// try await server.run()
/// ```
///
/// It listens on loopback, and lets every client in. To listen elsewhere, it needs ``AccessControl``. An app
/// that has an HTTP server of its own adds ``SyncRoutes`` to it.
public struct SyncServer: Service {
    private let backend: ServerBackend
    private let host: String
    private let port: Int
    private let tls: TLSFiles?
    private let logger: Logger
    private let whenListening: @Sendable (Int) async -> Void
    /// Which clients are let in, and how much each may use.
    public var options: SyncOptions
    /// How long requests that have begun may go on after a graceful shutdown begins.
    public var drainMax = Duration.seconds(20)
    /// For how long a connection may be silent that waits for a request, or for the rest of one.
    ///
    /// A client keeps a connection for a minute, and proxies for two: they must not find it closed.
    var silenceMax = Duration.seconds(180)

    /// The largest request that is accepted, in bytes.
    public static let requestSizeMax = ReplicaRoutes.requestSizeMax

    /// - Parameters:
    ///   - store: Where the replicas are kept.
    ///   - host: The address to listen on.
    ///   - port: Where to listen; 0 for a free port.
    ///   - options: Which clients are let in, and how much each may use.
    ///   - tls: The server's certificate; nil for HTTP without TLS, on loopback or behind a proxy.
    ///   - logger: Where the server logs.
    ///   - whenListening: Called with the port, once it is open.
    public init(
        store: Store,
        host: String = "127.0.0.1",
        port: Int = 7007,
        options: SyncOptions = SyncOptions(),
        tls: TLSFiles? = nil,
        logger: Logger = Logger(label: "godwit.server"),
        whenListening: @escaping @Sendable (Int) async -> Void = { _ in }
    ) {
        self.init(
            .store(store),
            host: host,
            port: port,
            options: options,
            tls: tls,
            logger: logger,
            whenListening: whenListening
        )
    }

    init(
        _ backend: ServerBackend,
        host: String,
        port: Int,
        options: SyncOptions,
        tls: TLSFiles?,
        logger: Logger,
        whenListening: @escaping @Sendable (Int) async -> Void
    ) {
        self.backend = backend
        self.host = host
        self.port = port
        self.options = options
        self.tls = tls
        self.logger = logger
        self.whenListening = whenListening
    }

    /// Serves until the surrounding task is cancelled, or a graceful shutdown begins.
    ///
    /// - Throws: ``AccessError/openBeyondLoopback(address:)``, ``AccessError/unusableKeySet(path:reason:)``,
    ///   ``AccessError/unusableCertificate(path:reason:)``, ``AccessError/invalidOrigin(_:)`` before it
    ///   listens; `StoreError`, and why it cannot listen.
    public func run() async throws {
        let served = try await ServedReplicas(backend, at: host, options, logger)
        if tls == nil, !Loopback.contains(host) {
            logger.warning(
                "keys and tokens travel in the clear: serve TLS, or put a proxy with TLS before"
            )
        }
        let whenListening = whenListening
        let application = Application(
            router: served.routes.router,
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
            group.addTask { try await served.run() }
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
}
#endif
