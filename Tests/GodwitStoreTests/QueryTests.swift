import Foundation
import GodwitTestKit
import GodwitTree
import MetricsTestKit
import Testing

@testable import GodwitStore

/// Queries by key paths, with indexes and without.
@Suite struct QueryTests {
    struct Person: Codable, Equatable, Sendable {
        enum Presence: String, Codable, CaseIterable, Sendable {
            case online, away, offline
        }

        struct Address: Codable, Equatable, Sendable {
            var city: String
        }

        var name: String
        var age: Int
        var born: Date
        var isHidden = false
        var presence = Presence.online
        var email: String?
        var address: Address
        var tags: [String] = []
        var id = UUID()
        var initial: String { String(name.prefix(1)) }
    }

    static let people = Store.Collection<Person>("people")

    /// A filter, and the same as a closure.
    struct Test {
        let filter: Filter<Person>
        let passes: @Sendable (Person) -> Bool
    }

    private static func store(_ indexes: [Store.Index]) throws -> Store {
        var options = Store.Options()
        options.collections = [CollectionRules(people, indexes: indexes)]
        return try Store(.memory, options: options)
    }

    static let indexes = [
        Store.Index("city", on: Field(\Person.address.city), Field(\Person.name)),
        Store.Index("age", on: Field(\Person.age)),
        Store.Index(
            "presence",
            on: Field(\Person.presence),
            Field(\Person.age),
            Field(\Person.born)
        ),
        Store.Index("email", on: Field(\Person.email)),
    ]

    private static func person(_ random: inout Seeded) -> Person {
        let texts = ["a", "b", "B", "ab", "é", "Zoë", ""]
        return Person(
            name: texts.randomElement(using: &random) ?? "",
            age: Int.random(in: -2...4, using: &random),
            born: Date(
                timeIntervalSinceReferenceDate: Double(Int.random(in: -3...3, using: &random)) / 2
            ),
            isHidden: random.happens(0.5),
            presence: Person.Presence.allCases.randomElement(using: &random) ?? .online,
            email: random.happens(0.4) ? nil : texts.randomElement(using: &random),
            address: Person.Address(
                city: ["Rome", "Oslo", "Bonn"].randomElement(using: &random) ?? ""
            )
        )
    }

    // MARK: Found as by a filter and a sort

    @Test(arguments: 1...60 * Soak.factor)
    func `a query finds what a filter and a sort would, with any indexes`(seed: Int) async throws {
        var random = Seeded(seed: UInt64(seed))
        let store = try Self.store(Self.indexes.filter { _ in random.happens(0.6) })
        var model: [String: Person] = [:]
        for number in 0..<30 { model["\(number)"] = Self.person(&random) }
        try await store.write { [model] transaction in
            for (key, person) in model { try transaction.set(person, for: key, in: Self.people) }
        }
        let view = try await store.view()
        let seen = model
        for _ in 0..<20 {
            let key = "\(Int.random(in: 0..<40, using: &random))"
            model[key] = random.happens(0.3) ? nil : Self.person(&random)
            try await store.write { [model] transaction in
                guard let person = model[key] else {
                    return try transaction.remove(key, in: Self.people)
                }
                try transaction.set(person, for: key, in: Self.people)
            }
        }
        for _ in 0..<30 {
            let test = Self.test(&random, depth: 2)
            let (query, sort) = Self.sorted(Self.people.where(test.filter), &random)
            let expected = Self.expected(model, test, sort, query.search.limit)
            let (rows, keys, count) = try await store.read { transaction in
                (
                    try transaction.objects(query), try transaction.keys(query),
                    try transaction.count(query)
                )
            }
            #expect(rows.map(\.key) == expected, "\(query.search), \(seed)")
            #expect(rows.map(\.object) == expected.map { model[$0] })
            #expect(keys == expected)
            #expect(count == expected.count)
            let written = try await store.write { try $0.keys(query) }
            #expect(written == expected)
            #expect(try view.keys(query) == Self.expected(seen, test, sort, query.search.limit))
        }
        try store.close()
    }

