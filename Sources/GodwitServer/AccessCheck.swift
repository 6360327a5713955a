#if Server
internal import GodwitReplication
internal import HTTPTypes
internal import Hummingbird
internal import Logging

/// A request with the principal that makes it.
struct AccessContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// Without rights, until the check has found the principal.
    var principal = Principal(identity: .everyone, rights: .none)

    init(source: Source) { coreContext = CoreRequestContextStorage(source: source) }
}

/// Stands before every route, and lets a request through that its principal may make.
struct AccessCheck: RouterMiddleware {
    let gate: Gate
    let logger: Logger

    @concurrent func handle(
        _ request: Request,
        context: AccessContext,
        next: @concurrent (Request, AccessContext) async throws -> Response
    ) async throws -> Response {
        guard let route = ServerRoute(request.method, context.endpointPath) else {
            return Response(refusing: .notFound, code: "notFound", message: "there is no such path")
        }
        guard let permission = route.permission else { return try await next(request, context) }
        if gate.isOpen, request.headers.hasBeenForwarded {
            let message =
                "a server without access control takes no requests from a proxy: see --keys"
            return Response(refusing: .forbidden, code: "openBehindProxy", message: message)
        }
        var context = context
        do {
            context.principal = try await gate.principal(request.headers)
            // A text that is no name is refused as such, and says nothing about any replica.
            let name = try ReplicaName(context.parameters.get("name") ?? "")
            try context.principal.require(permission, name)
        } catch let error as ReplicationError {
            return Response(refusing: error)
        } catch let refusal as AccessRefusal {
            return refusal.response(to: request, logger)
        } catch let error as CancellationError {
            throw error
        } catch {
            return Response(failing: error, at: request, logger)
        }
        return try await next(request, context)
    }
}

extension HTTPFields {
    private static let ofProxies = [
        "forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip",
    ]
    .compactMap { HTTPField.Name($0) }

    /// Whether a proxy says on whose behalf it asks.
    fileprivate var hasBeenForwarded: Bool { Self.ofProxies.contains { self[$0] != nil } }
}
#endif
