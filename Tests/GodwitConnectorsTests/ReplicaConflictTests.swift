import GodwitConnectors
import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

@testable import GodwitReplication

/// Conflicts that merges leave, and that people settle.
@Suite struct ReplicaConflictTests: CardSuite {
    let server: CardServer

    init() async throws { server = try await CardServer() }

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
            try replica.resolve(id, about: record.object, .takeOther, in: $0)
        }
        for device in [phone, tablet] { try await device.synchronize() }
        for device in [phone, tablet] {
            let card = try await device.store.read { [cards] in try $0.get("c1", in: cards) }
            #expect(card?["id"] == other)
            #expect(try await device.replica.conflicts() == [])
        }
        await #expect(throws: ReplicationError.unknownConflict(record.object)) {
            try await phone.store.write { try replica.resolve(id, about: record.object, in: $0) }
        }
    }

    @Test func `conflicts of one replica do not go to another one's server`() async throws {
        let (phone, tablet) = (try await device(), try await device())
        let other = ReplicaName("other")
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
                try replica.resolve(id, about: record.object, .takeOther, in: $0)
            }
        }
        try await store.write { try replica.resolve(id, about: record.object, in: $0) }
        #expect(try await replica.conflicts() == [])
    }

    @Test func `a conflict within a list is settled where its item is now`() async throws {
        let (phone, tablet) = (try await device(), try await device())
        @Sendable func items(_ names: [String]) -> Value {
            let items = names.enumerated().map { number, name in
                Value.map(["id": .int(Int64(number)), "name": .string(Key(name))])
            }
            return ["items": .list(Value.List(items))]
        }
        try await phone.store.write { [cards] in
            try $0.set(items(["a", "b", "c"]), for: "l", in: cards)
        }
        for device in [phone, tablet] { try await device.synchronize() }
        for (device, text) in [(phone, "mine"), (tablet, "theirs")] {
            try await device.store.write { [cards] transaction in
                try transaction.edit("l", in: cards) { $0.items[1].name = text }
            }
        }
        for device in [tablet, phone] { try await device.synchronize() }
        try await phone.store.write { [cards] transaction in
            try transaction.edit("l", in: cards) { $0.items.list.insert(["id": 9], at: 0) }
        }
        let record = try #require(try await phone.replica.conflicts().first)
        let (id, conflict) = try #require(record.conflicts.first)
        #expect(conflict.path == ValuePath([.key("items"), .position(1), .key("name")]))
        let other = conflict.choice == .ours ? conflict.theirs : conflict.ours
        let (store, replica) = (phone.store, phone.replica)
        try await store.write { try replica.resolve(id, about: record.object, .takeOther, in: $0) }
        for device in [phone, tablet] { try await device.synchronize() }
        for device in [phone, tablet] {
            let list = try await value("l", on: device)?["items"]?.list
            #expect(list?.map { $0["name"] } == [nil, "a", other, "c"])
            #expect(try await device.replica.conflicts() == [])
        }
    }

    @Test func `a conflict within a list is not resolved in another item that has the same value`()
        async throws
    {
        let (phone, tablet) = (try await device(), try await device())
        let start: Value = [
            "items": [["name": "Bread", "quantity": 1], ["name": "Wine", "quantity": 1]]
        ]
        try await phone.store.write { [cards] in try $0.set(start, for: "l", in: cards) }
        for device in [phone, tablet] { try await device.synchronize() }
        for (device, number) in [(phone, 2), (tablet, 3)] {
            try await device.store.write { [cards] transaction in
                try transaction.edit("l", in: cards) { $0.items[1].quantity = number }
            }
        }
        for device in [tablet, phone] { try await device.synchronize() }
        let record = try #require(try await phone.replica.conflicts().first)
        let (id, conflict) = try #require(record.conflicts.first)
        let isOurs = conflict.choice == .ours
        let kept = try #require(isOurs ? conflict.ours : conflict.theirs)
        let other = try #require(isOurs ? conflict.theirs : conflict.ours)
        // Milk comes to the place of the wine, with as many.
        try await phone.store.write { [cards] transaction in
            try transaction.edit("l", in: cards) {
                $0.items.list.insert(["name": "Milk", "quantity": kept], at: 1)
            }
        }
        let (store, replica) = (phone.store, phone.replica)
        // Of two equal items, nothing says which one it is.
        await #expect(throws: ReplicationError.changedSince(record.object)) {
            try await store.write { [cards] transaction in
                try transaction.edit("l", in: cards) {
                    $0.items.list.append(["name": "Wine", "quantity": kept])
                }
                try replica.resolve(id, about: record.object, .takeOther, in: transaction)
            }
        }
        try await store.write { try replica.resolve(id, about: record.object, .takeOther, in: $0) }
        let items = try await value("l", on: phone)?["items"]?.list.map(Array.init)
        #expect(items?.map { $0["quantity"] } == [1, kept, other])
        #expect(items?.map { $0["name"] } == ["Bread", "Milk", "Wine"])
    }

    @Test(arguments: [["id": 7], ["note": "x"]] as [Value])
    func `all conflicts within one item are settled, one after the other`(item: Value) async throws
    {
        let (phone, tablet) = (try await device(), try await device())
        var whole = item
        _ = try whole.edit { draft in
            draft.price = 1
            draft.weight = 1
        }
        let start: Value = ["items": [whole, ["id": 8]]]
        try await phone.store.write { [cards] in
            try $0.set(start, for: "l", in: cards)
        }
        for device in [phone, tablet] { try await device.synchronize() }
        for (device, number) in [(phone, 2), (tablet, 3)] {
            try await device.store.write { [cards] transaction in
                try transaction.edit("l", in: cards) {
                    $0.items[0].price = number
                    $0.items[0].weight = number
                }
            }
        }
        for device in [tablet, phone] { try await device.synchronize() }
        let record = try #require(try await phone.replica.conflicts().first)
        #expect(record.conflicts.count == 2)
        let (store, replica) = (phone.store, phone.replica)
        if item["id"] != nil {
            // Another field of an item that has an id does not matter.
            try await store.write { [cards] transaction in
                try transaction.edit("l", in: cards) { $0.items[0].isDone = true }
            }
        }
        for id in record.conflicts.keys {
            try await store.write {
                try replica.resolve(id, about: record.object, .takeOther, in: $0)
            }
        }
        for device in [phone, tablet] { try await device.synchronize() }
        let conflict = try #require(record.conflicts.values.first)
        let other = conflict.choice == .ours ? conflict.theirs : conflict.ours
        for device in [phone, tablet] {
            let found = try await value("l", on: device)?["items"]?.list?.first
            #expect(found?["price"] == other && found?["weight"] == other)
            #expect(try await device.replica.conflicts() == [])
        }
    }

    @Test func `a large value, and one that was removed, are put back only where they were left`()
        async throws
    {
        let (phone, tablet) = (try await device(), try await device())
        let texts = ["base", "phone", "tablet", "edit"].map {
            Value.string(Key(String(repeating: "\($0) ", count: 1_500)))
        }
        try await phone.store.write { [cards] in try $0.set(["text": 0], for: "l", in: cards) }
        for device in [phone, tablet] { try await device.synchronize() }
        for (device, text) in [(phone, texts[1]), (tablet, texts[2])] {
            try await device.store.write { [cards] in
                try $0.set(["text": text], for: "l", in: cards)
            }
        }
        for device in [tablet, phone, tablet] { try await device.synchronize() }
        let record = try #require(try await tablet.replica.conflicts().first)
        let id = try #require(record.conflicts.keys.first)
        let before = try await value("l", on: tablet)
        let (store, replica) = (tablet.store, tablet.replica)
        try await store.write { [cards] in try $0.set(["text": texts[3]], for: "l", in: cards) }
        await #expect(throws: ReplicationError.changedSince(record.object)) {
            try await store.write {
                try replica.resolve(id, about: record.object, .takeOther, in: $0)
            }
        }
        try await store.write { [cards] in try $0.set(before ?? 0, for: "l", in: cards) }
        try await store.write { try replica.resolve(id, about: record.object, .takeOther, in: $0) }
        let after = try await value("l", on: tablet)
        #expect([["text": texts[1]], ["text": texts[2]]].contains(after))
        #expect(after != before)
    }

    /// The app of one device is newer: its type has another name for a field.
    @Test func `what an older app has written is taken back as what it is`() async throws {
        let titled = Store.Collection<Titled>("cards", version: 2) { value, _ in
            ["title": value["name"] ?? ""]
        }
        var options = Store.Options()
        options.collections = [CollectionRules(titled)]
        let phone = try await device()
        let tablet = try await CardDevice(Store(.memory, options: options), name, network)
        try await phone.store.write { [cards] in try $0.set(["name": "old"], for: "a", in: cards) }
        for device in [phone, tablet] { try await device.synchronize() }
        try await phone.store.write { [cards] in try $0.set(["name": "mine"], for: "a", in: cards) }
        try await tablet.store.write { try $0.set(Titled(title: "new"), for: "a", in: titled) }
        for device in [phone, tablet, phone] { try await device.synchronize() }
        #expect(try await tablet.store.read { try $0.get("a", in: titled)?.title } == "new")

        let record = try #require(try await tablet.replica.conflicts().first)
        let id = try #require(record.conflicts.keys.first)
        let (store, replica) = (tablet.store, tablet.replica)
        try await store.write { try replica.resolve(id, about: record.object, .takeOther, in: $0) }
        #expect(try await store.read { try $0.get("a", in: titled)?.title } == "mine")
        for device in [tablet, phone] { try await device.synchronize() }
        #expect(try await value("a", on: phone) == ["name": "mine"])
    }

    @Test func `objects join together with the conflicts about them`() async throws {
        let names = (0..<8).map { Key("notes\($0)") }
        let phone = try await peer(collections: Set(names))
        let tablet = try await peer(collections: Set(names))
        for device in [phone, tablet] {
            try await device.store.write { transaction in
                for name in names {
                    try transaction.set(0, for: "n", in: Store.Collection<Int>(name))
                }
            }
            try await device.synchronize()
        }
        try await phone.synchronize()
        for (device, number) in [(phone, 1), (tablet, 2)] {
            try await device.store.write { transaction in
                for name in names {
                    try transaction.set(number, for: "n", in: Store.Collection<Int>(name))
                }
            }
        }
        for device in [phone, tablet] { try await device.synchronize() }
        #expect(try await tablet.replica.conflicts().count == 8)

        let third = try await peer(collections: [])
        try await third.synchronize()
        #expect(try await third.replica.conflicts().count == 8)
    }

    private func peer(collections: Set<Key>) async throws -> CardDevice {
        try await CardDevice(Store(.memory), name, network, collections: collections)
    }
}

private struct Titled: Codable, Sendable {
    var title: String
}
