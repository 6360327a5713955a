import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

/// Upgrades of objects from one type to the next.
@Suite struct UpgradeTests {
    struct ContactV1: Codable, Sendable {
        var name: String
        var presence: String
    }

    struct ContactV2: Codable, Sendable {
        var name: String
        var isOnline: Bool
    }

    struct Person: Codable, Equatable, Sendable {
        var first: String
        var last: String
        var isOnline: Bool
    }

    struct NoName: Error {}

    private let first = Store.Collection<ContactV1>("contacts")
    private var second: Store.Collection<ContactV2> {
        first.upgraded { ContactV2(name: $0.name, isOnline: $0.presence == "online") }
    }
    private var third: Store.Collection<Person> {
        second.upgraded(to: Person.self) { old in
            let words = old.name.split(separator: " ", maxSplits: 1).map(String.init)
            guard words.count == 2 else { throw NoName() }
            return Person(first: words[0], last: words[1], isOnline: old.isOnline)
        }
    }

    @Test func `objects of all older types are read as the newest one`() async throws {
        let (first, second, third) = (first, second, third)
        #expect([first.version, second.version, third.version] == [1, 2, 3])
        let store = try Store(.memory)
        try await store.write { transaction in
            try transaction.set(ContactV1(name: "Ann Lee", presence: "online"), for: "a", in: first)
            try transaction.set(ContactV2(name: "Bob Roe", isOnline: false), for: "b", in: second)
            try transaction.set(Person(first: "C", last: "D", isOnline: true), for: "c", in: third)
        }
        let people = try await store.read { try $0.objects(third.all).map(\.object) }
        #expect(
            people == [
                Person(first: "Ann", last: "Lee", isOnline: true),
                Person(first: "Bob", last: "Roe", isOnline: false),
                Person(first: "C", last: "D", isOnline: true),
            ]
        )
    }

    @Test func `fields that no type knows stay, those that a type drops go`() async throws {
        let third = third
        let store = try Store(.memory)
        try await store.write { transaction in
            let value: Value = ["name": "Ann Lee", "presence": "away", "pet": "cat"]
            try transaction.setValue(value, of: third.place("a"))
            try transaction.update("a", in: third) { $0.first = "Anna" }
            let stored = try transaction.value(of: third.place("a"))
            #expect(stored == ["first": "Anna", "last": "Lee", "isOnline": false, "pet": "cat"])
        }
    }

    struct Home: Codable, Sendable {
        struct Address: Codable, Sendable { var city: String }
        var address: Address
    }

    struct House: Codable, Sendable {
        var address: Home.Address
        var floors = 1
    }

    @Test func `fields that no type knows stay inside of others, too`() async throws {
        let houses = Store.Collection<Home>("homes").upgraded { House(address: $0.address) }
        let store = try Store(.memory)
        try await store.write { transaction in
            let value: Value = ["address": ["city": "Rome", "zip": "00100"]]
            try transaction.setValue(value, version: 1, of: houses.place("a"))
            try transaction.update("a", in: houses) { $0.floors = 2 }
            let stored = try transaction.value(of: houses.place("a"))
            #expect(stored == ["address": ["city": "Rome", "zip": "00100"], "floors": 2])
        }
    }

    @Test func `an object that cannot be upgraded is left out and named, the others are read`()
        async throws
    {
        let (first, third) = (first, third)
        let store = try Store(.memory)
        try await store.write { transaction in
            try transaction.set(ContactV1(name: "Ann Lee", presence: ""), for: "a", in: first)
            try transaction.set(ContactV1(name: "Cher", presence: ""), for: "b", in: first)
            try transaction.setValue(["name": 7], of: third.place("c"))
        }
        let rows = try await store.read { try $0.objects(third.all) }
        #expect(rows.map(\.key) == ["a"] && Set(rows.unreadable.keys) == ["b", "c"])
    }
}
