import Foundation
import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

/// What the app's types become in a store, and what becomes of objects that are not of the type.
@Suite struct TypeTests {
    struct Item: Codable, Equatable, Sendable, Defaulted {
        var name: String
        var isCrossed = false
        var tags: [String] = ["new"]

        static let defaults = Item(name: "")
    }

    struct List: Codable, Equatable, Sendable {
        var items: [Item]
    }

    struct Price: Codable, Equatable, Sendable {
        var amount: Decimal
    }

    struct Photo: Codable, Equatable, Sendable {
        var thumbnail: Data
        var takenAt: Date
        var price: Decimal
    }

    private let lists = Store.Collection<List>("lists")
    private let numbers = Store.Collection<Int>("numbers")

    // MARK: - Decimals

    @Test(arguments: [
        ("0", Value.int(0)), ("12", .int(12)), ("-7", .int(-7)), ("12.5", 12.5), ("0.1", 0.1),
        ("9223372036854775807", .int(.max)), ("1.10", 1.1),
        ("0.1234567890123456789", "0.1234567890123456789"),
        ("9223372036854775808.5", "9223372036854775808.5"),
    ])
    func `a decimal is one scalar, and comes back exactly`(text: String, value: Value) throws {
        let decimal = try #require(Decimal(string: text))
        #expect(try ValueEncoder().encode(decimal) == value)
        #expect(try ValueDecoder().decode(Decimal.self, from: value) == decimal)
        let prices = ["a": [Price(amount: decimal)]]
        let encoded = try ValueEncoder().encode(prices)
        #expect(try ValueDecoder().decode([String: [Price]].self, from: encoded) == prices)
    }

    @Test func `ten thousand decimals come back exactly`() throws {
        for seed in 0..<UInt64(10_000) {
            var random = Seeded(seed: seed)
            let digits = (0..<Int.random(in: 1...38, using: &random)).map { _ in
                String(Int.random(in: 0...9, using: &random))
            }
            let point = Int.random(in: 0...digits.count, using: &random)
            let sign = Bool.random(using: &random) ? "-" : ""
            let text = sign + "0" + digits[..<point].joined() + ".0" + digits[point...].joined()
            let decimal = try #require(Decimal(string: text))
            let value = try ValueEncoder().encode(decimal)
            #expect(try ValueDecoder().decode(Decimal.self, from: value) == decimal, "seed \(seed)")
        }
    }

