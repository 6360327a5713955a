#if Server
internal import HTTPTypes

/// All that the server answers, and which right each route asks for.
///
/// A path that is not among these is not answered, whatever else is added to the router.
enum ServerRoute: CaseIterable {
    case health, create, summary, value, exchange, events

    var method: HTTPRequest.Method {
        switch self {
        case .health, .summary, .value, .events: .get
        case .create: .put
        case .exchange: .post
        }
    }

    var path: String {
        let replica = "/v1/replicas/{name}"
        return switch self {
        case .health: "/health"
        case .create, .summary: replica
        case .value: "\(replica)/value"
        case .exchange: "\(replica)/exchange"
        case .events: "\(replica)/events"
        }
    }

    /// What the principal needs to may do to the replica; nil for all clients, also without a token.
    var permission: Permission? {
        switch self {
        case .health: nil
        case .create: .create
        // A message that carries changes needs more: see `ReplicaServer.answer`.
        case .summary, .value, .exchange, .events: .read
        }
    }

    /// The route of a request, by the path that the router has found for it.
    init?(_ method: HTTPRequest.Method, _ path: String?) {
        guard let found = Self.allCases.first(where: { $0.method == method && $0.path == path })
        else { return nil }
        self = found
    }
}
#endif
