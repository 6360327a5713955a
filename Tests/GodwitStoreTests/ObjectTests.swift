import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

/// Metadata, ranges, and what becomes of objects when the app's types change.
@Suite struct ObjectTests {
    struct Tag: Codable, Equatable {
        var etag: String
    }

    let folder: TemporaryFolder
    let numbers = Store.Collection<Int>("numbers")

    init() throws { folder = try TemporaryFolder() }

    @Test func `an update of an object that is not there is an error, and makes none`() async throws
    {
        let (store, numbers) = (try Store(.memory), numbers)
        await #expect(throws: StoreError.noObject(numbers.place("a"))) {
            try await store.write { try $0.update("a", in: numbers) { $0 += 1 } }
        }
        #expect(try await store.read { try $0.count(in: numbers) } == 0)
        try store.close()
    }

    @Test(arguments: Place.allCases)
    func `metadata stays when the object is set, and is replaced alone`(place: Place) async throws {
        let store = try place.open(folder)
        let numbers = numbers
        try await store.write { transaction in
            try transaction.set(1, for: "a", in: numbers, metadata: Tag(etag: "x"))
            try transaction.set(2, for: "a", in: numbers)
        }
        let kept = try await store.read { try $0.metadata(Tag.self, of: "a", in: numbers) }
        #expect(kept == Tag(etag: "x"))

        var changes = store.changes().makeAsyncIterator()
        try await store.write {
            try $0.replaceMetadata(Tag(etag: "y"), of: "a", in: numbers)
        }
        let set = try #require(await changes.next())
        #expect(set.updated.isEmpty && set.touched.map(\.key) == ["a"])
        try await store.write { try $0.replaceMetadata(Tag?.none, of: "a", in: numbers) }
        let (object, none) = try await store.read {
            (try $0.get("a", in: numbers), try $0.metadata(Tag.self, of: "a", in: numbers))
        }
        #expect(object == 2 && none == nil)
        await #expect(throws: StoreError.noObject(numbers.place("b"))) {
            try await store.write { try $0.replaceMetadata(Tag(etag: ""), of: "b", in: numbers) }
        }
        try store.close()
    }

    @Test func `a touched object is what it was, and observers look again`() async throws {
        let store = try Store(.memory)
        let numbers = numbers
        try await store.write { try $0.set(1, for: "a", in: numbers) }
        var changes = store.changes(of: "a", in: numbers).makeAsyncIterator()
        try await store.write { transaction in
            try transaction.touch("a", in: numbers)
            try transaction.touch("nothing", in: numbers)
        }
        #expect(await changes.next()?.touched.count == 1)
        let commit = try await store.read { try $0.commit(of: "a", in: numbers) }
        #expect(commit == CommitNumber(rawValue: 1), "the row was not written")
        try store.close()
    }

    @Test(arguments: Place.allCases)
    func `ranges are walked in both directions, with and without the objects`(
        place: Place
    ) async throws {
        let store = try place.open(folder)
        let numbers = numbers
        let keys = ["", "a", "a/1", "a/2", "a0", "b", "é", "\u{10FFFF}", "\u{10FFFF}z", "\0"]
        try await store.write { transaction in
            for (number, key) in keys.enumerated() {
                try transaction.set(number, for: key, in: numbers)
            }
        }
        let sorted = keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        let ranges: [KeyRange] = [
            .all, .prefix("a/"), .prefix("\u{10FFFF}"), .prefix(""), KeyRange(from: "a", to: "b"),
            KeyRange(from: "b"), KeyRange(to: "a"), KeyRange(from: "z", to: "a"),
        ]
        for range in ranges {
            let expected = sorted.filter(range.contains)
            let found = try await store.read { transaction in
                var pairs: [String] = []
                try transaction.enumerate(numbers, range: range) { key, number, _ in
                    pairs.append(keys[number] == key ? key : "wrong")
                }
                return (
                    pairs, try transaction.keys(in: numbers, range: range),
                    try transaction.keys(in: numbers, range: range, order: .descending, limit: 2),
                    try transaction.count(in: numbers, range: range)
                )
            }
            #expect(found.0 == expected, "\(range)")
            #expect(found.1 == expected, "\(range)")
            #expect(found.2 == Array(expected.reversed().prefix(2)), "\(range)")
            #expect(found.3 == expected.count, "\(range)")
        }
        let first = try await store.read { transaction in
            var seen: [String] = []
            try transaction.enumerate(numbers, order: .descending) { key, _, stop in
                seen.append(key)
                stop = seen.count == 3
            }
            return seen
        }
        #expect(first == Array(sorted.reversed().prefix(3)))
        try store.close()
    }

    @Test func `objects are removed one, some, a range, a collection, all`() async throws {
        let store = try Store(.memory)
        let (numbers, others) = (numbers, Store.Collection<String>("others"))
        try await store.write { transaction in
            for number in 0..<10 { try transaction.set(number, for: "\(number)", in: numbers) }
            try transaction.set("x", for: "x", in: others)
        }
        let counts = try await store.write { transaction in
            var counts: [Int] = []
            try transaction.remove("0", in: numbers)
            counts.append(try transaction.count(in: numbers))
            try transaction.remove(["1", "2", "none"], in: numbers)
            counts.append(try transaction.count(in: numbers))
            try transaction.removeAll(in: numbers, range: KeyRange(from: "3", to: "5"))
            counts.append(try transaction.count(in: numbers))
            try transaction.removeAll(in: numbers)
            counts.append(try transaction.count(in: numbers))
            let left = try transaction.collections()
            try transaction.removeEverything()
            return (counts, left, try transaction.collections())
        }
        #expect(counts.0 == [9, 7, 5, 0])
        #expect(counts.1 == ["others"])
        #expect(counts.2 == [])
        try store.close()
    }
}

