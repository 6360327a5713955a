import GRDB
import GodwitReplication
import GodwitStore
import GodwitTestKit
import Testing

/// Replicas that another version of Godwit has stored.
@Suite struct ReplicaFormatTests {
    @Test(arguments: [
        (2, StoreError.olderSchema(name: "replication", found: 2, oldest: 3)),
        (99, StoreError.newerSchema(name: "replication", found: 99, known: 3)),
    ])
    func `replicas of another version are refused and untouched`(
        version: Int,
        error: StoreError
    ) async throws {
        let name = try ReplicaName("shopping")
        let store = try Store(.memory)
        try await SimulatedNetwork(store: store).create(name)
        try await set(version, in: store)

        await #expect(throws: error) { try await HostedReplica.open(name, in: store) }
        try await set(3, in: store)
        _ = try await HostedReplica.open(name, in: store)
    }

    private func set(_ version: Int, in store: Store) async throws {
        try await store.write {
            try $0.database.execute(
                sql: "UPDATE godwit_schema SET version = ? WHERE name = 'replication'",
                arguments: [version]
            )
        }
    }
}