    @Test func `what is no decimal is none`() throws {
        #expect(throws: EncodingError.self) { try ValueEncoder().encode(Decimal.nan) }
        for value: Value in [
            "", "1,5", "1e3", "0x10", "12 ", .bool(true), [1],
            "1234567890123456789012345678901234567890.5",
        ] {
            #expect(throws: DecodingError.self, "\(value)") {
                try ValueDecoder().decode(Decimal.self, from: value)
            }
        }
    }

    @Test func `a merge takes no decimal apart`() throws {
        let encoder = ValueEncoder()
        let merge = Merge(
            base: try encoder.encode(Price(amount: 12.5)),
            ours: try encoder.encode(Price(amount: 1.25)),
            theirs: try encoder.encode(Price(amount: 13.5))
        )
        let price = try ValueDecoder().decode(Price.self, from: merge.value)
        #expect(price.amount == 13.5 && merge.conflicts.count == 1)
    }

    // MARK: - Missing fields

    @Test func `a field that an older app has not stored is read from the defaults`() async throws {
        let store = try Store(.memory)
        let lists = lists
        let old: Value = ["items": [["name": "Bread"], ["name": "Wine", "isCrossed": true]]]
        try await store.write { try $0.setValue(old, of: lists.place("a")) }
        let list = try await store.read { try $0.get("a", in: lists) }
        #expect(list?.items == [Item(name: "Bread"), Item(name: "Wine", isCrossed: true)])
        try store.close()
    }

    @Test func `a default takes the place of nothing but a missing field`() throws {
        let decoder = ValueDecoder()
        #expect(try decoder.decode(Item.self, from: [:]) == Item.defaults)
        for value: Value in [["name": "a", "isCrossed": .null], ["name": 1], "a"] {
            #expect(throws: DecodingError.self, "\(value)") {
                try decoder.decode(Item.self, from: value)
            }
        }
        #expect(throws: DecodingError.self, "a type without defaults has none") {
            try decoder.decode(List.self, from: [:])
        }
    }

    // MARK: - Objects that cannot be read

    @Test(arguments: Place.allCases)
    func `an object of another type is named, and the others are read`(place: Place) async throws {
        let folder = try TemporaryFolder()
        let store = try place.open(folder)
        let numbers = numbers
        try await store.write { transaction in
            for key in ["a", "b", "c"] { try transaction.set(1, for: key, in: numbers) }
            try transaction.setValue("one", of: numbers.place("b"))
        }
        let unreadable = StoreError.unreadableObject(
            numbers.place("b"),
            reason: "there is a string"
        )
        let (seen, left) = try await store.read { transaction in
            var seen: [String] = []
            let left = try transaction.enumerate(numbers) { key, _, _ in seen.append(key) }
            return (seen, left)
        }
        #expect(seen == ["a", "c"] && left == ["b": unreadable])
        await #expect(throws: unreadable) {
            try await store.read { try $0.get("b", in: numbers) }
        }
        #expect(unreadable.description == "the object numbers/b cannot be read: there is a string")
        #expect(unreadable.localizedDescription == unreadable.description)
        try store.close()
    }

    @Test func `queries and values leave out an object that cannot be read, and name it`()
        async throws
    {
        let index = Store.Index("name", on: "name")
        struct Named: Codable, Equatable, Sendable { var name: String }
        let named = Store.Collection<Named>("named")
        var options = Store.Options()
        options.collections = [CollectionRules(named, indexes: [index])]
        let store = try Store(.memory, options: options)
        try await store.write { transaction in
            try transaction.set(Named(name: "Ann"), for: "1", in: named)
            try transaction.setValue(["name": 7], of: named.place("2"))
            try transaction.set(Named(name: "Bob"), for: "3", in: named)
        }
        let query = Store.Query(named, by: index)
        let rows = try await store.read { try $0.objects(query) }
        #expect(rows.map(\.object.name) == ["Ann", "Bob"] && Set(rows.unreadable.keys) == ["2"])

        var values = store.values(of: query).makeAsyncIterator()
        #expect(try await values.next() == rows)
        try await store.write { try $0.setValue(["name": "Cid"], of: named.place("2")) }
        let mended = try #require(await values.next())
        #expect(mended.map(\.object.name) == ["Ann", "Bob", "Cid"] && mended.unreadable.isEmpty)
        try store.close()
    }

    @Test func `an index is built over an object whose upgrade fails`() async throws {
        struct Failed: Error {}
        let folder = try TemporaryFolder()
        let location = Store.Location.file(folder.path("store"))
        let store = try Store(location)
        try await store.write { transaction in
            try transaction.setValue(["name": "old"], of: ObjectKey(collection: "named", key: "1"))
        }
        try store.close()

        let named = Store.Collection<Value>("named", version: 2) { _, _ in throw Failed() }
        let index = Store.Index("name", on: "name")
        var options = Store.Options()
        options.collections = [CollectionRules(named, indexes: [index])]
        let again = try Store(location, options: options)
        let rows = try await again.read { try $0.objects(Store.Query(named, by: index)) }
        let error = StoreError.unreadableObject(named.place("1"), reason: "Failed()")
        #expect(rows.isEmpty && rows.unreadable == ["1": error])
        try await again.write { try $0.remove("1", in: named) }
        #expect(try await again.integrityCheck().isSound)
        try again.close()
    }

    // MARK: - JSON of a cloud

    @Test func `the JSON of a cloud is read as the type's own values`() throws {
        let photo = Photo(
            thumbnail: Data([1, 2, 255]),
            takenAt: Date(timeIntervalSince1970: 1),
            price: 0.1
        )
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        let value = try Value(json: Array(try encoder.encode(photo)))
        #expect(try ValueDecoder().decode(Photo.self, from: value) == photo)
        let fraction: Value = "1970-01-01T00:00:01.500Z"
        let date = try ValueDecoder().decode(Date.self, from: fraction)
        #expect(abs(date.timeIntervalSince1970 - 1.5) < 0.000_001)
    }

    @Test func `an object as plain data has what a set would store`() async throws {
        let store = try Store(.memory)
        let prices = Store.Collection<Price>("prices")
        try await store.write { transaction in
            try transaction.setValue(["amount": 1, "note": "new"], of: prices.place("a"))
        }
        let (there, none) = try await store.read { transaction in
            (
                try transaction.value(of: Price(amount: 2.5), for: "a", in: prices),
                try transaction.value(of: Price(amount: 2.5), for: "b", in: prices)
            )
        }
        #expect(there == ["amount": 2.5, "note": "new"] && none == ["amount": 2.5])
        try await store.write { try $0.set(Price(amount: 2.5), for: "a", in: prices) }
        #expect(try await store.read { try $0.value(of: prices.place("a")) } == there)
        try store.close()
    }
}
