#if Server
internal import GodwitReplication
public import GodwitStore
internal import GodwitTree
internal import HTTPTypes
internal import Hummingbird
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
/// It listens on loopback unless it is told otherwise: it lets every client in.
public struct SyncServer: Service {
    private let store: Store
    private let host: String
    private let port: Int
    private let logger: Logger
    private let whenListening: @Sendable (Int) async -> Void

    /// The largest request that is accepted, in bytes.
    public static let requestSizeMax = 64 << 20

    /// - Parameters:
    ///   - port: Where to listen; 0 for a free port.
    ///   - whenListening: Called with the port, once it is open.
    public init(
        store: Store,
        host: String = "127.0.0.1",
        port: Int = 7007,
        logger: Logger = Logger(label: "godwit.server"),
        whenListening: @escaping @Sendable (Int) async -> Void = { _ in }
    ) {
        self.store = store
        self.host = host
        self.port = port
        self.logger = logger
        self.whenListening = whenListening
    }

    /// Serves until the surrounding task is cancelled, or a graceful shutdown begins.
    public func run() async throws {
        let whenListening = whenListening
        let server = try await ReplicaServer(store)
        let routes = ReplicaRoutes(server: server, logger: logger)
        let application = Application(
            router: routes.router,
            configuration: ApplicationConfiguration(
                address: .hostname(host, port: port),
                serverName: "godwit"
            ),
            onServerRunning: { channel in
                await whenListening(channel.localAddress?.port ?? 0)
            },
            logger: logger
        )
        try await application.run()
    }
}
#endif