    typealias Sort = @Sendable (Person, Person) -> Bool?

    private static func expected(
        _ model: [String: Person],
        _ test: Test,
        _ sort: (order: [Sort], isDescending: Bool),
        _ limit: Int?
    ) -> [String] {
        let rows = model.filter { test.passes($0.value) }.sorted { left, right in
            for compare in sort.order {
                if let isLess = compare(left.value, right.value) { return isLess }
            }
            return sort.isDescending ? right.key < left.key : left.key < right.key
        }
        return rows.prefix(limit ?? .max).map(\.key)
    }

    private static func by<Rank: Comparable & Sendable>(
        _ isDescending: Bool,
        _ rank: @escaping @Sendable (Person) -> Rank
    ) -> Sort {
        { left, right in
            rank(left) == rank(right) ? nil : (rank(left) < rank(right)) != isDescending
        }
    }

    private static func sorted(
        _ query: Store.Query<Person>,
        _ random: inout Seeded
    ) -> (Store.Query<Person>, (order: [Sort], isDescending: Bool)) {
        var (query, order, isDescending) = (query, [Sort](), false)
        for _ in 0..<Int.random(in: 0...2, using: &random) {
            isDescending = random.happens(0.4)
            let direction = isDescending ? SortDirection.descending : .ascending
            switch Int.random(in: 0..<5, using: &random) {
            case 0:
                query = query.order(by: \.name, direction)
                order.append(by(isDescending) { $0.name })
            case 1:
                query = query.order(by: \.age, direction)
                order.append(by(isDescending) { $0.age })
            case 2:
                query = query.order(by: \.born, direction)
                order.append(by(isDescending) { $0.born })
            case 3:
                query = query.order(by: \.isHidden, direction)
                order.append(by(isDescending) { $0.isHidden ? 1 : 0 })
            default:
                query = query.order(by: \.address.city, direction)
                order.append(by(isDescending) { $0.address.city })
            }
        }
        if random.happens(0.3) { query = query.limit(Int.random(in: 0...5, using: &random)) }
        return (query, (order, isDescending))
    }

    private static func test(_ random: inout Seeded, depth: Int) -> Test {
        if depth > 0, random.happens(0.6) {
            let (left, right) = (test(&random, depth: depth - 1), test(&random, depth: depth - 1))
            switch Int.random(in: 0..<5, using: &random) {
            case 0: return Test(filter: !left.filter) { !left.passes($0) }
            case 1, 2:
                return Test(filter: left.filter || right.filter) {
                    left.passes($0) || right.passes($0)
                }
            default:
                return Test(filter: left.filter && right.filter) {
                    left.passes($0) && right.passes($0)
                }
            }
        }
        return leaf(&random)
    }

    private static func leaf(_ random: inout Seeded) -> Test {
        let other = person(&random)
        let (age, born, city) = (other.age, other.born, other.address.city)
        switch Int.random(in: 0..<14, using: &random) {
        case 0: return Test(filter: Filter(\.age, .equal(age))) { $0.age == age }
        case 1: return Test(filter: Filter(\.age, .less(than: age))) { $0.age < age }
        case 2: return Test(filter: Filter(\.age, .atLeast(age))) { $0.age >= age }
        case 3:
            return Test(filter: Filter(\.age, .between(age...(age + 1)))) {
                (age...(age + 1)).contains($0.age)
            }
        case 4: return Test(filter: Filter(\.born, .greater(than: born))) { $0.born > born }
        case 5: return Test(filter: Filter(\.born, .atMost(born))) { $0.born <= born }
        case 6:
            return Test(filter: Filter(\.address.city, .equal(city))) { $0.address.city == city }
        case 7:
            return Test(filter: Filter(\.address.city, .oneOf([city, "Rome", "Paris"]))) {
                [city, "Rome", "Paris"].contains($0.address.city)
            }
        case 8:
            return Test(filter: Filter(\.presence, .equal(other.presence))) {
                $0.presence == other.presence
            }
        case 9:
            return Test(filter: Filter(\.presence, .notEqual(other.presence))) {
                $0.presence != other.presence
            }
        case 10:
            return Test(filter: Filter(\.email, .equal(other.email))) { $0.email == other.email }
        case 11:
            return Test(filter: Filter(\.email, .hasPrefix("a"))) {
                $0.email?.hasPrefix("a") ?? false
            }
        case 12:
            return Test(filter: Filter(\.email, .less(than: "ab"))) {
                $0.email.map { $0 < "ab" } ?? false
            }
        default:
            return Test(filter: Filter(\.isHidden, .equal(other.isHidden))) {
                $0.isHidden == other.isHidden
            }
        }
    }

