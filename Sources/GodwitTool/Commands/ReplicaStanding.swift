import ArgumentParser
import GodwitReplication
import GodwitStore
import GodwitTree

/// Shows how a replica stands.
struct ReplicaStanding: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract:
            "Show how a replica stands: its state, pending and refused objects, clients.",
        discussion: """
            The store may be in use: this only looks.

            EXAMPLES
              godwit replica status app.sqlite
              godwit replica status server.sqlite --name shopping --json
            """
    )

    @OptionGroup var argument: ReplicaArgument
    @Flag(help: "Print one object.") var json = false

    func run() async throws {
        let record = try await argument.record()
        let store = try Store(.file(argument.replica), options: .readOnly)
        let rows: [(Key, Value)] =
            switch record.role {
            case .device: try await Self.device(record, in: store)
            case .server: try await Self.server(ReplicaName(record.name), in: store)
            }
        try store.close()
        let title: [(Key, Value)] = [
            ("name", .string(Key(record.name))), ("role", .string(Key(record.role.rawValue))),
        ]
        guard !json else { return try Terminal.print(json: .map(Value.Map(title + rows))) }
        let lines = rows.flatMap { name, value in
            let parts = value.list.map { $0.map(\.inWords) } ?? [value.inWords]
            return parts.enumerated().map { [$0 == 0 ? name.text : "", $1] }
        }
        try Terminal.print("\(record.name), \(record.role.rawValue)\n" + Terminal.table(lines))
    }

    private static func device(
        _ record: ReplicaRecord,
        in store: Store
    ) async throws -> [(Key, Value)] {
        guard let status = record.status else { return [] }
        let name = try ReplicaName(record.name)
        let conflicts = try await store.read { transaction in
            let collections = try Replica.collections(of: name, in: transaction)
            return try ConflictRecord.all(in: transaction).filter {
                collections.contains($0.object.collection)
            }
        }
        let refusedByApp = status.refusedByApp.map { Value.string(Key($0.description)) }
        let refusedByServer = status.rejections.sorted { $0.key < $1.key }.map { key, reason in
            Value.string(Key("\(key) (\(reason.rawValue))"))
        }
        return [
            ("client", .string(Key(status.client.description))),
            ("serial", .int(status.base.serial)),
            ("state", .string(Key(status.base.id.description))),
            ("pending", .int(Int64(status.pendingCount))),
            ("refusedByServer", .list(Value.List(refusedByServer))),
            ("refusedByApp", .list(Value.List(refusedByApp))),
            ("conflicts", .int(Int64(conflicts.reduce(0) { $0 + $1.conflicts.count }))),
        ]
    }

    private static func server(_ name: ReplicaName, in store: Store) async throws -> [(Key, Value)]
    {
        let summary = try await ReplicaServer.summary(of: name, in: store)
        let clients = try await ReplicaServer.clients(of: name, in: store)
        let behind = clients.filter { !$0.isForgotten }.map { summary.head.serial - $0.acked }
        return [
            ("serial", .int(summary.head.serial)),
            ("state", .string(Key(summary.head.id.description))),
            ("objects", .int(Int64(summary.objectCount))),
            ("bytes", .int(summary.sizeInBytes)),
            ("statesKept", .int(Int64(summary.stateCount))),
            ("clients", .int(Int64(summary.clientCount))),
            ("forgotten", .int(Int64(clients.count(where: \.isForgotten)))),
            ("furthestBehind", .int(behind.max() ?? 0)),
        ]
    }
}

extension Value {
    fileprivate var inWords: String { text ?? jsonText() }
}
