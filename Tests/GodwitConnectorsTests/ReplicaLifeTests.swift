import GodwitConnectors
import GodwitQueue
import GodwitStore
import GodwitTestKit
import GodwitTree
import Synchronization
import Testing

@testable import GodwitReplication

/// Replicas that are opened, refused, closed and left, through a connector.
@Suite struct ReplicaLifeTests {
    let name: ReplicaName
    let network: SimulatedNetwork
    let cards = Store.Collection<Value>("cards")

    init() async throws {
        name = try ReplicaName("shopping")
        network = try await SimulatedNetwork(store: Store(.memory))
        try await network.create(name)
    }

    // MARK: Refusals

    @Test func `an object that a hook refuses holds up no other one`() async throws {
        let (phone, tablet) = (try await device(), try await device())
        let strict = StrictHook()
        try tablet.store.addHook(strict, named: "strict")
        for number in 1...9 { try await phone.set(number, number == 5 ? -5 : number) }
        try await phone.synchronize()
        try await tablet.synchronize()

        #expect(try await tablet.keys() == (1...9).filter { $0 != 5 }.map { "c\($0)" })
        let place = ObjectKey(collection: "cards", key: "c5")
        #expect(try await tablet.replica.refusedObjects() == [place: ["id": -5]])
        #expect(try await !tablet.replica.status().isDirty)

        // Edits go on in both directions, and the server keeps the object that is refused here.
        try await tablet.set(10, 10)
        try await tablet.synchronize()
        try await phone.set(11, 11)
        try await phone.synchronize()
        try await tablet.synchronize()
        #expect(try await tablet.keys().count == 10)
        #expect(try await network.server.value(of: name)["cards"]?["c5"] == ["id": -5])

        strict.isStrict = false
        try await tablet.replica.retryRefused()
        #expect(try await tablet.keys().count == 11)
        #expect(try await tablet.replica.refusedObjects().isEmpty)
        #expect(try await !tablet.replica.status().isDirty)
    }

    @Test func `a refused object that is acceptable later is taken in`() async throws {
        let (phone, tablet) = (try await device(), try await device())
        try tablet.store.addHook(StrictHook(), named: "strict")
        try await phone.set(1, -1)
        for device in [phone, tablet] { try await device.synchronize() }
        #expect(try await tablet.keys() == [])
        try await phone.set(1, 1)
        for device in [phone, tablet] { try await device.synchronize() }
        #expect(try await tablet.keys() == ["c1"])
        #expect(try await tablet.replica.refusedObjects().isEmpty)
    }

    @Test func `a refused merge keeps the device's edit, and is told`() async throws {
        let (phone, tablet) = (try await device(), try await device())
        try await phone.set(1, 1)
        for device in [phone, tablet] { try await device.synchronize() }
        try tablet.store.addHook(StrictHook(), named: "strict")
        try await phone.set(1, -1)
        try await phone.synchronize()
        // The edit is made while the answer is under way.
        let (store, replica) = (tablet.store, tablet.replica)
        let request = try await store.write { try replica.nextRequest(in: $0) }
        let answer = try await network.exchange(
            request.bytes,
            replica: name,
            client: request.client
        )
        try await store.write { [cards] in
            try $0.set(["id": 1, "note": "mine"], for: "c1", in: cards)
        }
        await #expect(throws: StrictHook.Negative.self) {
            try await store.write { try replica.receive(answer, to: request, in: $0) }
        }
        try await store.write { try replica.receive(answer, to: request, .heldBack, in: $0) }
        for device in [tablet, phone] { try await device.synchronize() }