    // MARK: Plans

    private static func plan(_ query: Store.Query<Person>) -> QueryPlan {
        QueryPlan(query.search, version: 1, indexes: indexes)
    }

    @Test func `the index whose first fields are fixed answers, and narrows by a range`() {
        let query = Self.people.where(\.presence, .equal(.away)).where(\.age, .atLeast(3))
        let plan = Self.plan(query.where(\.address.city, .hasPrefix("R")))
        #expect(plan.parts?.map(\.index.name) == ["presence"])
        #expect(plan.parts?.first?.bounds.prefix == [.text("away")])
        #expect(plan.parts?.first?.bounds.range.lower?.value == .int(3))
        #expect(!plan.isExact)
        #expect(Self.plan(query).isExact)
    }

    @Test func `an index in the order of the result stops at the limit`() {
        let inRome = Self.people.where(\.address.city, .equal("Rome")).limit(5)
        let plan = Self.plan(inRome.order(by: \.name, .descending))
        #expect(plan.isSorted && plan.isExact)
        #expect(plan.parts?.first?.bounds.limit == 5)
        #expect(plan.parts?.first?.bounds.order == .descending)
        #expect(!Self.plan(inRome).isSorted, "by key, and not by name")
        #expect(Self.plan(Self.people.order(by: \.age)).parts?.map(\.index.name) == ["age"])
    }

    @Test func `alternatives are looked up one by one, if an index has each`() {
        let near = Filter<Person>(\.address.city, .oneOf(["Rome", "Oslo"]))
        let plan = Self.plan(Self.people.where(near || Filter(\.age, .equal(1))))
        #expect(plan.parts?.map(\.index.name) == ["city", "city", "age"])
        #expect(plan.isExact)
        #expect(Self.plan(Self.people.where(near || Filter(\.name, .equal("a")))).parts == nil)
        #expect(Self.plan(Self.people.where(!near)).parts == nil)
    }

    @Test func `a query that looks at every object is counted, and one by an index is not`()
        async throws
    {
        let metrics = TestMetrics()
        var options = Store.Options()
        options.metrics = metrics
        options.collections = [CollectionRules(Self.people, indexes: Self.indexes)]
        let store = try Store(.memory, options: options)
        _ = try await store.read { try $0.count(Self.people.where(\.age, .equal(1))) }
        _ = try await store.read { try $0.count(Self.people.where(\.name, .equal("a"))) }
        #expect(try metrics.expectCounter("godwit.store.scans").values == [1])
        try store.close()
    }

    @Test func `a query is told again when an object comes, goes or changes`() async throws {
        let store = try Self.store(Self.indexes)
        var values = store.values(of: Self.people.where(\.age, .atLeast(18)).order(by: \.name))
            .makeAsyncIterator()
        var random = Seeded(seed: 1)
        var (young, old) = (Self.person(&random), Self.person(&random))
        (young.age, old.age, old.name) = (17, 18, "old")
        #expect(try await values.next()?.count == 0)
        try await store.write { [young, old] in
            try $0.set(young, for: "young", in: Self.people)
            try $0.set(old, for: "old", in: Self.people)
        }
        #expect(try await values.next()?.map(\.key) == ["old"])
        try await store.write { try $0.update("young", in: Self.people) { $0.name = "Young" } }
        try await store.write { try $0.update("young", in: Self.people) { $0.age = 18 } }
        #expect(try await values.next()?.map(\.object.name) == ["Young", "old"])
        try store.close()
    }
}
