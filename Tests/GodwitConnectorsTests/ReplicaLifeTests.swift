import GodwitConnectors
import GodwitQueue
import GodwitStore
import GodwitTestKit
import GodwitTree
import Synchronization
import Testing

@testable import GodwitReplication

/// Replicas that are opened, closed and left, through a connector, and types that merges do not know.
@Suite struct ReplicaLifeTests: CardSuite {
    let server: CardServer

    init() async throws { server = try await CardServer() }

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

    @Test(.timeLimit(.minutes(1)))
    func `a push that has run before its replica was open runs again as soon as it is`()
        async throws
    {
        let (store, clock) = (try Store(.memory), ManualClock())
        var options = ReplicaConnector.Options()
        (options.clock, options.monitor) = (clock, ConstantConditions())
        let connector = try ReplicaConnector(store, transport: network, options: options)
        _ = try await connector.open(name, collections: ["cards"])
        let commit = try await store.write { transaction in
            try transaction.set(["id": 1], for: "c1", in: cards)
            return transaction.commit
        }
        connector.close(name)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await connector.run() }
            // The push is tried again then.
            while await clock.nextDelay() < .seconds(5) {}
            _ = try await connector.open(name, collections: ["cards"])
            try await connector.pushed(through: commit)
            group.cancelAll()
        }
        #expect(try await network.server.value(of: name)["cards"]?["c1"] == ["id": 1])
    }

    @Test func `a replica that is opened while its connector runs, closed and opened, follows`()
        async throws
    {
        let (phone, tablet) = (try await device(), try await device())
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await phone.connector.run() }
            try await phone.connector.statuses(of: name).reaches { $0.isConnected }
            phone.connector.close(name)
            _ = try await phone.connector.open(name, collections: ["cards"])
            try await phone.connector.statuses(of: name).reaches { $0.isConnected }
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

    @Test func `a replica that is open already is opened no second time, and changes nothing`()
        async throws
    {
        let phone = try await device()
        try await phone.store.write { try $0.set(1, for: "n", in: Store.Collection<Int>("notes")) }
        await #expect(throws: StoreError.self) {
            _ = try await Replica.open(name, in: phone.store, collections: ["cards", "notes"])
        }
        try await phone.synchronize()
        #expect(try await network.server.value(of: name) == [:])
    }

    @Test func `an app that closes a replica while it synchronizes is told`() async throws {
        let phone = try await device()
        try await phone.set(1, 1)
        network.deliver { [name] _ in
            phone.connector.close(name)
            return .arrives
        }
        await #expect(throws: ReplicationError.unknownReplica("shopping")) {
            try await phone.synchronize()
        }
        network.deliver { _ in .arrives }
        _ = try await phone.connector.open(name, collections: ["cards"])
        try await phone.synchronize()
        #expect(try await network.server.value(of: name)["cards"]?.map?.count == 1)
    }

    @Test func `a replica that the app has closed by itself takes nothing from the next one`()
        async throws
    {
        let phone = try await device()
        let statuses = phone.connector.statuses(of: name)
        phone.replica.close()
        for await _ in statuses {}
        #expect(phone.connector.status(of: name) == nil)
        let next = try await phone.connector.open(name, collections: ["cards"])
        phone.replica.close()
        try await phone.set(1, 1)
        #expect(try await phone.store.read { try $0.operations().count } == 1)
        try await phone.synchronize()
        #expect(try await !next.status().isDirty)
        #expect(try await network.server.value(of: name)["cards"]?.map?.count == 1)
    }
}