// MARK: - Evolution

extension ObjectTests {
    struct PersonV1: Codable, Equatable {
        var name: String
        var nickname: String?
    }

    struct PersonV2: Codable, Equatable {
        struct Address: Codable, Equatable {
            var city: String
        }

        var first: String
        var last: String
        var address: Address?
        var born: Int?
    }

    static let old = Store.Collection<PersonV1>("people")
    static let new = Store.Collection<PersonV2>("people", version: 2) { value, version in
        #expect(version == 1)
        var map = value.map ?? [:]
        let words = map["name"]?.text?.split(separator: " ") ?? []
        map["first"] = .string(Key(String(words.first ?? "")))
        map["last"] = .string(Key(String(words.last ?? "")))
        map["name"] = nil
        return .map(map)
    }

    @Test func `an older object is upgraded when it is read, and stored so when it is set`()
        async throws
    {
        let store = try Store(.memory)
        try await store.write {
            try $0.set(PersonV1(name: "Robbie Hanson", nickname: "rob"), for: "r", in: Self.old)
        }
        let person = try await store.read { try $0.get("r", in: Self.new) }
        #expect(person == PersonV2(first: "Robbie", last: "Hanson"))
        try await store.write { try $0.update("r", in: Self.new) { $0.born = 1980 } }
        let raw = try await store.read { try $0.value(of: Self.new.place("r")) }
        #expect(raw == ["first": "Robbie", "last": "Hanson", "born": 1980, "nickname": "rob"])
        let key = Self.new.place("r")
        await #expect(throws: StoreError.newerObject(key, found: 2, known: 1)) {
            try await store.read { try $0.get("r", in: Self.old) }
        }
        await #expect(throws: StoreError.newerObject(key, found: 2, known: 1)) {
            try await store.write { try $0.set(PersonV1(name: ""), for: "r", in: Self.old) }
        }
        try store.close()
    }

    @Test func `fields that the type does not know survive; those it knows may go`() async throws {
        let store = try Store(.memory)
        let people = Store.Collection<PersonV2>("people")
        try await store.write {
            try $0.setValue(
                [
                    "first": "A", "last": "B", "born": 1, "future": [1, 2],
                    "address": ["city": "Rome", "zip": "00100"],
                ],
                of: people.place("r")
            )
            try $0.update("r", in: people) { person in
                person.born = nil
                person.address?.city = "Oslo"
            }
        }
        let raw = try await store.read { try $0.value(of: people.place("r")) }
        #expect(
            raw == [
                "first": "A", "last": "B", "future": [1, 2],
                "address": ["city": "Oslo", "zip": "00100"],
            ]
        )
        try store.close()
    }
}
