import Godwit

/// A device: a store in a file of its own, and its replica of the list.
struct Device {
    let store: Store
    private let transport: HTTPTransport
    private let connector: ReplicaConnector
    private let list: Replica

    init(_ name: String, server: String = "http://127.0.0.1:7007") async throws {
        var options = Store.Options()
        options.collections = [CollectionRules(items, indexes: [byName])]
        // One command may follow the list while another one edits it.
        options.processes = .several
        store = try Store(.file("\(name).sqlite"), options: options)
        transport = try HTTPTransport(server: server)
        connector = try ReplicaConnector(store, transport: transport)
        list = try await connector.open("shopping", collections: items)
    }

    /// Puts an item on the list; one more, if it is there already.
    func add(_ name: String) async throws {
        try await store.write { transaction in
            let found = try transaction.objects(openItems.where(\.name, .equal(name)))
            if let item = found.first {
                // An edit is recorded: what two devices add, adds up.
                try transaction.edit(item.object.id, in: items) { $0.quantity += 1 }
            } else {
                try transaction.set(Item(name: name), in: items)
            }
        }
    }

    func cross(_ name: String) async throws {
        try await store.write { transaction in
            for row in try transaction.objects(openItems.where(\.name, .equal(name))) {
                try transaction.edit(row.object.id, in: items) { $0.isCrossed = true }
            }
        }
    }

    /// Exchanges changes with the server once.
    func sync() async throws {
        try await transport.create(list.name)
        try await connector.synchronize(list.name)
        for record in try await list.conflicts() {
            for conflict in record.conflicts.values { print("conflict: \(conflict.path)") }
        }
    }

    /// Keeps the replica in sync until the task is cancelled.
    func stayInSync() async throws {
        while true {
            do {
                try await transport.create(list.name)
                break
            } catch ConnectorError.unreachable(let reason) {
                print("offline: \(reason)")
                try await Task.sleep(for: .seconds(5))
            }
        }
        try await connector.run()
    }
}
