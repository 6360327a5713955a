import GodwitTestKit
import GodwitTree
import Testing

@testable import GodwitStore

@Suite struct IndexTests {
    let folder: TemporaryFolder
    let things = Store.Collection<Value>("things")

    init() throws { folder = try TemporaryFolder() }

    /// Values of all kinds, and some that are equal to SQLite though not to `Value`.
    static let fields: [Value?] = [
        nil, .null, true, false, -1, 0, 1, 2, .int(.max), .int(.min), 1.0, 1.5, 9.3e18, -1e300,
        .double(Finite(floatLiteral: 0x1p63)), "", "a", "ab", "é", "e\u{301}",
        .bytes([]), .bytes([1]), .bytes([1, 0]), [1], ["x": 1],
    ]

    @Test func `values are compared as SQLite compares them`() async throws {
        let store = try Store(.memory)
        for left in Self.fields.map({ IndexedValue($0) }) {
            for right in Self.fields.map({ IndexedValue($0) }) {
                let isLess = try await store.read { transaction in
                    let statement = try PreparedStatement("SELECT ? < ?", in: transaction.database)
                    defer { statement.reset() }
                    try left.bind(to: statement, at: 1)
                    try right.bind(to: statement, at: 2)
                    _ = try statement.step()
                    return statement.integer(0) == 1
                }
                #expect((left < right) == isLess, "\(left) < \(right)")
            }
        }
        try store.close()
    }

    @Test func `false and true are found as 0 and 1, and apart`() async throws {
        let things = things
        let index = Store.Index("a", on: "a")
        var options = Store.Options()
        options.collections = [CollectionRules(things, indexes: [index])]
        let store = try Store(.memory, options: options)
        try await store.write { transaction in
            for (key, value) in [("f", false), ("t", true), ("0", 0), ("1", 1)] as [(String, Value)]
            {
                try transaction.set(["a": value], for: key, in: things)
            }
        }
        for (value, keys) in [(false, ["0", "f"]), (true, ["1", "t"])] as [(Value, [String])] {
            let query = Store.Query(things, by: index, equal: [value])
            #expect(try await store.read { try $0.keys(query) } == keys)
        }
        try store.close()
    }

    @Test(arguments: 1...8 * Soak.factor)
    func `a query finds what a filter and a sort would`(seed: Int) async throws {
        var random = Seeded(seed: UInt64(seed))
        let index = Store.Index("ab", on: "a", Field("deep", "b"))
        let things = things
        var options = Store.Options()
        options.collections = [CollectionRules(things, indexes: [index])]
        let store = try Store(.memory, options: options)
        var model: [String: [IndexedValue]] = [:]
        for _ in 0..<40 {
            let key = "\(Int.random(in: 0..<20, using: &random))"
            let (first, second) = (Self.field(&random), Self.field(&random))
            var map = Value.Map()
            map["a"] = first
            map["deep"] = ["b": second ?? .null]
            let value = Value.map(map)
            let isRemoved = Int.random(in: 0..<4, using: &random) == 0
            try await store.write { transaction in
                if isRemoved {
                    try transaction.remove(key, in: things)
                } else {
                    try transaction.set(value, for: key, in: things)
                }
            }
            model[key] = isRemoved ? nil : [IndexedValue(first), IndexedValue(second)]

            let asked = Asked(&random)
            let query = asked.query(things, index)
            let found = try await store.read { try $0.keys(query) }
            #expect(found == Self.expected(asked, model), "seed \(seed)")
        }
        let report = try await store.integrityCheck()
        #expect(report.isSound, "\(report.problems), seed \(seed)")
        try store.close()
    }

    private static func field(_ random: inout Seeded) -> Value? {
        fields.randomElement(using: &random) ?? nil
    }

    /// What a query asks of the index.
    private struct Asked {
        let equal: [Value]
        let lower: Value?
        let upper: Value?
        let order: GodwitStore.SortDirection
        let limit: Int?

