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
    let host: ReplicaHost
    let logger: Logger

    var router: Router<BasicRequestContext> {
        let router = Router()
        router.get("/health") { _, _ in Response(status: .ok, value: ["status": "ok"]) }
        let path = "/v1/replicas/:name"
        router.put("\(path)") { request, context in
            try await answering(request, context) { name in
                Response(status: .ok, value: summary(of: try await host.create(name).current))
            }
        }
        router.get("\(path)") { request, context in
            try await answering(request, context) { name in
                let machine = try await host.replica(name).current
                return Response(
                    status: .ok,
                    value: summary(of: machine),
                    encoding: Encoding(accepted: request)
                )
            }
        }
        router.get("\(path)/value") { request, context in
            try await answering(request, context) { name in
                let value = try await host.replica(name).current.history.headValue
                return Response(status: .ok, value: value, encoding: Encoding(accepted: request))
            }
        }
        router.post("\(path)/exchange") { request, context in
            try await answering(request, context) { name in
                try await exchange(request, name)
            }
        }
        router.get("\(path)/events") { request, context in
            try await answering(request, context) { name in
                events(of: try await host.replica(name))
            }
        }
        return router
    }
}

extension ReplicaRoutes {
    private func exchange(_ request: Request, _ name: ReplicaName) async throws -> Response {
        guard let header = request.headers[.godwitClient], let identifier = Identifier(header)
        else {
            throw ReplicationError.malformedMessage(
                reason: "the header godwit-client has 32 hexadecimal digits"
            )
        }
        let replica = try await host.replica(name)
        let body = try await body(of: request)
        let message = try Encoding(body: request).value(in: Array(body.readableBytesView))
        let answer = try await replica.exchange(
            ExchangeRequest(encoded: message),
            from: ClientID(identifier)
        )
        let encoding = Encoding(accepted: request)
        return Response(
            status: .ok,
            value: encoding == .json ? answer.encodedForPeople : answer.encoded,
            encoding: encoding
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
    private func events(of replica: HostedReplica) -> Response {
        let heads = replica.heads()
        let body = ResponseBody { writer in
            try await writer.write(ByteBuffer(string: ": godwit\n\n"))
            for await head in heads.cancelOnGracefulShutdown() {
                try await writer.write(ByteBuffer(string: "event: head\ndata: \(head)\n\n"))
            }
            try await writer.finish(nil)
        }
        return Response(
            status: .ok,
            headers: [.contentType: "text/event-stream", .cacheControl: "no-store"],
            body: body
        )
    }

    private func summary(of machine: ServerMachine) -> Value {
        [
            "name": .string(Key(machine.name.text)),
            "head": .string(Key(machine.history.head.id.description)),
            "states": .int(Int64(machine.history.stateCount)),
            "clients": .int(Int64(machine.peers.count)),
        ]
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
            return refusal(error.status, error.code, error.description)
        } catch let error as TreeError {
            if case .overBudget = error {
                return refusal(.contentTooLarge, "overBudget", error.description)
            }
            return refusal(.badRequest, "malformedMessage", error.description)
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

extension ReplicationError {
    fileprivate var status: HTTPResponse.Status {
        switch self {
        case .unknownReplica: .notFound
        case .invalidName, .unsuitableCollection, .malformedMessage, .damagedMessage: .badRequest
        case .senderIsOlder, .senderIsNewer: .badRequest
        case .overBudget: .contentTooLarge
        case .invalidDelta, .wrongContent: .unprocessableContent
        case .contended: .serviceUnavailable
        case .damagedHistory: .internalServerError
        }
    }
}

/// In which form a message comes or goes: CBOR, or JSON for people.
private enum Encoding {
    case cbor, json

    init(body request: Request) {
        let type = request.headers[.contentType] ?? ""
        self = type.hasPrefix("application/json") ? .json : .cbor
    }

    /// JSON unless CBOR is asked for.
    init(accepted request: Request) {
        let accepted = request.headers[.accept] ?? ""
        self = accepted.contains("application/cbor") ? .cbor : .json
    }

    func value(in bytes: [UInt8]) throws(TreeError) -> Value {
        let budget = ReadBudget.request(sizeInBytes: bytes.count)
        let depthMax = ExchangeRequest.depthMax
        return switch self {
        case .cbor: try Value(canonicalBytes: bytes, depthMax: depthMax, budget: budget)
        case .json: try Value(json: bytes, depthMax: depthMax, budget: budget)
        }
    }
}

extension Response {
    fileprivate init(status: HTTPResponse.Status, value: Value, encoding: Encoding = .json) {
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
