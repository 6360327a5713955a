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
    let logger: Logger

    var router: Router<BasicRequestContext> {
        let router = Router()
        router.add(middleware: hosts)
        router.get("/health") { _, _ in await answerHealth() }
        let path = "/v1/replicas/:name"
        router.put("\(path)") { request, context in
            try await answering(request, context) { name in
                try await server.create(name)
                return try await summary(of: name, for: request)
            }
        }
        router.get("\(path)") { request, context in
            try await answering(request, context) { name in
                try await summary(of: name, for: request)
            }
        }
        router.get("\(path)/value") { request, context in
            try await answering(request, context) { name in
                Response(
                    status: .ok,
                    value: try await server.value(of: name),
                    encoding: Encoding(accepted: request)
                )
            }
        }
        router.post("\(path)/exchange") { request, context in
            try await answering(request, context) { name in
                try await exchange(request, name)
            }
        }
        router.get("\(path)/events") { request, context in
            try await answering(request, context) { name in
                events(try await server.heads(of: name), of: name)
            }
        }
        return router
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

    private func exchange(_ request: Request, _ name: ReplicaName) async throws -> Response {
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
        )
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
    /// that the server is there, or that another server of the same file has made a new head.
    private func events(_ heads: AsyncStream<LineState>, of name: ReplicaName) -> Response {
        let server = server
        let body = ResponseBody { writer in
            try await writer.write(ByteBuffer(string: ": godwit\n\n"))
            var last: LineState?
            let events = heads.withHeartbeats(every: .seconds(20))
            for await event in events.cancelOnGracefulShutdown() {
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
        _ context: BasicRequestContext,
        _ body: (ReplicaName) async throws -> Response
    ) async throws -> Response {
        do {
            let name = try ReplicaName(context.parameters.get("name") ?? "")
            return try await body(name)
        } catch let error as ReplicationError {
            let status = HTTPResponse.Status(code: error.httpStatus)
            return refusal(status, error.code, error.description)
        } catch let error as any HTTPResponseError {
            return refusal(error.status, "refused", "\(error)")
        } catch let error as CancellationError {
            throw error
        } catch {
            logger.error(
                "request failed",
                metadata: ["error": "\(error)", "path": "\(request.uri)"]
            )
            return refusal(.internalServerError, "internal", "the server failed; see its log")
        }
    }

    private func refusal(
        _ status: HTTPResponse.Status,
        _ code: String,
        _ message: String
    ) -> Response {
        Response(
            status: status,
            value: ["error": .string(Key(code)), "message": .string(Key(message))]
        )
    }
}

/// In which form a value leaves: JSON for people, unless CBOR is asked for.
private enum Encoding {
    case cbor, json

    init(accepted request: Request) {
        let accepted = request.headers[.accept] ?? ""
        self = accepted.contains("application/cbor") ? .cbor : .json
    }
}

extension Response {
    init(status: HTTPResponse.Status, value: Value) {
        self.init(status: status, value: value, encoding: .json)
    }

    fileprivate init(status: HTTPResponse.Status, value: Value, encoding: Encoding) {
        switch encoding {
        case .cbor:
            self.init(
                status: status,
                headers: [.contentType: "application/cbor"],
                body: ResponseBody(byteBuffer: ByteBuffer(bytes: value.canonicalBytes))
            )
        case .json:
            self.init(
                status: status,
                headers: [.contentType: "application/json"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: value.jsonText() + "\n"))
            )
        }
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
