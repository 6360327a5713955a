import GodwitConnectors
import GodwitReplication
import GodwitStore
import GodwitTestKit
import GodwitTree

/// A device whose replica has cards with a number each.
struct CardDevice: Sendable {
    let store: Store
    let replica: Replica
    let connector: ReplicaConnector
    private let cards = Store.Collection<Value>("cards")

    init(
        _ store: Store,
        _ name: ReplicaName,
        _ network: SimulatedNetwork,
        undoCountMax: Int = 0
    ) async throws {
        self.store = store
        connector = try ReplicaConnector(store, transport: network)
        replica = try await connector.open(
            name,
            collections: ["cards"],
            undoCountMax: undoCountMax
        )
    }

    func number(_ key: Int) async throws -> Int64? {
        try await store.read { [cards] in try $0.get("c\(key)", in: cards)?["id"]?.integer }
    }

    func synchronize() async throws { try await connector.synchronize(replica.name) }

    func set(_ key: Int, _ number: Int) async throws {
        try await store.write { [cards] in
            try $0.set(["id": .int(Int64(number))], for: "c\(key)", in: cards)
        }
    }

    func keys() async throws -> [String] {
        try await store.read { [cards] in try $0.keys(in: cards) }
    }
}
