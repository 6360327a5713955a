import GodwitStore
import GodwitTree
import Testing

@testable import GodwitReplication

/// A device with a store, and a server of which the line is in memory.
struct Pair {
    let line: TestLine
    let replica: Replica

    init(
        _ store: Store,
        _ line: TestLine = TestLine(),
        named name: ReplicaName = .simulated,
        server: String = "line",
        collections: Set<Key> = ["lists", "cards"],
        policy: MergePolicy = .standard
    ) async throws {
        self.line = line
        replica = try await .open(
            name,
            server: server,
            in: store,
            collections: collections,
            policy: policy
        )
    }

    init(_ replica: Replica, _ line: TestLine) { (self.replica, self.line) = (replica, line) }

    /// Exchanges until nothing is left to send.
    func synchronize() async throws {
        for _ in 0..<24 {
            let (replica, line) = (replica, line)
            let request = try await replica.store.write { try replica.nextRequest(in: $0) }
            let answer = try line.serve(request)
            let isBehind = try await replica.store.write {
                try replica.receive(answer, to: request, in: $0)
            }
            if !isBehind { return }
        }
        Issue.record("the device does not come to an end")
    }

    /// The device's cards.
    func objects() async throws -> [ObjectKey: Value] {
        try await replica.store.read { transaction in
            let cards = Store.Collection<Value>("cards")
            var objects: [ObjectKey: Value] = [:]
            for key in try transaction.keys(in: cards) {
                objects[cards.place(key)] = try transaction.get(key, in: cards)
            }
            return objects
        }
    }

    /// The id that the device has for the server.
    var client: ClientID {
        get async throws {
            let replica = replica
            return try await replica.store.write {
                try replica.device(in: $0).slice(with: []).identity.client
            }
        }
    }
}
