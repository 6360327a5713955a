#if Server
internal import GodwitReplication
internal import GodwitStore
internal import GodwitTree
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import NIOCore
internal import ServiceLifecycle
internal import Synchronization

#if PostgreSQL
internal import GodwitPostgreSQL
#endif

/// The paths of ``ServerRoute``, and what they answer.
struct ReplicaRoutes {
    let server: ReplicaServer
    let health: HealthCheck
    let hosts: HostCheck
    let origins: OriginCheck
    let gate: Gate
    let limiter: Limiter
    /// See ``ServerLimits/replicaMax``.
    var replicaMax: Int?
    let metrics: ServerMetrics
    /// What `/metrics` answers; nil where the process keeps no metrics.
    let published: PrometheusMetrics?
    var audit = AuditLog(nil)
    /// Whether each request is a span of the process's tracer.
    var isTraced = false
    /// Whether there is a list that everybody may edit.
    let hasDemo: Bool
    /// How often a stream of events says that the server is there, and looks whether its token still is.
    let heartbeat: Duration

    /// The largest request that is accepted, in bytes.
    static let requestSizeMax = 64 << 20

    var router: Router<AccessContext> {
        let router = Router(context: AccessContext.self, options: .autoGenerateHeadEndpoints)
        if isTraced { router.add(middleware: TracingMiddleware()) }
        router.add(middleware: RequestLog(metrics: metrics))
        router.add(middleware: hosts)
        router.add(middleware: origins)
        router.add(middleware: AccessCheck(gate: gate, limiter: limiter, audit: audit))
        for route in ServerRoute.allCases {
            router.on(RouterPath(route.path), method: route.method) { request, context in
                try await answer(route, request, context)
            }
        }
        return router
    }

    private func answer(
        _ route: ServerRoute,
        _ request: Request,
        _ context: AccessContext
    ) async throws -> Response {
        switch route {
        case .live: return Response(status: .ok, value: ["status": "ok"])
        case .ready, .health: return await answerHealth(context)
        case .dashboard: return Response(.dashboard)
        case .dashboardStyle: return Response(.dashboardStyle)
        case .dashboardScript: return Response(.dashboardScript)
        case .demo, .demoStyle, .demoScript, .demoWorker, .demoClient: return try answerDemo(route)
        case .metrics: return try answerMetrics()
        case .openAPI: return Response(.openAPI)
        case .replicas: return try await list(request, context)
        case .summary: return try await summary(of: context.replica(), for: request)
        case .create: return try await create(request, context)
        case .value:
            let value = try await server.value(of: context.replica())
            return Response(status: .ok, value: value, encoding: Encoding(accepted: request))
        case .exchange: return try await exchange(request, context)
        case .events: return try await events(request, context)
        case .clients: return try await clients(of: context.replica(), for: request)
        }
    }
}

extension ReplicaRoutes {
    /// Whether the store can be read and written to: after a failed sync, it has to be opened again.
    private func answerHealth(_ context: AccessContext) async -> Response {
        do {
            try await health.run()
            return Response(status: .ok, value: ["status": "ok"])
        } catch {
            context.logger.error("the store fails", metadata: ["error": "\(error)"])
            return Response(status: .serviceUnavailable, value: ["status": "failed"])
        }
    }

