#if Server
internal import GodwitReplication
internal import HTTPTypes
internal import Hummingbird
internal import Logging

/// Why a request is not let in.
///
/// The client learns no more of its token than that it is expired or not valid; the log has the reason.
enum AccessRefusal: Error, Hashable {
    case noToken
    /// The token is genuine, but too old.
    case expired(String)
    case invalid(String)
    /// The principal may not read the replica: for it, there is none.
    case hidden(ReplicaName)
    case notPermitted(Permission, ReplicaName)
    /// The principal may not administer all replicas.
    case notAdministrator
    /// The id of the client belongs to another principal.
    case foreignClient(ClientID)
    /// The principal has as many ids of clients in the replica as it may have.
    case tooManyClients(ReplicaName)
    /// There are as many replicas as the principal may make.
    case tooManyReplicas
}

extension AccessRefusal {
    /// What the log says.
    var reason: String {
        switch self {
        case .noToken: "no token"
        case .expired(let reason), .invalid(let reason): reason
        case .hidden(let name): "no right to read \(name)"
        case .notPermitted(let permission, let name): "no right to \(permission) \(name)"
        case .notAdministrator: "no right to administer all replicas"
        case .foreignClient(let client): "the id \(client) belongs to another principal"
        case .tooManyClients(let name):
            "the principal has as many clients in \(name) as it may have"
        case .tooManyReplicas: "there are as many replicas as the principal may make"
        }
    }

    /// The answer; the log has the reason.
    func response(to request: Request, _ logger: Logger) -> Response {
        let metadata: Logger.Metadata = ["reason": "\(reason)", "path": "\(request.uri.path)"]
        logger.notice("request refused", metadata: metadata)
        return response
    }

    private var response: Response {
        switch self {
        case .noToken: challenge("tokenRequired", "the request has no token", "Bearer")
        case .expired: challenge("tokenExpired", "the token is expired", Self.invalidToken)
        case .invalid: challenge("tokenInvalid", "the token is not valid", Self.invalidToken)
        case .hidden(let name): Response(refusing: ReplicationError.unknownReplica(name.text))
        case .notPermitted(.write, let name): Response(refusing: .readOnly(name.text))
        case .notPermitted(let permission, let name):
            Response(
                refusing: .forbidden,
                code: "notPermitted",
                message: "you may read \"\(name)\", but not \(permission) it: ask for that right"
            )
        case .notAdministrator:
            Response(
                refusing: .forbidden,
                code: "notPermitted",
                message: "this needs a key or a token with the right --administer '*'"
            )
        case .foreignClient(let client):
            Response(
                refusing: .forbidden,
                code: "foreignClient",
                message: """
                    the id \(client) of this device belongs to another principal: to give it to this \
                    one, the server's operator calls `godwit replica forget --client \(client)`
                    """
            )
        case .tooManyClients(let name):
            Response(
                refusing: .forbidden,
                code: "tooManyClients",
                message: """
                    this key or user has as many devices in "\(name)" as it may have: the server's \
                    operator raises --max-clients, or gives each user a key
                    """
            )
        case .tooManyReplicas:
            Response(
                refusing: .forbidden,
                code: "tooManyReplicas",
                message: """
                    there are as many replicas as this key or user may make: the server's operator \
                    raises --max-replicas
                    """
            )
        }
    }

    /// RFC 6750, section 3.
    private static let invalidToken = #"Bearer error="invalid_token""#

    private func challenge(_ code: String, _ message: String, _ scheme: String) -> Response {
        var response = Response(refusing: .unauthorized, code: code, message: message)
        response.headers[.wwwAuthenticate] = scheme
        return response
    }
}
#endif
