#if Server
internal import HTTPTypes

/// All that the server answers, and which right each route asks for.
///
/// A path that is not among these is not answered, whatever else is added to the router.
enum ServerRoute: CaseIterable {
    case live, ready, health
    case dashboard, dashboardStyle, dashboardScript
    case demo, demoStyle, demoScript, demoWorker, demoClient
    case metrics, openAPI
    case replicas, create, summary, value, exchange, events, clients

    /// What a request needs before it is answered.
    enum Need: Equatable {
        /// Nothing, not even a token.
        case nothing
        /// A token, whatever it allows.
        case token
        /// A right to the replica that the path names.
        case replica(Permission)
        /// The right to administer all replicas.
        case server
    }

    var method: HTTPRequest.Method {
        switch self {
        case .create: .put
        case .exchange: .post
        default: .get
        }
    }

    var path: String {
        let replica = "/v1/replicas/{name}"
        return switch self {
        case .live: "/health/live"
        case .ready: "/health/ready"
        case .health: "/health"
        case .dashboard: "/dashboard"
        case .dashboardStyle: "/dashboard/style.css"
        case .dashboardScript: "/dashboard/app.js"
        case .demo: "/demo"
        case .demoStyle: "/demo/demo.css"
        case .demoScript: "/demo/demo.js"
        // Its folder is that of the page: a worker serves what lies below it.
        case .demoWorker: "/demo-worker.js"
        case .demoClient: "/demo/godwit.js"
        case .metrics: "/metrics"
        case .openAPI: "/v1/openapi.json"
        case .replicas: "/v1/replicas"
        case .create, .summary: replica
        case .value: "\(replica)/value"
        case .exchange: "\(replica)/exchange"
        case .events: "\(replica)/events"
        case .clients: "\(replica)/clients"
        }
    }

    var need: Need {
        switch self {
        case .live, .ready, .health, .dashboard, .dashboardStyle, .dashboardScript, .demo,
            .demoStyle, .demoScript, .demoWorker, .demoClient, .openAPI:
            .nothing
        case .metrics: .server
        case .replicas: .token
        case .create: .replica(.create)
        case .clients: .replica(.administer)
        // A message that carries changes needs more: see `ReplicaServer.answer`.
        case .summary, .value, .exchange, .events: .replica(.read)
        }
    }

    /// The route of a request, by the path that the router has found for it.
    ///
    /// HEAD is for probes: what is answered without a token is answered without a body, too.
    init?(_ method: HTTPRequest.Method, _ path: String?) {
        let wanted = method == .head ? .get : method
        guard let found = Self.allCases.first(where: { $0.method == wanted && $0.path == path }),
            method != .head || found.need == .nothing
        else { return nil }
        self = found
    }
}
#endif
