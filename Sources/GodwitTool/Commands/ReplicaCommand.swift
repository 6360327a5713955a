import ArgumentParser
import GodwitReplication
import GodwitServer
import GodwitStore
import GodwitTree

/// Looks at the replicas of a server or of a device, and cares for them.
struct ReplicaCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replica",
        abstract: "Look at replicas, of a server or of a device, and care for them.",
        discussion: """
            EXAMPLES
              godwit replica ls server.sqlite
              godwit replica clients server.sqlite --name shopping
              godwit replica blame server.sqlite --name shopping
              godwit replica status app.sqlite
              godwit replica conflicts app.sqlite
              godwit replica diff server.sqlite app.sqlite --name shopping
              godwit replica verify server.sqlite --name shopping
            """,
        subcommands: [
            ReplicaList.self, ReplicaStanding.self, Log.self, Graph.self, ReplicaDiff.self,
            ReplicaClients.self, ReplicaForget.self, ReplicaConflicts.self, ReplicaResolve.self,
            ReplicaBlame.self, ReplicaVerify.self, ReplicaExport.self, ReplicaImport.self,
        ]
    )
}

/// Lists the replicas of a store.
struct ReplicaList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ls",
        abstract: "List the replicas of a store: where they stand, and what waits to be sent."
    )

    @Argument(help: "A server's store, or a device's; it may be in use.") var store: String
    @Flag(help: "Print one object.") var json = false

    func run() async throws {
        let opened = try Store(.file(store), options: .readOnly)
        let records = try await ReplicaRecord.all(in: opened)
        try opened.close()
        guard !json else {
            return try Terminal.print(json: .list(Value.List(records.map(\.line))))
        }
        let rows = records.map { record in
            let newest = record.states.last?.state ?? .root
            return [
                record.name, record.role.rawValue, "at #\(newest.serial)",
                "\(record.stateCount) states kept", "\(record.pendingCount) objects to send",
            ]
        }
        try Terminal.print(rows.isEmpty ? "\(store) has no replica" : Terminal.table(rows))
    }
}

extension ReplicaRecord {
    fileprivate var line: Value {
        let newest = states.last?.state ?? .root
        return [
            "name": .string(Key(name)),
            "role": .string(Key(role.rawValue)),
            "serial": .int(newest.serial),
            "head": .string(Key(newest.id.description)),
            "statesKept": .int(Int64(stateCount)),
            "pendingObjects": .int(Int64(pendingCount)),
        ]
    }
}

/// Lists the clients of a server's replica.
struct ReplicaClients: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clients",
        abstract: "List the clients of a server's replica: what they have, and since when silent."
    )

    @OptionGroup var argument: ReplicaArgument
    @Flag(help: "Print one object.") var json = false

    func run() async throws {
        let name = try await argument.serverName()
        let store = try Store(.file(argument.replica), options: .readOnly)
        let clients = try await ReplicaServer.clients(of: name, in: store)
        let principals = try await AccessControl.principals(in: name, store)
        try store.close()
        guard !json else {
            let objects = clients.map { $0.encoded(principals[$0.id]) }
            return try Terminal.print(json: .list(Value.List(objects)))
        }
        let rows = clients.map { client in
            [
                client.id.description, principals[client.id]?.replacing("\n", with: " ") ?? "",
                client.isForgotten ? "forgotten" : "has #\(client.acked), sent #\(client.sent)",
                "silent for \(client.silence.inWords)",
            ]
        }
        try Terminal.print(rows.isEmpty ? "no client has been here" : Terminal.table(rows))
    }
}

extension ReplicaClient {
    /// - Parameter principal: The key or user to whom the id belongs.
    fileprivate func encoded(_ principal: String?) -> Value {
        [
            "client": .string(Key(id.description)),
            "principal": principal.map { .string(Key($0)) } ?? .null,
            "acked": .int(acked),
            "sent": .int(sent),
            "silentSeconds": .int(silence.components.seconds),
            "isForgotten": .bool(isForgotten),
        ]
    }
}

extension Duration {
    fileprivate var inWords: String {
        let seconds = components.seconds
        if seconds < 120 { return "\(seconds) s" }
        if seconds < 7_200 { return "\(seconds / 60) min" }
        return seconds < 172_800 ? "\(seconds / 3_600) h" : "\(seconds / 86_400) days"
    }
}

