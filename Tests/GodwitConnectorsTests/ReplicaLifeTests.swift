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
        for arrivals in [Replica.Arrivals.taken, .heldBack] {
            let error = await #expect(throws: HookRefusal.self) {
                try await store.write { try replica.receive(answer, to: request, arrivals, in: $0) }
            }
            #expect(error?.error is StrictHook.Negative)
        }
        try await store.write { try replica.receive(answer, to: request, .keptBack, in: $0) }
        for device in [tablet, phone] { try await device.synchronize() }

        for device in [phone, tablet] {
            let card = try await device.store.read { [cards] in try $0.get("c1", in: cards) }
            #expect(card == ["id": 1, "note": "mine"])
            let records = try await device.replica.conflicts()
            #expect(records.map(\.object) == [cards.place("c1")])
            #expect(records.first?.conflicts.values.first?.theirs == ["id": -1])
        }
    }

    @Test func `an edit of a refused object is merged with what had arrived`() async throws {
        let (phone, tablet) = (try await device(), try await device())
        let lists = cards
        try await phone.store.write { transaction in
            try transaction.set(["id": 1, "items": ["a"], "count": 5], for: "l", in: lists)
        }
        for device in [phone, tablet] { try await device.synchronize() }
        try tablet.store.addHook(StrictHook(), named: "strict")
        try await phone.store.write { transaction in
            try transaction.edit("l", in: lists) {
                $0.id = -1
                $0.items.list.append("b")
                $0.count += 3
            }
        }
        for device in [phone, tablet] { try await device.synchronize() }
        #expect(try await tablet.replica.refusedObjects().count == 1)
        // The hook takes what the edit makes of it.
        try await tablet.store.write { transaction in
            try transaction.edit("l", in: lists) {
                $0.items.list.append("d")
                $0.id = 2
                $0.count += 3
            }
        }
        for device in [tablet, phone, tablet] { try await device.synchronize() }
        for device in [phone, tablet] {
            let list = try await device.store.read { try $0.get("l", in: lists) }
            #expect(list?["items"] == ["a", "b", "d"])
            #expect(list?["count"] == 11)
            #expect(try await device.replica.refusedObjects().isEmpty)
        }
        let records = try await phone.replica.conflicts()
        #expect(records.first?.conflicts.values.first?.path == Path([.key("id")]))
    }

    @Test func `what a hook throws is a refusal, whatever it is`() async throws {
        let (phone, tablet) = (try await device(), try await device())
        try tablet.store.addHook(TypedHook(), named: "typed")
        try await phone.set(1, 1)
        try await phone.store.write { [cards] in try $0.set("no card", for: "c2", in: cards) }
        for device in [phone, tablet] { try await device.synchronize() }
        #expect(try await tablet.keys() == ["c1"])
        #expect(try await tablet.replica.refusedObjects().count == 1)
    }

    // MARK: Types

    @Test func `a merge that the app's type cannot read gives way to one side, and is told`()
        async throws
    {
        let shapes = Store.Collection<Shape>("cards")
        var options = Store.Options()
        options.collections = [CollectionRules(shapes)]
        let phone = try await CardDevice(try Store(.memory, options: options), name, network)
        let tablet = try await CardDevice(try Store(.memory, options: options), name, network)
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
        // Another user signs in.
        let replica = try await phone.connector.open(name, collections: ["cards"])
        #expect(try await replica.status().client != client)
        try await phone.synchronize()
        #expect(try await phone.keys() == ["c1", "c2"])
    }

    private func device(undoCountMax: Int = 0) async throws -> CardDevice {
        try await CardDevice(Store(.memory), name, network, undoCountMax: undoCountMax)
    }
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

/// Reads each card as one of its type, and throws what that throws.
private struct TypedHook: TransactionHook {
    struct Card: Codable, Sendable {
        let id: Int
    }

    let collections: Set<Key>? = ["cards"]

    func willCommit(
        _ changes: [ObjectChange],
        in transaction: borrowing WriteTransaction
    ) throws {
        for change in changes { _ = try change.new(in: StoreCollection<Card>("cards")) }
    }
}

/// A type of which a piecewise merge has two cases at once.
private enum Shape: Codable, Hashable, Sendable {
    case circle(Int), square(Int), triangle(Int)
}
