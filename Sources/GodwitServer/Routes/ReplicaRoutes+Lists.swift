#if Server
internal import GodwitReplication
internal import GodwitStore
internal import GodwitTree
internal import Hummingbird

// Replicas and their clients as JSON, for people and dashboards.

extension ReplicaRoutes {
    private static let pageMax = 1_000

    /// The replicas that the principal may read, in the order of their names, page by page.
    func list(_ request: Request, _ context: AccessContext) async throws -> Response {
        let parameters = request.uri.queryParameters
        let limit = min(max(parameters["limit"].flatMap { Int($0) } ?? 100, 1), Self.pageMax)
        let after = parameters["after"].map(String.init)
        let names = try await server.names().filter { name in
            context.principal.rights.allows(.read, name) && after.map { name.text > $0 } ?? true
        }
        let page = names.prefix(limit)
        var replicas: [Value] = []
        for name in page { replicas.append(try await value(of: name)) }
        let next: Value = names.count > limit ? .string(Key(page.last?.text ?? "")) : .null
        return Response(
            status: .ok,
            value: ["replicas": .list(Value.List(replicas)), "next": next],
            encoding: Encoding(accepted: request)
        )
    }

    /// Makes a replica, unless there is one of the name.
    func create(_ request: Request, _ context: AccessContext) async throws -> Response {
        let name = try context.replica()
        if let replicaMax {
            let names = try await server.names()
            let count = names.count { context.principal.rights.allows(.create, $0) }
            // Requests at the same moment may each make one beyond the limit.
            guard count < replicaMax || names.contains(name) else {
                throw AccessRefusal.tooManyReplicas
            }
        }
        try await server.create(name)
        audit.note(.created, context)
        return try await summary(of: name, for: request)
    }

    func summary(of name: ReplicaName, for request: Request) async throws -> Response {
        let value = try await value(of: name)
        return Response(status: .ok, value: value, encoding: Encoding(accepted: request))
    }

    /// The clients of a replica, and the newest state that each was sent.
    func clients(of name: ReplicaName, for request: Request) async throws -> Response {
        let principals = try await gate.principals(in: name)
        let clients = try await server.clients(of: name).map { client -> Value in
            [
                "id": .string(Key(client.id.description)),
                "principal": principals[client.id].map { .string(Key($0)) } ?? .null,
                "silentSeconds": .int(client.silence.components.seconds),
                "serial": client.isForgotten ? .null : .int(max(client.acked, client.sent)),
                "isForgotten": .bool(client.isForgotten),
            ]
        }
        let head = try await server.head(of: name)
        return Response(
            status: .ok,
            value: ["serial": .int(head.serial), "clients": .list(Value.List(clients))],
            encoding: Encoding(accepted: request)
        )
    }

    private func value(of name: ReplicaName) async throws -> Value {
        let summary = try await server.summary(of: name)
        return [
            "name": .string(Key(name.text)),
            "serial": .int(summary.head.serial),
            "head": .string(Key(summary.head.id.description)),
            "objects": .int(Int64(summary.objectCount)),
            "bytes": .int(summary.sizeInBytes),
            "states": .int(Int64(summary.stateCount)),
            "clients": .int(Int64(summary.clientCount)),
        ]
    }
}
#endif
