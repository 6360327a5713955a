import GodwitConnectors
import GodwitStore
import GodwitTestKit
import GodwitTree
import Synchronization
import Testing

@testable import GodwitReplication

/// Objects that arrive, and that a hook of the app refuses.
@Suite struct ReplicaRefusalTests: CardSuite {
    let server: CardServer

    init() async throws { server = try await CardServer() }

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
        // A replica that is closed takes in nothing: another one may be open.
        tablet.replica.close()
        await #expect(throws: ReplicationError.unknownReplica("shopping")) {
            try await tablet.replica.retryRefused()
        }
        let replica = try await tablet.connector.open(name, collections: ["cards"])
        try await replica.retryRefused()
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
        let error = await #expect(throws: HookRefusal.self) {
            try await store.write { try replica.receive(answer, to: request, in: $0) }
        }
        #expect(error?.error is StrictHook.Negative)
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
        #expect(records.first?.conflicts.values.first?.path == ValuePath([.key("id")]))
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

    @Test func `several edits of a refused object count in their order`() async throws {
        let (phone, tablet) = (try await device(), try await device())
        try tablet.store.addHook(StrictHook(), named: "strict")
        try await phone.set(5, -5)
        for device in [phone, tablet] { try await device.synchronize() }
        #expect(try await tablet.replica.refusedObjects().count == 1)
        let store = tablet.store
        try await store.write { [cards] in try $0.set(["n": 1, "items": []], for: "c5", in: cards) }
        try await store.write { [cards] in try $0.edit("c5", in: cards) { $0.n += 1 } }
        // What is set between two edits is part of the whole edit, too.
        try await store.write { [cards] in try $0.edit("c5", in: cards) { $0["items"] = nil } }
        try await store.write { [cards] in
            try $0.set(["n": 2, "items": ["a"]], for: "c5", in: cards)
        }
        try await store.write { [cards] in
            try $0.edit("c5", in: cards) { $0.items.list.append("b") }
        }
        for device in [tablet, phone, tablet] { try await device.synchronize() }
        for device in [phone, tablet] {
            let card = try #require(try await value("c5", on: device))
            #expect(card["n"] == 2)
            #expect(card["items"] == ["a", "b"])
        }
        #expect(try await tablet.replica.refusedObjects().isEmpty)
        #expect(try await !tablet.replica.status().isDirty)
    }

    /// The answer is held back as a whole; what it brings for other objects is merged all the same.
    @Test func `a refused merge takes nothing away from other objects`() async throws {
        let (phone, tablet) = (try await device(), try await device())
        try await phone.set(1, 1)
        for key in ["l1", "l2"] {
            try await phone.store.write { [cards] in
                try $0.set(["count": 5, "items": ["a"]], for: key, in: cards)
            }
        }
        for device in [phone, tablet] { try await device.synchronize() }
        try tablet.store.addHook(StrictHook(), named: "strict")
        try await phone.set(1, -1)
        try await phone.store.write { [cards] transaction in
            for key in ["l1", "l2"] {
                try transaction.edit(key, in: cards) {
                    $0.count += 2
                    $0.items.list.append("b")
                }
            }
        }
        try await phone.synchronize()
        try await holdBack(on: tablet) {
            try await tablet.store.write { [cards] transaction in
                try transaction.set(["id": 1, "note": "mine"], for: "c1", in: cards)
                try transaction.edit("l1", in: cards) {
                    $0.count += 1
                    $0.items.list.insert("c", at: 0)
                }
            }
        }
        for device in [tablet, phone, tablet] { try await device.synchronize() }

        for device in [phone, tablet] {
            #expect(try await value("l1", on: device) == ["count": 8, "items": ["c", "a", "b"]])
            #expect(try await value("l2", on: device) == ["count": 7, "items": ["a", "b"]])
            #expect(try await value("c1", on: device) == ["id": 1, "note": "mine"])
            let records = try await device.replica.conflicts()
            #expect(records.map(\.object) == [cards.place("c1")])
        }
    }

    /// The process may end after an answer is held back, and before its objects are tried again.
    @Test func `what was held back is taken in by an app that only synchronizes`() async throws {
        let (phone, tablet) = (try await device(), try await device())
        for number in 1...9 { try await phone.set(number, number == 5 ? -5 : number) }
        try await phone.synchronize()
        try tablet.store.addHook(StrictHook(), named: "strict")
        try await holdBack(on: tablet)
        #expect(try await tablet.replica.refusedObjects().count == 9)

        try await tablet.synchronize()
        #expect(try await tablet.replica.refusedObjects().count == 1)
        #expect(try await tablet.keys().count == 8)
    }

    @Test func `an object that is held back is not overwritten by one that the app cannot read`()
        async throws
    {
        let shapes = Store.Collection<Shape>("cards")
        var options = Store.Options()
        options.collections = [CollectionRules(shapes)]
        let phone = try await device()
        let tablet = try await CardDevice(Store(.memory, options: options), name, network)
        try await tablet.store.write { try $0.set(.circle(1), for: "a", in: shapes) }
        for device in [tablet, phone] { try await device.synchronize() }
        try await phone.store.write { [cards] transaction in
            try transaction.set(["square": ["_0": 2]], for: "a", in: cards)
            try transaction.set(["id": -1], for: "b", in: cards)
        }
        try await phone.synchronize()
        try tablet.store.addHook(StrictHook(), named: "strict")
        try await tablet.store.write { try $0.set(.triangle(3), for: "a", in: shapes) }
        for device in [tablet, phone] { try await device.synchronize() }

        let shape = try await tablet.store.read { try $0.get("a", in: shapes) }
        #expect(shape == .square(2) || shape == .triangle(3))
        #expect(try await value("a", on: phone)?.map?.count == 1)
        #expect(try await phone.replica.conflicts().count == 1)
        #expect(try await tablet.replica.refusedObjects().keys.map(\.key) == ["b"])
    }

    @Test func `a hook cannot refuse Godwit's own objects`() async throws {
        let (phone, tablet) = (try await device(), try await device())
        try await phone.set(1, 1)
        for device in [phone, tablet] { try await device.synchronize() }
        try tablet.store.addHook(StrictHook(), named: "strict")
        try tablet.store.addHook(IdentityHook(), named: "identity")
        try await phone.set(1, -1)
        try await phone.synchronize()
        try await holdBack(on: tablet) { try await tablet.set(1, 2) }
        for device in [tablet, phone, tablet] { try await device.synchronize() }
        for device in [phone, tablet] {
            #expect(try await device.number(1) == 2)
            #expect(try await device.replica.conflicts().count == 1)
        }
        #expect(try await tablet.replica.status().rejections.isEmpty)

        // A record that arrives with a refused object is there at once.
        let laptop = try await device()
        try laptop.store.addHook(StrictHook(), named: "strict")
        try await phone.set(2, -2)
        try await phone.synchronize()
        try await holdBack(on: laptop)
        #expect(try await laptop.replica.conflicts().count == 1)
        #expect(try await laptop.replica.refusedObjects().count == 2)
        #expect(
            try await laptop.replica.status().refusedByApp == [
                cards.place("c1"), cards.place("c2"),
            ]
        )
        #expect(try await laptop.replica.status().pendingCount == 0)
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

/// Wants each object of whichever collection to have a number.
private struct IdentityHook: TransactionHook {
    struct Missing: Error {}

    func willCommit(
        _ changes: [ObjectChange],
        in transaction: borrowing WriteTransaction
    ) throws {
        for change in changes {
            if let value = try change.newValue(), value["id"] == nil { throw Missing() }
        }
    }
}
