import GodwitConnectors
import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

@testable import GodwitReplication

/// Conflicts that merges leave, and that people settle.
@Suite struct ReplicaConflictTests {
    let name: ReplicaName
    let network: SimulatedNetwork
    let cards = Store.Collection<Value>("cards")

    init() async throws {
        name = try ReplicaName("shopping")
        network = try await SimulatedNetwork(store: Store(.memory))
        try await network.create(name)
    }

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
            try replica.settle(id, about: record.object, .takeOther, in: $0)
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

    @Test func `a place that has changed since is not put back`() async throws {
        let (phone, tablet) = (try await device(), try await device())
        try await phone.set(1, 1)
        for device in [phone, tablet] { try await device.synchronize() }
        try await phone.set(1, 10)
        try await tablet.set(1, 20)
        for device in [tablet, phone, tablet] { try await device.synchronize() }
        let record = try #require(try await phone.replica.conflicts().first)
        let id = try #require(record.conflicts.keys.first)
        try await phone.set(1, 30)
        let (store, replica) = (phone.store, phone.replica)
        await #expect(throws: ReplicationError.changedSince(record.object)) {
            try await store.write {
                try replica.settle(id, about: record.object, .takeOther, in: $0)
            }
        }
        try await store.write { try replica.settle(id, about: record.object, in: $0) }
        #expect(try await replica.conflicts() == [])
    }

    private func device(undoCountMax: Int = 0) async throws -> CardDevice {
        try await CardDevice(Store(.memory), name, network, undoCountMax: undoCountMax)
    }
}