    private func answerMetrics() throws -> Response {
        guard let published else {
            throw HTTPError(.notFound, message: "this server keeps no metrics")
        }
        return Response(
            status: .ok,
            headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: published.text))
        )
    }

    private func answerDemo(_ route: ServerRoute) throws -> Response {
        guard hasDemo else {
            throw HTTPError(.notFound, message: "this server has no demo: see godwit serve --demo")
        }
        return switch route {
        case .demoStyle: Response(.demoStyle)
        case .demoScript: Response(.demoScript)
        case .demoWorker: Response(.demoWorker)
        case .demoClient: Response(.client)
        default: Response(.demo)
        }
    }

    private func exchange(_ request: Request, _ context: AccessContext) async throws -> Response {
        let name = try context.replica()
        guard let header = request.headers[.godwitClient], let identifier = Identifier(header)
        else {
            throw ReplicationError.malformedMessage(
                reason: "the header godwit-client has 32 hexadecimal digits"
            )
        }
        // Counted until the answer is there.
        let lease = limiter.request(of: context.principal.identity)
        defer { withExtendedLifetime(lease) {} }
        let (body, client) = (try await body(of: request, lease), ClientID(identifier))
        let bytes = Array(body.readableBytesView)
        let carriesChanges = Atomic(false)
        let admit = { (scope: MessageScope) async throws -> ReplicaRight in
            // The key may have been revoked while the body came.
            let principal = try await gate.principal(request.headers)
            try principal.require(.read, name)
            let right = try await gate.admit(scope, of: principal, to: name) {
                _ = try await server.head(of: name)
            }
            if scope.carriesChanges {
                if right == .write {
                    carriesChanges.store(true, ordering: .relaxed)
                } else {
                    let reason = AccessRefusal.notPermitted(.write, name).reason
                    audit.note(.refused, context, by: client, because: reason)
                }
            }
            return right
        }
        if Encoding(of: request) == .json {
            let answer = try await server.answer(
                json: bytes,
                from: client,
                of: name,
                admitting: admit
            )
            if carriesChanges.load(ordering: .relaxed) { audit.note(.changed, context, by: client) }
            return Response(status: .ok, value: answer)
        }
        let answer = try await server.answer(bytes, from: client, of: name, admitting: admit)
        if carriesChanges.load(ordering: .relaxed) { audit.note(.changed, context, by: client) }
        return Response(
            status: .ok,
            headers: [.contentType: "application/octet-stream"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: answer))
        )
    }

    /// The whole body; a client that goes away while it sends is no failure of the server.
    private func body(of request: Request, _ lease: ByteLease) async throws -> ByteBuffer {
        // One that is announced as too large need not come.
        let told = request.headers[.contentLength].flatMap { Int($0) } ?? 0
        guard told <= Self.requestSizeMax else { throw LimitRefusal.tooLarge }
        var body = ByteBuffer()
        do {
            for try await part in request.body {
                guard body.readableBytes + part.readableBytes <= Self.requestSizeMax else {
                    throw LimitRefusal.tooLarge
                }
                try lease.take(part.readableBytes)
                body.writeImmutableBuffer(part)
            }
            return body
        } catch let error as any HTTPResponseError {
            throw error
        } catch let refusal as LimitRefusal {
            throw refusal
        } catch let error as CancellationError {
            throw error
        } catch {
            throw ReplicationError.malformedMessage(reason: "the request ended too early")
        }
    }

    /// Server-sent events: the current head, then every newer one that is not overtaken.
    ///
    /// The data of an event is the state's serial and id. A comment every 20 seconds tells the client
    /// that the server is there, or that another server of the same file has made a new head. The stream
    /// ends when its token is not valid any more.
    private func events(_ request: Request, _ context: AccessContext) async throws -> Response {
        let name = try context.replica()
        let heads = try await server.heads(of: name)
        let leases = [try limiter.takeStream(of: context.principal.identity), metrics.stream()]
        let (server, gate, heartbeat, headers) = (server, gate, heartbeat, request.headers)
        let body = ResponseBody { writer in
            defer { withExtendedLifetime(leases) {} }
            try await writer.write(ByteBuffer(string: ": godwit\n\n"))
            var last: LineState?
            let events = heads.withHeartbeats(every: heartbeat)
            for await event in events.cancelOnGracefulShutdown() {
                let head: LineState
                do {
                    try await gate.principal(headers).require(.read, name)
                    head = if let event { event } else { try await server.head(of: name) }
                } catch is AccessRefusal {
                    break
                } catch {
                    // A database that is busy takes no right away: the next beat asks again.
                    continue
                }
                let text =
                    head == last
                    ? ": here\n\n"
                    : "event: head\nid: \(head.serial)\ndata: \(head.serial) \(head.id)\n\n"
                last = head
                try await writer.write(ByteBuffer(string: text))
            }
            try await writer.finish(nil)
        }
        return Response(
            status: .ok,
            headers: [.contentType: "text/event-stream", .cacheControl: "no-store"],
            body: body
        )
    }
}

extension Response {
    /// Tells the client nothing, and the log everything.
    init(failing error: any Error, at request: Request, _ logger: Logger) {
        let metadata: Logger.Metadata = ["error": "\(error)", "path": "\(request.uri.path)"]
        logger.error("request failed", metadata: metadata)
        #if PostgreSQL
        if let error = error as? PostgreSQLError, error.isPassing {
            let message = "the server's database cannot be asked at the moment"
            self.init(refusing: .serviceUnavailable, code: "unavailable", message: message)
            headers[.retryAfter] = "1"
            return
        }
        #endif
        self.init(
            refusing: .internalServerError,
            code: "internal",
            message: "the server failed; see its log"
        )
    }
}

extension HTTPField.Name {
    fileprivate static var godwitClient: HTTPField.Name {
        guard let name = HTTPField.Name("godwit-client") else {
            preconditionFailure("A header's name of letters is a header's name")
        }
        return name
    }
}
#endif
