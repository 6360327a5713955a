#if Server
public import GodwitStore
internal import GodwitReplication
internal import HTTPTypes
public import Hummingbird
public import Logging
public import ServiceLifecycle

/// The paths of a sync server, for the router of an app that has an HTTP server of its own.
///
/// ```swift
/// import Hummingbird
///
/// let options = SyncOptions(access: .keys)
/// let sync = try await SyncRoutes(store: store, host: "0.0.0.0", options: options)
/// let router = Router()
/// router.get("/") { _, _ in "hello" }
/// sync.add(to: router, at: "/sync")
/// var application = Application(router: router, configuration: .init(address: .hostname("0.0.0.0")))
/// application.addServices(sync)
/// try await application.runService()
/// ```
///
/// A device gives its transport the path, too: `HTTPTransport(server: "https://example.com/sync")`.
///
/// The routes are those below `/v1`. The app has its own paths for health, metrics and pages. Run the value
/// as a service of the app: it forgets clients that do not return, and hears of other nodes.
public struct SyncRoutes: Service {
    private let served: ServedReplicas
    private let responder: RouterResponder<AccessContext>

    /// - Parameters:
    ///   - store: Where the replicas are kept.
    ///   - host: The address that the app's server listens on: on any but a loopback address, the options need
    ///     ``AccessControl``.
    ///   - options: Which clients are let in, and how much each may use.
    ///   - logger: Where background work logs; a request logs where the app's router does.
    /// - Throws: ``AccessError/openBeyondLoopback(address:)``, ``AccessError/unusableKeySet(path:reason:)``,
    ///   ``AccessError/invalidOrigin(_:)``, `StoreError`.
    public init(
        store: Store,
        host: String,
        options: SyncOptions = SyncOptions(),
        logger: Logger = Logger(label: "godwit.server")
    ) async throws {
        try await self.init(.store(store), host: host, options: options, logger: logger)
    }

    init(
        _ backend: ServerBackend,
        host: String,
        options: SyncOptions,
        logger: Logger
    ) async throws {
        served = try await ServedReplicas(backend, at: host, options, logger)
        responder = served.routes.router.buildResponder()
    }

    /// Adds the routes to a router.
    ///
    /// - Parameters:
    ///   - router: The app's router, or a group of it.
    ///   - path: What stands before `/v1`, such as `/sync`; nothing by default.
    public func add<Context: RequestContext>(
        to router: some RouterMethods<Context>,
        at path: String = ""
    ) {
        let prefix = path.split(separator: "/").map { "/\($0)" }.joined()
        for (path, methods) in ServerRoute.embedded {
            let route = MountedRoute<Context>(
                responder: responder,
                componentCount: path.split(separator: "/").count
            )
            for method in methods {
                router.on(RouterPath(prefix + path), method: method, responder: route)
            }
        }
    }

    /// Cares for the replicas until the task is cancelled, or a graceful shutdown begins.
    public func run() async throws {
        do {
            try await cancelWhenGracefulShutdown { try await served.run() }
        } catch is CancellationError {
            // The app ends.
        }
    }
}

/// Hands a request of an app's router on to the routes, without what stands before their paths.
private struct MountedRoute<Context: RequestContext>: HTTPResponder {
    let responder: RouterResponder<AccessContext>
    /// How many components the path of the route has, the last ones of the request's.
    let componentCount: Int

    @concurrent func respond(to request: Request, context: Context) async throws -> Response {
        var head = request.head
        let components = request.uri.path.split(separator: "/").suffix(componentCount)
        let query = request.uri.query.map { "?\($0)" } ?? ""
        head.path = "/" + components.joined(separator: "/") + query
        let context = AccessContext(logger: context.logger)
        return try await responder.respond(
            to: Request(head: head, body: request.body),
            context: context
        )
    }
}

extension ServerRoute {
    /// The paths below `/v1`, with their methods; browsers ask by OPTIONS whether they may use another one.
    fileprivate static var embedded: [String: Set<HTTPRequest.Method>] {
        let routes = allCases.filter { $0.path.hasPrefix("/v1/") }
        return Dictionary(grouping: routes, by: \.path).mapValues {
            Set($0.map(\.method) + [.options])
        }
    }
}
#endif
