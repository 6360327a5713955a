import GodwitTestKit
import GodwitTree
import Testing

@testable import GodwitStore

/// Fields that a query cannot use, that are not there, or are of another kind.
@Suite struct QueryFieldTests {
    @Test func `a computed property, a list and a renamed property are refused`() async throws {
        struct Renamed: Codable, Sendable {
            var isOnline = true
            var note: String?
            enum CodingKeys: String, CodingKey { case isOnline = "online", note = "text" }
        }
        let renamed = Store.Collection<Renamed>("renamed")
        let store = try Store(.memory)
        try await store.write { transaction in
            try transaction.set(Renamed(), for: "a", in: renamed)
            try transaction.set(Renamed(note: "x"), for: "b", in: renamed)
        }
        try await store.read { transaction in
            #expect(throws: StoreError.self) {
                try transaction.keys(QueryTests.people.where(\.initial, .equal("a")))
            }
            #expect(throws: StoreError.self) {
                try transaction.keys(QueryTests.people.where(\.tags, .equal(["a"])))
            }
            #expect(throws: StoreError.self) {
                try transaction.keys(renamed.where(\.isOnline, .equal(true)))
            }
            #expect(throws: StoreError.self) {
                try transaction.count(renamed.where(\.note, .equal("x")))
            }
            #expect(throws: StoreError.self) { try transaction.objects(renamed.order(by: \.note)) }
        }
        let byName = renamed.where(Filter(Field("online"), .equal(true))).order(by: Field("text"))
        #expect(try await store.read { try $0.keys(byName) } == ["a", "b"])
        let query = QueryTests.people.where(\.initial, .equal("a"))
        let error = await #expect(throws: StoreError.self) {
            try await store.read { try $0.keys(query) }
        }
        #expect(error?.description.contains("Field(") == true)
        try store.close()
    }

    @Test func `a number is neither less nor greater than a text`() async throws {
        let things = Store.Collection<Value>("things")
        let store = try Store(.memory)
        try await store.write { transaction in
            for (key, value) in [("n", 5), ("t", "x"), ("z", .null), ("b", .bytes([1]))]
                as [(String, Value)]
            {
                try transaction.set(["a": value], for: key, in: things)
            }
            try transaction.set(["c": 1], for: "none", in: things)
        }
        let keys = { (filter: Filter<Value>) in
            try await store.read { try $0.keys(things.where(filter)) }
        }
        #expect(try await keys(Filter("a", .less(than: 9))) == ["n"])
        #expect(try await keys(Filter("a", .atLeast(-9.5))) == ["n"])
        #expect(try await keys(Filter("a", .atLeast(""))) == ["t"])
        #expect(try await keys(Filter("a", .equal(Int?.none))) == ["none", "z"])
        #expect(try await keys(Filter("a", .notEqual(5))) == ["b", "none", "t", "z"])
        try store.close()
    }

    @Test(arguments: [false, true])
    func
        `an object that was stored without a field has its default, and a new default counts at once`(
            isIndexed: Bool
        ) async throws
    {
        let folder = try TemporaryFolder()
        func open<Object: Codable & Sendable>(_ collection: StoreCollection<Object>) throws -> Store
        {
            var options = Store.Options()
            let indexes = isIndexed ? [Store.Index("state", on: "state")] : []
            options.collections = [CollectionRules(collection, indexes: indexes)]
            return try Store(.file(folder.path("store.sqlite")), options: options)
        }
        let first = Store.Collection<[String: Int]>("tasks")
        let store = try open(first)
        try await store.write { try $0.set(["old": 1], for: "old", in: first) }
        try store.close()

        struct Task: Codable, Sendable, Defaulted {
            var state = "open"
            static let defaults = Task()
        }
        let tasks = Store.Collection<Task>("tasks")
        let second = try open(tasks)
        try await second.write { try $0.set(Task(state: "done"), for: "new", in: tasks) }
        let isOpen = tasks.where(\.state, .equal("open"))
        #expect(try await second.read { try $0.keys(isOpen) } == ["old"])
        try await second.write { try $0.update("old", in: tasks) { $0.state = "done" } }
        #expect(try await second.read { try $0.count(isOpen) } == 0)
        #expect(try await second.integrityCheck().isSound)
        try await second.write { try $0.setValue([:], of: tasks.place("older")) }
        try second.close()

        struct Later: Codable, Sendable, Defaulted {
            var state = "new"
            static let defaults = Later()
        }
        let later = Store.Collection<Later>("tasks")
        let third = try open(later)
        let isNew = later.where(\.state, .equal("new"))
        #expect(try await third.read { try $0.keys(isNew) } == ["older"])
        #expect(try await third.integrityCheck().isSound)
        try third.close()
    }

    @Test func `objects that cannot be read take no place of others`() async throws {
        struct Item: Codable, Sendable { var number: Int }
        let (items, plain) = (Store.Collection<Item>("items"), Store.Collection<Value>("items"))
        let store = try Store(.memory)
        try await store.write { transaction in
            for number in 0..<20 {
                try transaction.set(["number": "x"], for: "a\(number)", in: plain)
                try transaction.set(Item(number: number), for: "b\(number)", in: items)
            }
        }
        let rows = try await store.read { try $0.objects(items.all.limit(3)) }
        #expect(rows.map(\.key) == ["b0", "b1", "b10"])
        #expect(rows.unreadable.count == 20)
        try store.close()
    }

    @Test(arguments: [false, true])
    func `keys that are one text for Swift are found by each alternative`(
        isIndexed: Bool
    ) async throws {
        let things = Store.Collection<Value>("things")
        var options = Store.Options()
        let indexes = isIndexed ? [Store.Index("a", on: "a")] : []
        options.collections = [CollectionRules(things, indexes: indexes)]
        let store = try Store(.memory, options: options)
        try await store.write { transaction in
            try transaction.set(["a": 1], for: "\u{e9}", in: things)
            try transaction.set(["a": 2], for: "e\u{301}", in: things)
        }
        let query = things.where(Filter("a", .oneOf([1, 2])))
        #expect(try await store.read { try $0.count(query) } == 2)
        #expect(try await store.read { try $0.objects(query).count } == 2)
        try store.close()
    }

    @Test func `ten thousand alternatives are one filter`() async throws {
        let things = Store.Collection<Value>("things")
        let store = try Store(.memory)
        try await store.write { try $0.set(["a": 9_999], for: "x", in: things) }
        let filters = (0..<10_000).map { Filter<Value>("a", .equal($0)) }
        let any = filters.dropFirst().reduce(filters[0]) { $0 || $1 }
        let none = filters.dropFirst().reduce(!filters[0]) { $0 && !$1 }
        #expect(try await store.read { try $0.keys(things.where(any)) } == ["x"])
        #expect(try await store.read { try $0.keys(things.where(none)) } == [])
        try store.close()
    }

    @Test func `a limit is none below zero, and as large as one likes`() async throws {
        let store = try Store(.memory)
        try await store.write {
            try $0.set(["a": 1], for: "x", in: Store.Collection<Value>("things"))
        }
        let things = Store.Collection<Value>("things")
        #expect(try await store.read { try $0.keys(things.all.limit(-1)) } == [])
        #expect(try await store.read { try $0.keys(things.all.limit(.max)) } == ["x"])
        let view = try await store.view()
        try await store.write { try $0.set(["a": 2], for: "x", in: things) }
        #expect(try view.keys(things.all.limit(.max)) == ["x"])
        #expect(try view.keys(in: things, limit: .max) == ["x"])
        try store.close()
    }
}