        init(_ random: inout Seeded) {
            equal = Bool.random(using: &random) ? [] : [field(&random) ?? .null]
            lower = Bool.random(using: &random) ? field(&random) : nil
            upper = Bool.random(using: &random) ? field(&random) : nil
            order = Bool.random(using: &random) ? .ascending : .descending
            limit = Bool.random(using: &random) ? 3 : nil
        }

        func query(_ things: Store.Collection<Value>, _ index: Store.Index) -> Store.Query<Value> {
            Store.Query(
                things,
                by: index,
                equal: equal,
                from: lower,
                to: upper,
                order: order,
                limit: limit
            )
        }

        func contains(_ values: [IndexedValue]) -> Bool {
            for (value, wanted) in zip(values, equal.map { IndexedValue($0) })
            where value < wanted || wanted < value { return false }
            let next = values[equal.count]
            return lower.map { !(next < IndexedValue($0)) } ?? true
                && upper.map { next < IndexedValue($0) } ?? true
        }
    }

    private static func expected(
        _ asked: Asked,
        _ model: [String: [IndexedValue]]
    ) -> [String] {
        let sorted = model.filter { asked.contains($0.value) }.sorted { left, right in
            for (value, other) in zip(left.value, right.value) {
                if value < other { return true }
                if other < value { return false }
            }
            return left.key.utf8.lexicographicallyPrecedes(right.key.utf8)
        }.map(\.key)
        let ordered = asked.order == .ascending ? sorted : sorted.reversed()
        return Array(ordered.prefix(asked.limit ?? .max))
    }
}

// MARK: - Over app versions

extension IndexTests {
    private func options(_ rules: CollectionRules...) -> Store.Options {
        var options = Store.Options()
        options.collections = rules
        return options
    }

    @Test func `indexes come and go with the app's versions`() async throws {
        let path = folder.path("store.sqlite")
        let (byA, byB, things) = (Store.Index("x", on: "a"), Store.Index("x", on: "b"), things)
        var store = try Store(.file(path))
        try await store.write { transaction in
            try transaction.set(["a": 2, "b": 1], for: "1", in: things)
            try transaction.set(["a": 1, "b": 2], for: "2", in: things)
        }
        let missing = StoreError.noIndex("x", collection: "things")
        let bare = store
        await #expect(throws: missing) {
            try await bare.read { try $0.keys(Store.Query(things, by: byA)) }
        }
        try store.close()

        store = try Store(.file(path), options: options(CollectionRules(things, indexes: [byA])))
        let first = try await store.read { try $0.keys(Store.Query(things, by: byA)) }
        #expect(first == ["2", "1"])
        try store.close()

        store = try Store(.file(path))
        try await store.write { try $0.set(["a": 0], for: "3", in: things) }
        let kept = try await store.read { try $0.keys(Store.Query(things, by: byA)) }
        #expect(kept == ["3", "2", "1"], "who declares nothing keeps what there is")
        try store.close()

