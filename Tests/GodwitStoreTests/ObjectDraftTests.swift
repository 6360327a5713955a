import Foundation
import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

/// `transaction.edit` by the properties of the object's type.
@Suite struct ObjectDraftTests {
    struct Item: Codable, Equatable, Identifiable, Sendable {
        var id: String
        var name: String
        var isCrossed = false
        var quantity: Int = 1
    }

    struct Address: Codable, Equatable, Sendable {
        var city: String
        var street: String?
    }

    struct List: Codable, Equatable, Sendable {
        var title = ""
        var note = "for tonight"
        var count = 0
        var price = 1.5
        var due: Date?
        var address: Address?
        var home = Address(city: "Rome")
        var tags: [String]?
        var items: [Item] = []
        var votes: [String: Int] = [:]
        var author = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
    }

    private let lists = Store.Collection<List>("lists")
    private let store: Store

    init() async throws {
        store = try Store(.memory)
        let lists = lists
        let items = ["bread", "wine", "milk"].map { Item(id: $0, name: $0.capitalized) }
        try await store.write { try $0.set(List(items: items), for: "l", in: lists) }
    }

    /// Edits the list, and returns it with the recorded delta.
    private func edit(
        _ body: @escaping @Sendable (inout ObjectDraft<List>) throws -> Void
    ) async throws -> (list: List, edn: String) {
        try await store.write { [lists] transaction in
            let place = lists.place("l")
            let old = try #require(try transaction.value(of: place))
            let delta = try transaction.edit("l", in: lists, body)
            let new = try transaction.value(of: place)
            let applied = try delta.applied(to: old)
            #expect(applied == new, "the delta leads from the old value to the new one")
            let list = try transaction.get("l", in: lists)
            return (try #require(list), delta.ednText())
        }
    }

    @Test func `increments, moves, words and keys are recorded as such`() async throws {
        let (list, edn) = try await edit { list in
            list.title = "Groceries"
            list.count += 3
            list.count -= 1
            list.items.move(from: 2, to: 0)
            list.items[id: "wine"].isCrossed = true
            list.items[id: "wine"].quantity += 5
            list.note.append(", or tomorrow")
            list.votes["ann"] = 3
        }
        #expect(list.items.map(\.id) == ["milk", "bread", "wine"])
        #expect(list.items[2].isCrossed && list.items[2].quantity == 6)
        #expect(list.title == "Groceries" && list.count == 2)
        #expect(list.note == "for tonight, or tomorrow" && list.votes == ["ann": 3])
        #expect(
            edn == """
                {:count #d/inc 2 :items {:= {1 {:isCrossed true :quantity #d/inc 5}} :> {2 0}} \
                :note #d/text [[11 0 ", or tomorrow"]] :title "Groceries" :votes {:ann 3}}
                """
        )
    }

