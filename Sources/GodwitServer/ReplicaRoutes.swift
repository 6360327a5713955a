#if Server
internal import GodwitReplication
internal import GodwitStore
internal import GodwitTree
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import NIOCore
internal import ServiceLifecycle

/// The paths below `/v1/replicas`, and what they answer.
struct ReplicaRoutes {
    let server: ReplicaServer
    let health: HealthCheck
    let hosts: HostCheck
    let gate: Gate
    let logger: Logger
    /// How often a stream of events says that the server is there, and looks whether its token still is.
    let heartbeat: Duration

    var router: Router<AccessContext> {
        let router = Router(context: AccessContext.self)
        router.add(middleware: hosts)
        router.add(middleware: AccessCheck(gate: gate, logger: logger))
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
        if route == .health { return await answerHealth() }
        return try await answering(request, context) { name in
            switch route {
            case .health, .summary: return try await summary(of: name, for: request)
            case .create:
                try await server.create(name)
                return try await summary(of: name, for: request)
            case .value:
                let value = try await server.value(of: name)
                return Response(status: .ok, value: value, encoding: Encoding(accepted: request))
            case .exchange: return try await exchange(request, name)
            case .events:
                return events(try await server.heads(of: name), of: name, for: request.headers)
            }
        }
    }
}

extension ReplicaRoutes {
    /// Whether the store can be read and written to: after a failed sync, it has to be opened again.
    private func answerHealth() async -> Response {
        do {
            try await health.run()
            return Response(status: .ok, value: ["status": "ok"])
        } catch {
            logger.error("the store fails", metadata: ["error": "\(error)"])
            return Response(status: .serviceUnavailable, value: ["status": "failed"])
        }
    }

    private func exchange(
        _ request: Request,
        _ name: ReplicaName
    ) async throws -> Response {
        guard let header = request.headers[.godwitClient], let identifier = Identifier(header)
        else {
            throw ReplicationError.malformedMessage(
                reason: "the header godwit-client has 32 hexadecimal digits"
            )
        }
        let body = try await body(of: request)
        let answer = try await server.answer(
            Array(body.readableBytesView),
            from: ClientID(identifier),
            of: name
        ) { scope in
            // The key may have been revoked while the body came.
            let principal = try await gate.principal(request.headers)
            try principal.require(.read, name)
            return try await gate.admit(scope, of: principal, to: name) {
                _ = try await server.head(of: name)
            }
        }
        return Response(
            status: .ok,
            headers: [.contentType: "application/octet-stream"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: answer))
        )
    }

    /// The whole body; a client that goes away while it sends is no failure of the server.
    private func body(of request: Request) async throws -> ByteBuffer {
        do {
            return try await request.body.collect(upTo: SyncServer.requestSizeMax)
        } catch let error as any HTTPResponseError {
            throw error
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
    private func events(
        _ heads: AsyncStream<LineState>,
        of name: ReplicaName,
        for headers: HTTPFields
    ) -> Response {
        let (server, gate, heartbeat) = (server, gate, heartbeat)
        let body = ResponseBody { writer in
            try await writer.write(ByteBuffer(string: ": godwit\n\n"))
            var last: LineState?
            let events = heads.withHeartbeats(every: heartbeat)
            for await event in events.cancelOnGracefulShutdown() {
                guard (try? await gate.principal(headers).require(.read, name)) != nil else {
                    break
                }
                let head = if let event { event } else { try await server.head(of: name) }
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

    private func summary(of name: ReplicaName, for request: Request) async throws -> Response {
        let summary = try await server.summary(of: name)
        let value: Value = [
            "name": .string(Key(name.text)),
            "serial": .int(summary.head.serial),
            "head": .string(Key(summary.head.id.description)),
            "objects": .int(Int64(summary.objectCount)),
            "states": .int(Int64(summary.stateCount)),
            "clients": .int(Int64(summary.clientCount)),
        ]
        return Response(status: .ok, value: value, encoding: Encoding(accepted: request))
    }

    /// Turns what is thrown into an answer that a program can read.
    private func answering(
        _ request: Request,
        _ context: AccessContext,
        _ body: (ReplicaName) async throws -> Response
    ) async throws -> Response {
        do {
            let name = try ReplicaName(context.parameters.get("name") ?? "")
            return try await body(name)
        } catch let error as ReplicationError {
            return Response(refusing: error)
        } catch let refusal as AccessRefusal {
            return refusal.response(to: request, logger)
        } catch let error as any HTTPResponseError {
            return Response(refusing: error.status, code: "refused", message: "\(error)")
        } catch let error as CancellationError {
            throw error
        } catch {
            return Response(failing: error, at: request, logger)
        }
    }
}

extension Response {
    /// Tells the client nothing, and the log everything.
    init(failing error: any Error, at request: Request, _ logger: Logger) {
        let metadata: Logger.Metadata = ["error": "\(error)", "path": "\(request.uri.path)"]
        logger.error("request failed", metadata: metadata)
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