        for device in [phone, tablet] {
            let card = try await device.store.read { [cards] in try $0.get("c1", in: cards) }
            #expect(card == ["id": 1, "note": "mine"])
            let records = try await device.replica.conflicts()
            #expect(records.map(\.object) == [cards.place("c1")])
            #expect(records.first?.conflicts.values.first?.theirs == ["id": -1])
        }
    }

    // MARK: Types

    @Test func `a merge that the app's type cannot read gives way to one side, and is told`()
        async throws
    {
        let shapes = Store.Collection<Shape>("cards")
        var options = Store.Options()
        options.collections = [CollectionRules(shapes)]
        let phone = try await Peer(try Store(.memory, options: options), name, network)
        let tablet = try await Peer(try Store(.memory, options: options), name, network)
        try await phone.store.write { try $0.set(.circle(1), for: "a", in: shapes) }
        for device in [phone, tablet] { try await device.synchronize() }
        try await phone.store.write { try $0.set(.square(2), for: "a", in: shapes) }
        try await phone.synchronize()
        try await tablet.store.write { try $0.set(.triangle(3), for: "a", in: shapes) }
        for device in [tablet, phone, tablet] { try await device.synchronize() }

        let found = try await tablet.store.read { try $0.get("a", in: shapes) }
        #expect(found == .square(2) || found == .triangle(3))
        #expect(try await phone.store.read { try $0.get("a", in: shapes) } == found)
        #expect(try await phone.replica.conflicts().count == 1)
    }

    // MARK: Conflicts

    @Test func `a conflict that is settled on one device is settled on all`() async throws {
        let (phone, tablet) = (try await device(), try await device())
        try await phone.set(1, 1)
        for device in [phone, tablet] { try await device.synchronize() }
        var changes = phone.replica.observedConflicts().makeAsyncIterator()
        #expect(await changes.next() == [])
        try await phone.set(1, 10)
        try await tablet.set(1, 20)
        for device in [tablet, phone, tablet] { try await device.synchronize() }

        let records = try #require(await changes.next())
        let record = try #require(records.first)
        let (id, conflict) = try #require(record.conflicts.first)
        let other = conflict.choice == .ours ? conflict.theirs : conflict.ours
        let replica = phone.replica
        try await phone.store.write {
            try replica.settle(id, about: record.object, .put(other), in: $0)
        }
        for device in [phone, tablet] { try await device.synchronize() }
        for device in [phone, tablet] {
            let card = try await device.store.read { [cards] in try $0.get("c1", in: cards) }
            #expect(card?["id"] == other)
            #expect(try await device.replica.conflicts() == [])
        }
        await #expect(throws: ReplicationError.unknownConflict(record.object)) {
            try await phone.store.write { try replica.settle(id, about: record.object, in: $0) }
        }
    }

    @Test func `conflicts of one replica do not go to another one's server`() async throws {
        let (phone, tablet) = (try await device(), try await device())
        let other = try ReplicaName("other")
        try await network.create(other)
        _ = try await phone.connector.open(other, collections: ["notes"])
        try await phone.set(1, 1)
        for device in [phone, tablet] { try await device.synchronize() }
        try await phone.set(1, 10)
        try await tablet.set(1, 20)
        for device in [tablet, phone] { try await device.synchronize() }
        try await phone.connector.synchronize(other)
        #expect(try await phone.replica.conflicts().count == 1)
        #expect(try await network.server.value(of: other) == [:])
    }

    // MARK: Closing and leaving

    @Test func `a replica that is closed records, and sends when it is opened again`() async throws
    {
        let phone = try await device()
        try await phone.set(1, 1)
        try await phone.synchronize()
        phone.connector.close(name)
        try await phone.set(2, 2)
        await #expect(throws: ReplicationError.unknownReplica("shopping")) {
            try await phone.synchronize()
        }
        _ = try await phone.connector.open(name, collections: ["cards"])
        try await phone.synchronize()
        #expect(try await network.server.value(of: name)["cards"]?.map?.count == 2)
    }

    @Test func `a replica that is opened while its connector runs, closed and opened, follows`()
        async throws
    {
        let (phone, tablet) = (try await device(), try await device())
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await phone.connector.run() }
            for await status in phone.connector.statuses(of: name) where status.isConnected {
                break
            }
            phone.connector.close(name)
            _ = try await phone.connector.open(name, collections: ["cards"])
            for await status in phone.connector.statuses(of: name) where status.isConnected {
                break
            }
            var changes = phone.store.changes().makeAsyncIterator()
            try await tablet.set(1, 1)
            try await tablet.synchronize()
            while try await phone.keys() != ["c1"] { _ = await changes.next() }
            group.cancelAll()
            while await group.nextResult() != nil {}
        }
    }

    @Test func `signing out takes the objects along, and leaves the server's`() async throws {
        let phone = try await device()
        try await phone.set(1, 1)
        try await phone.synchronize()
        try await phone.set(2, 2)
        let unsent = ReplicationError.unsentChanges("shopping", count: 1)
        await #expect(throws: unsent) { try await phone.connector.leave(name) }
        try await phone.synchronize()
        let client = try await phone.replica.status().client
        try await phone.connector.leave(name, removingObjects: true)

        #expect(try await phone.keys() == [])
        #expect(try await network.server.value(of: name)["cards"]?.map?.count == 2)
        #expect(try await phone.store.read { try !Replica.exists(name, in: $0) })
        #expect(try await phone.store.read { try $0.operations().isEmpty })
        // Somebody else signs in.
        let replica = try await phone.connector.open(name, collections: ["cards"])
        #expect(try await replica.status().client != client)
        try await phone.synchronize()
        #expect(try await phone.keys() == ["c1", "c2"])
    }

    private func device() async throws -> Peer { try await Peer(Store(.memory), name, network) }
}

/// Refuses cards with a negative number.
private final class StrictHook: TransactionHook {
    struct Negative: Error {}

    let collections: Set<Key>? = ["cards"]
    private let strictness = Mutex(true)

    var isStrict: Bool {
        get { strictness.withLock(\.self) }
        set { strictness.withLock { $0 = newValue } }
    }

    func willCommit(
        _ changes: [ObjectChange],
        in transaction: borrowing WriteTransaction
    ) throws {
        guard isStrict else { return }
        for change in changes {
            if case .int(let number)? = try change.newValue()?["id"], number < 0 {
                throw Negative()
            }
        }
    }
}

/// A type of which a piecewise merge has two cases at once.
private enum Shape: Codable, Hashable, Sendable {
    case circle(Int), square(Int), triangle(Int)
}

private struct Peer: Sendable {
    let store: Store
    let replica: Replica
    let connector: ReplicaConnector
    private let cards = Store.Collection<Value>("cards")

    init(_ store: Store, _ name: ReplicaName, _ network: SimulatedNetwork) async throws {
        self.store = store
        connector = try ReplicaConnector(store, transport: network)
        replica = try await connector.open(name, collections: ["cards"])
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
