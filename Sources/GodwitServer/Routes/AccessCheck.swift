#if Server
internal import GodwitReplication
internal import HTTPTypes
internal import Hummingbird
internal import Logging

/// A request with the principal that makes it.
struct AccessContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// Nil until the check has found the principal.
    var knownPrincipal: Principal?

    init(source: Source) { coreContext = CoreRequestContextStorage(source: source) }

    /// The context of a request that another router has handed on.
    init(logger: Logger) {
        coreContext = CoreRequestContextStorage(source: ForwardingSource(logger: logger))
    }

    private struct ForwardingSource: RequestContextSource { let logger: Logger }

    /// The principal that makes the request; one without rights until the check has found it.
    var principal: Principal { knownPrincipal ?? Principal(identity: .everyone, rights: .none) }
}

/// Stands before every route, and lets a request through that its principal may make.
struct AccessCheck: RouterMiddleware {
    let gate: Gate
    let limiter: Limiter
    let audit: AuditLog

    @concurrent func handle(
        _ request: Request,
        context: AccessContext,
        next: @concurrent (Request, AccessContext) async throws -> Response
    ) async throws -> Response {
        guard let route = ServerRoute(request.method, context.endpointPath) else {
            return Response(refusing: .notFound, code: "notFound", message: "there is no such path")
        }
        guard route.need != .nothing else {
            return try await answer(request, context) { try await next(request, $0) }
        }
        if gate.isOpen, request.headers.hasBeenForwarded {
            context.logger.notice("request refused", metadata: ["reason": "open behind a proxy"])
            let message =
                "a server without access control takes no requests from a proxy: see --keys"
            return Response(refusing: .forbidden, code: "openBehindProxy", message: message)
        }
        return try await answer(request, context) { context in
            context.knownPrincipal = try await gate.principal(request.headers)
            try limiter.takeRequest(of: context.principal.identity)
            try context.check(route.need)
            return try await next(request, context)
        }
    }

    /// Turns what is thrown into an answer that a program can read.
    private func answer(
        _ request: Request,
        _ context: AccessContext,
        _ body: (inout AccessContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        do {
            return try await body(&context)
        } catch let error as ReplicationError {
            return Response(refusing: error)
        } catch let refusal as AccessRefusal {
            audit.note(.refused, context, because: refusal.reason)
            return refusal.response(to: request, context.logger)
        } catch let refusal as LimitRefusal {
            context.logger.notice("request refused", metadata: ["reason": "\(refusal)"])
            return refusal.response
        } catch let error as any HTTPResponseError {
            return Response(refusing: error.status, code: "refused", message: "\(error)")
        } catch let error as CancellationError {
            throw error
        } catch {
            return Response(failing: error, at: request, context.logger)
        }
    }
}

extension AccessContext {
    fileprivate func check(_ need: ServerRoute.Need) throws {
        switch need {
        case .nothing, .token: break
        // A text that is no name is refused as such, and says nothing about any replica.
        case .replica(let permission): try principal.require(permission, try replica())
        case .server:
            guard principal.rights.administersAll else { throw AccessRefusal.notAdministrator }
        }
    }

    /// The replica that the path names.
    func replica() throws(ReplicationError) -> ReplicaName {
        try ReplicaName(parameters.get("name") ?? "")
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