    @Test func `a draft edits nested objects, optionals and whole values`() async throws {
        let day = Date(timeIntervalSince1970: 1_000_000)
        let list = try await edit { list in
            list.home.street = "Via Appia"
            list.address = Address(city: "Oslo")
            list.address.city = "Bergen"
            list.tags = ["a"]
            list.tags.ifPresent { $0.append("b") }
            list.due = day
            list.price = 2
            list.items[0] = Item(id: "rye", name: "Rye")
            list.author = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1))
        }.list
        #expect(list.home == Address(city: "Rome", street: "Via Appia"))
        #expect(list.address == Address(city: "Bergen") && list.tags == ["a", "b"])
        #expect(list.due == day && list.price == 2 && list.items[0].name == "Rye")
        #expect(list.author.uuidString.hasSuffix("0001"))

        let later = try await edit { list in
            list.address = nil
            list.tags = nil
            list.tags.ifPresent { $0.append("never") }
            list.due = nil
            list.home.street = nil
        }.list
        #expect(later.address == nil && later.tags == nil && later.due == nil)
        #expect(later.home.street == nil)
    }

    @Test func `a draft is read by types, as it is at the moment`() async throws {
        _ = try await edit { list in
            list.count += 2
            list.items[1].name = "Rosé"
            let (count, name): (Int?, String?) = (list.count, list.items[1].name)
            let (none, city): (Item?, String?) = (list.items[7], list.address.city)
            let wine: Item? = list.items[id: "wine"]
            let missing: Item? = list.items[id: "beer"]
            #expect(count == 2 && name == "Rosé" && wine?.name == "Rosé")
            #expect(none == nil && city == nil && missing == nil && list.items.count == 3)
        }
    }

    @Test func `an edit that does not fit throws, and changes nothing`() async throws {
        let edits: [@Sendable (inout ObjectDraft<List>) throws -> Void] = [
            { $0.items[3].name = "?" },
            { $0.items[id: "beer"].name = "?" },
            { $0.items.move(from: 0, to: 3) },
            { $0.items.move(id: "beer", to: 0) },
            { $0.address.city = "?" },
            { $0.title = nil },
            { $0.items[0] = nil },
            { $0.votes["ann"] += 1 },
            { $0.price = .nan },
            { $0.note.replaceSubrange(5..<90, with: "?") },
        ]
        for (number, body) in edits.enumerated() {
            await #expect(throws: TreeError.self, "edit \(number)") {
                _ = try await edit {
                    $0.count += 1
                    try body(&$0)
                }
            }
        }
        let list = try await store.read { [lists] in try $0.get("l", in: lists) }
        #expect(list?.count == 0 && list?.items.count == 3)
    }

    /// A type whose names in the store are not those of its properties.
    struct Renamed: Codable, Sendable {
        var title: String
        var note: String?

        enum CodingKeys: String, CodingKey {
            case title = "t"
            case note
        }
    }

    @Test func `a property that is stored under another name is refused`() async throws {
        let renamed = Store.Collection<Renamed>("renamed")
        try await store.write { try $0.set(Renamed(title: "a"), for: "r", in: renamed) }
        let reason = "Renamed stores title under another name: use editValue(of:in:)"
        await #expect(throws: TreeError.inexpressible(path: ValuePath(), reason: reason)) {
            try await store.write { try $0.edit("r", in: renamed) { $0.title = "b" } }
        }
        try await store.write { transaction in
            try transaction.edit("r", in: renamed) { $0.note = "n" }
            try transaction.editValue(of: "r", in: renamed) { $0.t = "b" }
        }
        let object = try await store.read { try $0.get("r", in: renamed) }
        #expect(object?.title == "b" && object?.note == "n")
    }

    /// Optionals whose names in the store are others, and names that are swapped.
    struct Shuffled: Codable, Equatable, Sendable {
        var due: Date?
        var a = ""
        var b = ""

        enum CodingKeys: String, CodingKey {
            case due = "due_date"
            case a = "b"
            case b = "a"
        }
    }

    @Test func `an optional without a value, and names that are swapped, are not edited elsewhere`()
        async throws
    {
        let shuffled = Store.Collection<Shuffled>("shuffled")
        try await store.write { try $0.set(Shuffled(), for: "s", in: shuffled) }
        let edits: [@Sendable (inout ObjectDraft<Shuffled>) -> Void] = [
            { $0.due = Date(timeIntervalSince1970: 1) }, { $0.a = "1" }, { $0.b = "2" },
        ]
        for body in edits {
            await #expect(throws: TreeError.self) {
                try await store.write { try $0.edit("s", in: shuffled, body) }
            }
        }
        #expect(try await store.read { try $0.get("s", in: shuffled) } == Shuffled())
        let fields = try await store.read { try $0.value(of: shuffled.place("s"))?.map?.count }
        #expect(fields == 2, "nothing lies under another name")
    }

    struct Counted: Codable, Equatable, Sendable, Defaulted {
        var name: String
        var quantity = 1
        var tags = ["new"]
        var isOpen = true
        static let defaults = Counted(name: "")
    }

    @Test func `fields that an older app has not stored are edited from their defaults`()
        async throws
    {
        let counted = Store.Collection<Counted>("counted")
        let object = try await store.write { transaction in
            try transaction.setValue(["name": "a"], of: counted.place("c"))
            try transaction.edit("c", in: counted) { object in
                object.quantity += 1
                object.tags.append("x")
                object.isOpen.toggle()
                #expect(object.tags.count == 2)
            }
            return try transaction.get("c", in: counted)
        }
        #expect(object == Counted(name: "a", quantity: 2, tags: ["new", "x"], isOpen: false))
    }

    @Test func `random edits leave the object as plain Swift would`() async throws {
        for seed in 0..<UInt64(200) {
            var random = Seeded(seed: seed)
            let stored = try await store.read { [lists] in try $0.get("l", in: lists) }
            var expected = try #require(stored)
            let steps = (0..<Int.random(in: 1...8, using: &random)).map { _ in
                Step(
                    number: .random(in: 0..<9, using: &random),
                    a: .random(in: 0..<50, using: &random)
                )
            }
            for step in steps { step.apply(to: &expected) }
            let list = try await edit { draft in for step in steps { step.apply(to: &draft) } }.list
            #expect(list == expected, "seed \(seed)")
        }
    }

    /// One edit, once as plain Swift and once in a draft.
    private struct Step {
        let number: Int
        let a: Int

        func apply(to list: inout List) {
            let place = list.items.isEmpty ? 0 : a % list.items.count
            switch number {
            case 0: list.count += a
            case 1: list.note += "\(a)"
            case 2: list.items.append(Item(id: "i\(a)", name: "\(a)"))
            case 3 where !list.items.isEmpty: list.items.insert(list.items.remove(at: place), at: 0)
            case 4 where list.items.count > 2: list.items.remove(at: place)
            case 5 where !list.items.isEmpty: list.items[place].quantity += a
            case 6: list.votes["v\(a % 3)"] = a % 2 == 0 ? a : nil
            case 7: list.address = a % 2 == 0 ? nil : Address(city: "\(a)")
            case 8: list.home.street = a % 3 == 0 ? nil : "\(a)"
            default: break
            }
        }

        func apply(to list: inout ObjectDraft<List>) {
            let count = list.items.count
            let place = count == 0 ? 0 : a % count
            switch number {
            case 0: list.count += a
            case 1: list.note.append("\(a)")
            case 2: list.items.append(Item(id: "i\(a)", name: "\(a)"))
            case 3 where count > 0: list.items.move(from: place, to: 0)
            case 4 where count > 2: list.items.remove(at: place)
            case 5 where count > 0: list.items[place].quantity += a
            case 6: list.votes["v\(a % 3)"] = a % 2 == 0 ? a : nil
            case 7: list.address = a % 2 == 0 ? nil : Address(city: "\(a)")
            case 8: list.home.street = a % 3 == 0 ? nil : "\(a)"
            default: break
            }
        }
    }
}
