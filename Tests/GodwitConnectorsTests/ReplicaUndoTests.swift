import GodwitConnectors
import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

@testable import GodwitReplication

/// Steps of a device that are undone after others have gone on.
@Suite struct ReplicaUndoTests: CardSuite {
    let server: CardServer

    init() async throws { server = try await CardServer() }

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

    @Test func `an increment is taken back beside a field that others have changed`() async throws {
        let (phone, tablet) = (try await device(undoCountMax: 8), try await device())
        try await phone.store.write { [cards] in
            try $0.set(["count": 5, "title": "old"], for: "l", in: cards)
        }
        for device in [phone, tablet] { try await device.synchronize() }
        for (device, number, title) in [(phone, 3, "mine"), (tablet, 10, "theirs")] {
            try await device.store.write { [cards] transaction in
                try transaction.edit("l", in: cards) {
                    $0.count += number
                    $0.title = title
                }
            }
            for device in [phone, tablet] { try await device.synchronize() }
        }
        try await phone.synchronize()
        #expect(try await value("l", on: phone) == ["count": 18, "title": "theirs"])
        let (store, replica) = (phone.store, phone.replica)
        #expect(try await store.write { try replica.undo(in: $0) })
        #expect(try await value("l", on: phone) == ["count": 15, "title": "theirs"])
        #expect(try await store.write { try replica.redo(in: $0) })
        #expect(try await value("l", on: phone) == ["count": 18, "title": "theirs"])
    }

    /// A map with two cases of an enum is what no app can read.
    @Test func `an undone step leaves an object as it is where the app could not read the result`()
        async throws
    {
        let shapes = Store.Collection<Shape>("cards")
        var options = Store.Options()
        options.collections = [CollectionRules(shapes)]
        let phone = try await CardDevice(
            Store(.memory, options: options),
            name,
            network,
            undoCountMax: 8
        )
        let tablet = try await device()
        try await phone.store.write { try $0.set(.circle(1), for: "a", in: shapes) }
        try await phone.store.write { try $0.set(.square(2), for: "a", in: shapes) }
        for device in [phone, tablet] { try await device.synchronize() }
        try await tablet.store.write { [cards] in
            try $0.set(["square": ["_0": 7]], for: "a", in: cards)
        }
        for device in [tablet, phone] { try await device.synchronize() }
        let (store, replica) = (phone.store, phone.replica)
        try await store.write { try replica.undo(in: $0) }
        let shape = try await store.read { try $0.get("a", in: shapes) }
        #expect(shape == .square(7) || shape == .circle(1))
    }
}
