import GodwitConnectors
import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

@testable import GodwitReplication

/// Steps of a device that are undone after others have gone on.
@Suite struct ReplicaUndoTests {
    let name: ReplicaName
    let network: SimulatedNetwork
    let cards = Store.Collection<Value>("cards")

    init() async throws {
        name = try ReplicaName("shopping")
        network = try await SimulatedNetwork(store: Store(.memory))
        try await network.create(name)
    }

    @Test func `a step is undone under what others have done since, and redone`() async throws {
        let (phone, tablet) = (try await device(undoCountMax: 8), try await device())
        let lists = cards
        try await phone.store.write { transaction in
            try transaction.set(["count": 5, "items": ["a"]], for: "l", in: lists)
        }
        for device in [phone, tablet] { try await device.synchronize() }
        try await phone.store.write { transaction in
            try transaction.edit("l", in: lists) {
                $0.count += 3
                $0.items.list.append("mine")
            }
        }
        for device in [phone, tablet] { try await device.synchronize() }
        try await tablet.store.write { transaction in
            try transaction.edit("l", in: lists) {
                $0.count += 10
                $0.items.list.insert("theirs", at: 0)
            }
        }
        for device in [tablet, phone] { try await device.synchronize() }
        let (store, replica) = (phone.store, phone.replica)
        func list(_ device: CardDevice) async throws -> Value? {
            try await device.store.read { try $0.get("l", in: lists) }
        }
        #expect(try await list(phone) == ["count": 18, "items": ["theirs", "a", "mine"]])

        #expect(try await store.write { try replica.undo(in: $0) })
        for device in [phone, tablet] { try await device.synchronize() }
        for device in [phone, tablet] {
            #expect(try await list(device) == ["count": 15, "items": ["theirs", "a"]])
        }
        let counts = try await store.read { try replica.undoCounts(in: $0) }
        #expect(counts.undoable == 1 && counts.redoable == 1)

        #expect(try await store.write { try replica.redo(in: $0) })
        for device in [phone, tablet] { try await device.synchronize() }
        for device in [phone, tablet] {
            let wanted: Value = ["count": 18, "items": ["theirs", "a", "mine"]]
            #expect(try await list(device) == wanted)
        }
        #expect(try await !store.write { try replica.redo(in: $0) })
    }

    @Test func `an undone step keeps what others have made of the same place`() async throws {
        let (phone, tablet) = (try await device(undoCountMax: 8), try await device())
        try await phone.set(1, 1)
        try await phone.set(1, 2)
        for device in [phone, tablet] { try await device.synchronize() }
        try await tablet.set(1, 3)
        for device in [tablet, phone] { try await device.synchronize() }
        let (store, replica) = (phone.store, phone.replica)
        #expect(try await store.write { try replica.undo(in: $0) })
        #expect(try await phone.number(1) == 3)
        #expect(try await store.write { try replica.undo(in: $0) }, "the card's creation")
        #expect(try await !store.write { try replica.undo(in: $0) })
    }

    @Test func `a new step forgets what is undone, and the oldest steps go`() async throws {
        let phone = try await device(undoCountMax: 2)
        for number in 1...4 { try await phone.set(1, number) }
        let (store, replica) = (phone.store, phone.replica)
        for wanted in [3, 2] {
            #expect(try await store.write { try replica.undo(in: $0) })
            #expect(try await phone.number(1) == Int64(wanted))
        }
        #expect(try await !store.write { try replica.undo(in: $0) })
        try await phone.set(1, 9)
        #expect(try await !store.write { try replica.redo(in: $0) })
        #expect(try await store.write { try replica.undo(in: $0) })
        #expect(try await phone.number(1) == 2)
    }

    private func device(undoCountMax: Int = 0) async throws -> CardDevice {
        try await CardDevice(Store(.memory), name, network, undoCountMax: undoCountMax)
    }
}