        store = try Store(.file(path), options: options(CollectionRules(things, indexes: [byB])))
        let second = try await store.read { try $0.keys(Store.Query(things, by: byB)) }
        #expect(second == ["3", "1", "2"], "without the field comes first")
        let newest = store
        await #expect(throws: missing) {
            try await newest.read { try $0.keys(Store.Query(things, by: byA)) }
        }
        try store.close()
    }

    @Test func `an index is over the newest version of the app's type`() async throws {
        let path = folder.path("store.sqlite")
        let (old, index) = (things, Store.Index("byName", on: "name"))
        var store = try Store(.file(path), options: options(CollectionRules(old, indexes: [index])))
        try await store.write { try $0.set(["title": "B"], for: "1", in: old) }
        try store.close()

        let new = Store.Collection<Value>("things", version: 2) { value, _ in
            ["name": value["title"] ?? .null]
        }
        store = try Store(.file(path), options: options(CollectionRules(new, indexes: [index])))
        try await store.write { try $0.set(["name": "A"], for: "2", in: new) }
        let found = try await store.read {
            try $0.objects(Store.Query(new, by: index)).map(\.object)
        }
        #expect(found == [["name": "A"], ["name": "B"]])
        try await store.write { try $0.remove("1", in: new) }
        let report = try await store.integrityCheck()
        #expect(report.isSound, "\(report.problems)")
        try store.close()
    }

    @Test func `a query is observed like a key`() async throws {
        let index = Store.Index("a", on: "a")
        let things = things
        let store = try Store(.memory, options: options(CollectionRules(things, indexes: [index])))
        let query = Store.Query(things, by: index, from: 5, limit: 2)
        var lists = store.values(of: query).makeAsyncIterator()
        #expect(try await lists.next()?.map(\.key) == [])
        for (key, number) in [("x", 9), ("y", 7), ("z", 5)] as [(String, Int64)] {
            try await store.write { try $0.set(["a": .int(number)], for: key, in: things) }
        }
        var last: [String]? = []
        while last != ["z", "y"] { last = try await lists.next()?.map(\.key) }
        try store.close()
    }

    // MARK: - Several processes

    private struct Person: Codable, Equatable { var name: String }

    private func openShared(
        _ path: String,
        _ indexes: [Store.Index],
        version: Int = 1
    ) throws -> Store {
        let people = Store.Collection<Person>("people", version: version) { value, _ in value }
        var options = Store.Options()
        options.processes = .several
        options.collections = [CollectionRules(people, indexes: indexes)]
        return try Store(.file(path), options: options)
    }

    @Test func `an index that another process declares later is kept by both`() async throws {
        let path = folder.path("shared.sqlite")
        let people = Store.Collection<Person>("people")
        let byName = Store.Index("byName", on: "name")
        let app = try openShared(path, [])
        let query = Store.Query(people, by: byName)
        await #expect(throws: StoreError.noIndex("byName", collection: "people")) {
            try await app.read { try $0.keys(query) }
        }
        let other = try openShared(path, [byName])
        try await app.write { try $0.set(Person(name: "Ann"), for: "a", in: people) }
        let view = try await app.view()
        let found = try await other.read { try $0.keys(query) }
        let here = try await app.read { try $0.keys(query) }
        #expect(found == ["a"] && here == ["a"])
        #expect(try view.keys(query) == ["a"])
        let report = try await app.integrityCheck()
        #expect(report.isSound, "\(report.problems)")
        try app.close()
        try other.close()
    }

    @Test func `a process with fewer indexes drops none that another one uses`() async throws {
        let path = folder.path("shared.sqlite")
        let people = Store.Collection<Person>("people")
        let byName = Store.Index("byName", on: "name")
        let app = try openShared(path, [byName])
        try await app.write { try $0.set(Person(name: "Ann"), for: "a", in: people) }
        let other = try openShared(path, [])
        try await other.write { try $0.set(Person(name: "Bob"), for: "b", in: people) }
        let found = try await app.read { try $0.keys(Store.Query(people, by: byName)) }
        #expect(found == ["a", "b"])
        try other.close()
        try app.close()
    }

    /// In the second version names are written with a title.
    private func upgraded(_ value: Value, from version: Int) -> Value {
        guard version == 1 else { return value }
        return ["name": .string(Key("Dr. " + (value["name"]?.text ?? "")))]
    }

    @Test func `processes of different versions write the same entries into an older index`()
        async throws
    {
        let path = folder.path("shared.sqlite")
        let byName = Store.Index("byName", on: "name")
        let older = Store.Collection<Person>("people")
        let newer = Store.Collection<Person>("people", version: 2, upgrade: upgraded)
        var options = Store.Options()
        options.processes = .several
        options.collections = [CollectionRules(older, indexes: [byName])]
        let old = try Store(.file(path), options: options)
        for name in ["Ann", "Bob"] {
            try await old.write { try $0.set(Person(name: name), for: name, in: older) }
        }
        options.collections = [CollectionRules(newer)]
        let new = try Store(.file(path), options: options)
        try await new.write { transaction in
            try transaction.remove("Ann", in: newer)
            try transaction.update("Bob", in: newer) { $0.name += "by" }
            try transaction.set(Person(name: "Dr. Cy"), for: "Cy", in: newer)
        }
        try await old.write { try $0.remove("Cy", in: older) }
        let found = try await old.read { try $0.keys(Store.Query(older, by: byName)) }
        #expect(found == ["Bob"])
        let refusal = StoreError.noIndex("byName", collection: "people")
        await #expect(throws: refusal, "its bounds are those of newer fields") {
            try await new.read { try $0.keys(Store.Query(newer, by: byName)) }
        }
        for store in [old, new] {
            let report = try await store.integrityCheck()
            #expect(report.isSound, "\(report.problems)")
            try store.close()
        }
    }

    @Test func `a program without the app's upgrades leaves an index alone, and finds it sound`()
        async throws
    {
        let path = folder.path("upgraded.sqlite")
        let byName = Store.Index("byName", on: "name")
        let store = try Store(.file(path))
        let people = Store.Collection<Person>("people")
        try await store.write { try $0.set(Person(name: "Ann"), for: "a", in: people) }
        try store.close()
        var options = Store.Options()
        let newer = Store.Collection<Person>("people", version: 2, upgrade: upgraded)
        options.collections = [CollectionRules(newer, indexes: [byName])]
        try Store(.file(path), options: options).close()
        let tool = try Store(.file(path))
        let report = try await tool.integrityCheck()
        #expect(report.isSound, "\(report.problems)")
        let refusal = StoreError.newerIndex("byName", collection: "people", found: 2, known: 1)
        await #expect(throws: refusal, "it would leave the entry behind") {
            try await tool.write { try $0.remove("a", in: people) }
        }
        try tool.close()
    }

    @Test func `an older process neither searches nor writes an index that it does not understand`()
        async throws
    {
        let path = folder.path("shared.sqlite")
        let people = Store.Collection<Person>("people")
        let byName = Store.Index("byName", on: "name")
        let older = try openShared(path, [byName])
        try await older.write { try $0.set(Person(name: "Bob"), for: "b", in: people) }
        let newer = try openShared(path, [byName], version: 2)
        let refusal = StoreError.newerIndex("byName", collection: "people", found: 2, known: 1)
        await #expect(throws: refusal) {
            try await older.write { try $0.set(Person(name: "Ann"), for: "a", in: people) }
        }
        await #expect(throws: refusal, "it would leave the entry behind") {
            try await older.write { try $0.remove("b", in: people) }
        }
        // A body that goes on after the refusal leaves nothing of it behind.
        try await older.write { transaction in
            try? transaction.set(Person(name: "Ann"), for: "a", in: people)
            try? transaction.set(Person(name: "Rob"), for: "b", in: people)
            try? transaction.remove("b", in: people)
        }
        let (all, report) = (
            try await newer.read { try $0.keys(in: people) }, try await newer.integrityCheck()
        )
        #expect(all == ["b"] && report.isSound, "\(report.problems)")
        for store in [older, newer] {
            #expect(try await store.read { try $0.get("b", in: people)?.name } == "Bob")
        }
        await #expect(throws: refusal, "its bounds are those of older fields") {
            try await older.read { try $0.keys(Store.Query(people, by: byName, from: "A")) }
        }
        try await older.write { try $0.set(1, for: "a", in: Store.Collection<Int>("numbers")) }
        try older.close()
        let again = try openShared(path, [byName])
        let entries = try await newer.read { try IndexTable.all(in: $0.database).map(\.version) }
        #expect(entries == [2], "the older process, opened later, leaves it")
        try again.close()
        try newer.close()
    }
}