/// Drops what a server keeps for clients that do not return.
struct ReplicaForget: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget",
        abstract: "Keep no states any more for clients that do not return.",
        discussion: """
            A client that returns all the same loses nothing: it compares its objects with
            the server's. The server must not run meanwhile; it forgets silent clients by
            itself. With --client, the id no longer belongs to the key or the subject of a
            token that has used it first: the next one that uses it has it.

            EXAMPLES
              godwit replica forget server.sqlite --silent-for 90
              godwit replica forget server.sqlite --client 00c3…
            """
    )

    @OptionGroup var argument: ReplicaArgument
    @Option(help: "One client, by its id.") var client: String?
    @Option(help: "All clients that have been silent for so many days.") var silentFor: Int?

    func validate() throws {
        guard (client == nil) != (silentFor == nil) else {
            throw ValidationError("Choose --client or --silent-for.")
        }
        guard silentFor.map({ (0...36_500).contains($0) }) ?? true else {
            throw ValidationError("--silent-for is a number of days, from 0 to 36500.")
        }
    }

    func run() async throws {
        let name = try await argument.serverName()
        let store = try Store(.file(argument.replica))
        let server = try await ReplicaServer(store)
        var forgotten: [ClientID] = []
        if let silentFor {
            forgotten = try await server.forgetClients(
                of: name,
                silentFor: .seconds(silentFor * 24 * 3_600)
            )
        } else if let client {
            guard let identifier = Identifier(client) else {
                throw ToolError("\(client) is not a client's id: see godwit replica clients")
            }
            let id = ClientID(identifier)
            if try await server.forget(id, of: name) { forgotten = [id] }
            if try await AccessControl.release(id, of: name, in: store) {
                Terminal.warn("the id \(client) is free for another principal")
            }
        }
        try store.close()
        try Terminal.print("\(forgotten.count) clients forgotten")
    }
}

/// Lists the conflicts that are not settled.
struct ReplicaConflicts: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "conflicts",
        abstract: "List the conflicts on a device that are not settled: what merges did not take."
    )

    @Argument(help: "A device's store; it may be in use.") var store: String
    @Flag(help: "Print one object.") var json = false

    func run() async throws {
        let opened = try Store(.file(store), options: .readOnly)
        let records = try await opened.read { try ConflictRecord.all(in: $0) }
        try opened.close()
        guard !json else {
            return try Terminal.print(json: .list(Value.List(records.map(\.encoded))))
        }
        let lines = records.flatMap { record in
            record.conflicts.values.map { conflict in
                "\(record.object)\(conflict.path): \(conflict.text)"
            }
        }
        try Terminal.print(lines.isEmpty ? "no conflicts" : lines.sorted().joined(separator: "\n"))
    }
}

extension Conflict {
    fileprivate var text: String {
        let kept = choice == .theirs ? theirs : ours
        let other = choice == .theirs ? ours : theirs
        let values = [kept, other].map { $0?.jsonText() ?? "removed" }
        return "kept \(values[0]), not \(values[1]) (\(reason.rawValue))"
    }
}

extension ConflictRecord {
    fileprivate var encoded: Value {
        let conflicts = conflicts.sorted { $0.key < $1.key }.map { id, conflict in
            var value: Value.Map = [
                "id": .string(id),
                "path": .string(Key(conflict.path.description)),
                "reason": .string(Key(conflict.reason.rawValue)),
                "choice": .string(Key(conflict.choice.rawValue)),
            ]
            value["base"] = conflict.base
            value["ours"] = conflict.ours
            value["theirs"] = conflict.theirs
            return Value.map(value)
        }
        return [
            "collection": .string(object.collection),
            "key": .string(object.key),
            "conflicts": .list(Value.List(conflicts)),
        ]
    }
}

extension ReplicaArgument {
    func audit() async throws -> ReplicaAudit {
        let record = try await record()
        let store = try Store(.file(replica), options: .readOnly)
        let audit = try await ReplicaAudit(record.name, record.role, in: store)
        try store.close()
        return audit
    }

    func serverName() async throws -> ReplicaName {
        let record = try await record()
        guard record.role == .server else {
            throw ToolError("\(replica) is a device's store: clients are known to the server")
        }
        return try ReplicaName(record.name)
    }
}
