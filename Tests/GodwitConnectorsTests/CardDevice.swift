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
    private let cards = CardServer.cards

    init(
        _ store: Store,
        _ name: ReplicaName,
        _ transport: some ReplicaTransport,
        collections: Set<Key> = ["cards"],
        undoCountMax: Int = 0
    ) async throws {
        self.store = store
        connector = try ReplicaConnector(store, transport: transport)
        replica = try await connector.open(
            name,
            collections: collections,
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

/// A server with a replica of cards.
struct CardServer: Sendable {
    static let cards = Store.Collection<Value>("cards")

    let name: ReplicaName
    let network: SimulatedNetwork

    init() async throws {
        name = ReplicaName("shopping")
        network = try await SimulatedNetwork(store: Store(.memory))
        try await network.create(name)
    }
}

/// A network of which only the exchanges are other than those of a simulated one.
protocol ForwardingTransport: ReplicaTransport {
    var network: SimulatedNetwork { get }
}

extension ForwardingTransport {
    func create(_ replica: ReplicaName) async throws { try await network.create(replica) }

    func heads(of replica: ReplicaName) -> AsyncThrowingStream<LineState, any Error> {
        network.heads(of: replica)
    }
}

/// Tests of one server and devices with cards.
protocol CardSuite {
    var server: CardServer { get }
}

extension CardSuite {
    var name: ReplicaName { server.name }
    var network: SimulatedNetwork { server.network }
    var cards: Store.Collection<Value> { CardServer.cards }

    func device(undoCountMax: Int = 0) async throws -> CardDevice {
        try await CardDevice(Store(.memory), name, network, undoCountMax: undoCountMax)
    }

    /// Has a device take in its next answer without the objects, after an edit while it is under way.
    func holdBack(
        on device: CardDevice,
        _ edit: () async throws -> Void = {}
    ) async throws {
        let (store, replica) = (device.store, device.replica)
        let request = try await store.write { try replica.nextRequest(in: $0) }
        let answer = try await network.exchange(
            request.bytes,
            replica: name,
            client: request.client
        )
        try await edit()
        try await store.write { try replica.receive(answer, to: request, .heldBack, in: $0) }
    }

    /// An object as a device has it.
    func value(_ key: String, on device: CardDevice) async throws -> Value? {
        try await device.store.read { [cards] in try $0.get(key, in: cards) }
    }
}

/// A type of which a piecewise merge has two cases at once.
enum Shape: Codable, Hashable, Sendable {
    case circle(Int), square(Int), triangle(Int)
}
