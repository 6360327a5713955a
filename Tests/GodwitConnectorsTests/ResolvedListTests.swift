import GodwitConnectors
import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

@testable import GodwitReplication

/// Decisions about conflicts in items of lists.
@Suite struct ResolvedListTests: CardSuite {
    let server: CardServer

    init() async throws { server = try await CardServer() }

    @Test func `a decision that removes an item does not reach the item that takes its place`()
        async throws
    {
        // The neighbour's price is what the merge leaves in the item.
        for price in [2, 3] {
            let neighbour: Value = ["id": 8, "price": .int(Int64(price))]
            let devices = try await conflicted(
                ["items": [["id": 7, "price": 1], neighbour]],
                ["items": [["id": 7, "price": 2, "isDone": true], neighbour]],
                ["items": [["id": 7, "price": 3], neighbour]],
                then: ["items": [neighbour]],
                named: "\(price)"
            )
            let record = try await record(devices.phone, price)
            let removal = try #require(
                record.conflicts.first { $0.value.reason == .removedAndEdited }
            )
            try await resolve(removal.key, record, on: devices.phone)
            #expect(try await value(devices.phone, price) == ["items": [neighbour]])
            for id in record.conflicts.keys where id != removal.key {
                await #expect(throws: ReplicationError.changedSince(record.object)) {
                    try await resolve(id, record, on: devices.phone)
                }
            }
            #expect(try await value(devices.phone, price) == ["items": [neighbour]])
        }
    }

    @Test func `a decision in one list leaves the conflicts of another list as they are`()
        async throws
    {
        let devices = try await conflicted(
            ["todo": [["id": 1, "price": 1], ["id": 2]], "done": [["id": 1, "price": 1]]],
            ["todo": [["id": 1, "price": 2], ["id": 2]], "done": [["id": 1, "price": 2]]],
            ["todo": [["id": 1, "price": 3], ["id": 2]], "done": [["id": 1, "price": 3]]]
        )
        let record = try await record(devices.phone)
        let ids = record.conflicts.mapValues(\.path.steps.first)
        let todo = try #require(ids.first { $0.value == .key("todo") }?.key)
        let done = try #require(ids.first { $0.value == .key("done") }?.key)
        // The item gets another id, by which it is found from now on.
        let (store, replica) = (devices.phone.store, devices.phone.replica)
        try await store.write {
            try replica.resolve(todo, about: record.object, .put(5), in: $0)
        }
        try await resolve(done, record, on: devices.phone)
        #expect(try await devices.phone.replica.conflicts() == [])
    }

    /// - Parameter isFirst: Whether the device that settles the conflict in the item is the first to sync.
    @Test(arguments: [false, true])
    func `decisions of two devices about one object leave the rest to be settled`(
        isFirst: Bool
    ) async throws {
        let devices = try await conflicted(
            ["title": 1, "items": [["note": "x", "price": 1, "weight": 1]]],
            ["title": 2, "items": [["note": "x", "price": 2, "weight": 2]]],
            ["title": 3, "items": [["note": "x", "price": 3, "weight": 3]]]
        )
        let record = try await record(devices.phone)
        func id(_ key: Key) throws -> Key {
            try #require(record.conflicts.first { $0.value.path.steps.last == .key(key) }?.key)
        }
        try await resolve(id("price"), record, on: devices.phone)
        try await resolve(id("title"), record, on: devices.tablet)
        let (phone, tablet) = devices
        for device in isFirst ? [phone, tablet, phone] : [tablet, phone, tablet] {
            try await device.synchronize()
        }
        for device in [phone, tablet] {
            #expect(try await device.replica.conflicts().first?.conflicts.count == 1)
        }
        try await resolve(id("weight"), record, on: tablet)
        try await tablet.synchronize()
        try await phone.synchronize()
        #expect(try await phone.replica.conflicts() == [])
    }

    @Test func `an item is found among others that have the same title`() async throws {
        let other: Value = ["title": "Call", "at": 9]
        let devices = try await conflicted(
            ["items": [other, ["title": "Call", "at": 15, "with": "Ann"]]],
            ["items": [other, ["title": "Call", "at": 16, "with": "Ann"]]],
            ["items": [other, ["title": "Call", "at": 17, "with": "Ann"]]]
        )
        let record = try await record(devices.phone)
        let (id, conflict) = try #require(record.conflicts.first)
        try await resolve(id, record, on: devices.phone)
        let taken = conflict.choice == .ours ? conflict.theirs : conflict.ours
        let items = try await value(devices.phone)?["items"]?.list
        #expect(items?.first == other)
        #expect(items?.last?["at"] == taken)
    }

    @Test func `a decision in an inner list leaves the outer item's conflicts to be settled`()
        async throws
    {
        func lists(_ number: Int64) -> Value {
            ["days": [["note": "x", "price": .int(number), "items": [["n": .int(number)]]]]]
        }
        let devices = try await conflicted(lists(1), lists(2), lists(3))
        let record = try await record(devices.phone)
        let inner = try #require(
            record.conflicts.first { $0.value.path.steps.last == .key("n") }?.key
        )
        try await resolve(inner, record, on: devices.phone)
        for id in record.conflicts.keys where id != inner {
            try await resolve(id, record, on: devices.phone)
        }
        #expect(try await devices.phone.replica.conflicts() == [])
    }

    @Test func `a decision about an item leaves the conflict of its twin as it is`() async throws {
        let devices = try await conflicted(
            ["items": [["title": "Call", "at": 15]]],
            ["items": [["title": "Call", "at": 16]]],
            ["items": [["title": "Call", "at": 17]]]
        )
        let (phone, tablet) = devices
        let first = try #require(try await record(phone).conflicts.keys.first)
        let call = try #require(try await value(phone)?["items"]?.list?.first)
        // Another item has the same title, and what the merge has left.
        func lists(_ weight: Int) throws -> Value {
            var twin = call
            _ = try twin.edit { $0.weight = weight }
            return ["items": [call, twin]]
        }
        let start = try lists(1)
        try await phone.store.write { [cards] in try $0.set(start, for: "l", in: cards) }
        for device in [phone, tablet] { try await device.synchronize() }
        for (device, weight) in [(phone, 2), (tablet, 3)] {
            let edited = try lists(weight)
            try await device.store.write { [cards] in try $0.set(edited, for: "l", in: cards) }
        }
        for device in [phone, tablet, phone] { try await device.synchronize() }
        let record = try await record(phone)
        let second = try #require(record.conflicts.keys.first { $0 != first })
        try await resolve(second, record, on: phone)
        let settled = try await value(phone)
        await #expect(throws: ReplicationError.changedSince(record.object)) {
            try await resolve(first, record, on: phone)
        }
        #expect(try await value(phone) == settled)
        // Without the twin there is no doubt.
        try await phone.store.write { [cards] in
            try $0.set(["items": [call]], for: "l", in: cards)
        }
        try await resolve(first, record, on: phone)
    }

    @Test func `a place in an item that has changed since is not put back`() async throws {
        let devices = try await conflicted(
            ["items": [["id": 7, "price": 1]]],
            ["items": [["id": 7, "price": 2]]],
            ["items": [["id": 7, "price": 3]]]
        )
        let record = try await record(devices.phone)
        let id = try #require(record.conflicts.keys.first)
        let edited: Value = ["items": [["id": 7, "price": 4]]]
        try await devices.phone.store.write { [cards] in try $0.set(edited, for: "l", in: cards) }
        await #expect(throws: ReplicationError.changedSince(record.object)) {
            try await resolve(id, record, on: devices.phone)
        }
        #expect(try await value(devices.phone) == edited)
    }

    // MARK: Devices

    /// Two devices that have changed one object, and have all of each other's changes.
    ///
    /// - Parameter last: What the tablet makes of it at the same time, in a second step.
    private func conflicted(
        _ start: Value,
        _ phones: Value,
        _ tablets: Value,
        then last: Value? = nil,
        named key: String = "l"
    ) async throws -> (phone: CardDevice, tablet: CardDevice) {
        let (phone, tablet) = (try await device(), try await device())
        try await phone.store.write { [cards] in try $0.set(start, for: key, in: cards) }
        for device in [phone, tablet] { try await device.synchronize() }
        try await phone.store.write { [cards] in try $0.set(phones, for: key, in: cards) }
        try await tablet.store.write { [cards] in try $0.set(tablets, for: key, in: cards) }
        for device in [phone, tablet, phone] { try await device.synchronize() }
        if let last {
            try await phone.store.write { [cards] transaction in
                try transaction.edit(key, in: cards) { $0.items[0].isDone = false }
            }
            try await tablet.store.write { [cards] in try $0.set(last, for: key, in: cards) }
            for device in [phone, tablet, phone] { try await device.synchronize() }
        }
        return (phone, tablet)
    }

    private func record(_ device: CardDevice, _ key: Int? = nil) async throws -> ConflictRecord {
        let key = key.map { Key("\($0)") } ?? "l"
        return try #require(try await device.replica.conflicts().first { $0.object.key == key })
    }

    private func resolve(_ id: Key, _ record: ConflictRecord, on device: CardDevice) async throws {
        let replica = device.replica
        try await device.store.write {
            try replica.resolve(id, about: record.object, .takeOther, in: $0)
        }
    }

    private func value(_ device: CardDevice, _ key: Int? = nil) async throws -> Value? {
        let key = key.map(String.init) ?? "l"
        return try await device.store.read { [cards] in try $0.get(key, in: cards) }
    }
}
