import GodwitConnectors
import GodwitReplication
import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

/// Several replicas of one store, of which one is left.
@Suite struct LeftReplicaTests: CardSuite {
    let server: CardServer
    private let notes: ReplicaName
    private let pages = Store.Collection<Value>("pages")

    init() async throws {
        server = try await CardServer()
        notes = ReplicaName("notes")
        try await server.network.create(notes)
    }

    private func openNotes(on device: CardDevice) async throws -> Replica {
        try await device.connector.open(notes, collections: ["pages"], undoCountMax: 8)
    }

    private func count(_ number: Int64, on device: CardDevice) async throws {
        try await device.store.write { [pages] in
            try $0.editValue(of: "a", in: pages) { $0.n += number }
        }
    }

    private func count(on device: CardDevice) async throws -> Value? {
        try await device.store.read { [pages] in try $0.get("a", in: pages)?["n"] }
    }

    @Test func `a replica that is left and opened again is not taken for a clone`() async throws {
        let (phone, tablet) = (try await device(), try await device())
        for device in [phone, tablet] { _ = try await openNotes(on: device) }
        try await phone.store.write { [pages] in try $0.set(["n": 5], for: "a", in: pages) }
        try await phone.set(1, 1)
        try await phone.synchronize()
        for device in [phone, tablet] { try await device.connector.synchronize(notes) }
        let client = try await phone.replica.status().client
        try await count(1, on: phone)
        try await count(2, on: tablet)
        try await tablet.connector.synchronize(notes)
        for _ in 0..<2 {
            try await phone.connector.leave(name, removingObjects: true)
            let again = try await phone.connector.open(name, collections: ["cards"])
            try await phone.synchronize()
            #expect(try await again.status().client == client)
            #expect(try await phone.number(1) == 1)
            // Its batches count on.
            try await phone.set(2, 2)
            try await phone.synchronize()
            #expect(try await again.status().pendingCount == 0)
        }
        try await phone.connector.synchronize(notes)
        try await tablet.connector.synchronize(notes)
        for device in [phone, tablet] { #expect(try await count(on: device) == 8) }
    }

    @Test func `a batch that was under way when its replica was left may arrive, or not`()
        async throws
    {
        for isLost in [false, true] {
            let (phone, key) = (try await device(), isLost ? 1 : 2)
            _ = try await openNotes(on: phone)
            try await phone.set(key, 1)
            try await phone.synchronize()
            try await phone.set(key, 2)
            network.deliver { _ in isLost ? .loseRequest : .loseAnswer }
            await #expect(throws: (any Error).self) { try await phone.synchronize() }
            network.deliver { _ in .arrives }
            let client = try await phone.replica.status().client
            try await phone.connector.leave(name, removingObjects: true, discardingChanges: true)
            let again = try await phone.connector.open(name, collections: ["cards"])
            try await phone.synchronize()
            let number = try await phone.number(key)
            #expect(number == (isLost ? 1 : 2), "\(isLost)")
            try await phone.set(key, 3)
            try await phone.synchronize()
            let status = try await again.status()
            #expect(status.client == client && status.pendingCount == 0)
            let tablet = try await device()
            try await tablet.synchronize()
            #expect(try await tablet.number(key) == 3)
        }
    }

    @Test(.timeLimit(.minutes(Soak.minutesMax)))
    func `an app that gives its changes up does not wait for an exchange that waits`() async throws
    {
        let transport = WaitingTransport(network: network)
        let phone = try await CardDevice(Store(.memory), name, transport)
        try await phone.set(1, 1)
        let exchange = Task { try await phone.synchronize() }
        for await _ in transport.waiting { break }
        try await phone.connector.leave(name, removingObjects: true, discardingChanges: true)
        await #expect(throws: ConnectorError.self) { try await exchange.value }
        #expect(try await phone.keys() == [])
    }

    @Test func `what one replica takes in is no step of another one with the same objects`()
        async throws
    {
        let (phone, tablet) = (try await device(undoCountMax: 8), try await device())
        let second = try await phone.connector.open(
            notes,
            collections: ["cards"],
            undoCountMax: 8
        )
        try await phone.set(1, 1)
        try await phone.synchronize()
        try await tablet.synchronize()
        try await tablet.set(1, 2)
        try await tablet.synchronize()
        try await phone.synchronize()
        #expect(try await phone.number(1) == 2)
        #expect(try await phone.store.write { try second.undo(in: $0) })
        // Its own step was to make the object, which the other device has edited since.
        #expect(try await phone.store.write { try second.undo(in: $0) } == false)
    }

    /// The states of a server go in steps: the entries of a large one first, and then its row.
    @Test func `a state that is folded away in part is not one that a device can go on from`()
        async throws
    {
        let folder = try TemporaryFolder()
        let phone = try await device()
        let old = try await CardDevice(
            Store(.file(folder.path("tablet.sqlite"))),
            name,
            network
        )
        try await phone.set(0, 1)
        try await phone.synchronize()
        try await old.synchronize()
        try await old.store.backup(to: folder.path("copy.sqlite"))
        try await phone.store.write { [cards] in
            for key in 0..<300 { try $0.set(["id": 7], for: "c\(key)", in: cards) }
        }
        try await phone.synchronize()
        try await old.synchronize()
        for number in 8...9 {
            try await phone.set(299, number)
            for device in [phone, old] { try await device.synchronize() }
        }
        try old.store.close()
        let restored = try await CardDevice(
            Store(.file(folder.path("copy.sqlite"))),
            name,
            network
        )
        #expect(try await restored.number(0) == 1)
        try await restored.store.write { [cards] in try $0.remove("c0", in: cards) }
        try await restored.synchronize()
        try await phone.synchronize()
        // An edit beats a removal that has not seen it.
        for device in [phone, restored] { #expect(try await device.number(0) == 7) }
    }
}

/// A transport whose exchanges wait until they are cancelled, as for a user who has to sign in.
private struct WaitingTransport: ForwardingTransport {
    let network: SimulatedNetwork
    let waiting: AsyncStream<Void>
    private let announce: AsyncStream<Void>.Continuation

    init(network: SimulatedNetwork) {
        self.network = network
        (waiting, announce) = AsyncStream.makeStream()
    }

    func exchange(
        _ body: [UInt8],
        replica: ReplicaName,
        client: ClientID
    ) async throws -> [UInt8] {
        announce.yield()
        let (never, end) = AsyncStream.makeStream(of: Never.self)
        defer { end.finish() }
        for await _ in never {}
        throw CancellationError()
    }
}
