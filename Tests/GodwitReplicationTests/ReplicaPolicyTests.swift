import GodwitStore
import GodwitTree
import Testing

@testable import GodwitReplication

private let cards = StoreCollection<Value>("cards")

/// An app's rules for merges, which are part of the replica.
@Suite struct ReplicaPolicyTests {
    private func policy(version: Int, _ rule: MergePolicy.Rule) -> MergePolicy {
        var policy = MergePolicy(version: version)
        policy.set(rule, at: "/cards/*/votes")
        return policy
    }

    /// Has both devices set the votes of a card at once, and returns what they come to.
    private func votes(
        after numbers: (Int64, Int64),
        _ ours: Pair,
        _ theirs: Pair
    ) async throws -> [Value?] {
        for pair in [ours, theirs, ours, theirs] { try await pair.synchronize() }
        try await ours.replica.store.write { try $0.set(["votes": 5], for: "c", in: cards) }
        for pair in [ours, theirs] { try await pair.synchronize() }
        for (pair, number) in [(ours, numbers.0), (theirs, numbers.1)] {
            try await pair.replica.store.write { transaction in
                try transaction.set(["votes": .int(number)], for: "c", in: cards)
            }
        }
        for pair in [ours, theirs, ours] { try await pair.synchronize() }
        var found: [Value?] = []
        for pair in [ours, theirs] {
            found.append(try await pair.replica.store.read { try $0.get("c", in: cards)?["votes"] })
        }
        return found
    }

    @Test(arguments: [(7, 9), (9, 7)] as [(Int64, Int64)])
    func `a server without the app's code merges by its rules`(numbers: (Int64, Int64)) async throws
    {
        for (rule, wanted) in [(.max, 9), (.min, 7)] as [(MergePolicy.Rule, Value)] {
            let line = TestLine()
            let ours = try await Pair(Store(.memory), line, policy: policy(version: 1, rule))
            let theirs = try await Pair(Store(.memory), line, policy: policy(version: 1, rule))
            #expect(try await votes(after: numbers, ours, theirs) == [wanted, wanted])
        }
    }

    @Test func `a device of an older app merges by the rules of a newer one`() async throws {
        let line = TestLine()
        let ours = try await Pair(Store(.memory), line, policy: policy(version: 2, .min))
        let theirs = try await Pair(Store(.memory), line, policy: policy(version: 1, .max))
        #expect(try await votes(after: (7, 9), ours, theirs) == [7, 7])
        #expect(try await votes(after: (9, 8), ours, theirs) == [8, 8])
    }

    @Test(arguments: [true, false])
    func `the rules of the highest version stay`(isNewerFirst: Bool) async throws {
        let line = TestLine()
        let pairs = [
            try await Pair(Store(.memory), line, policy: policy(version: 1, .max)),
            try await Pair(Store(.memory), line, policy: policy(version: 2, .min)),
        ]
        for pair in isNewerFirst ? pairs.reversed() : pairs { try await pair.synchronize() }
        for pair in pairs + pairs { try await pair.synchronize() }
        let key = PolicyRecord.key(about: "cards")
        #expect(line.objects[key] == policy(version: 2, .min).value(at: "cards"))
        for pair in pairs {
            let value = try await pair.replica.store.write { try $0.value(of: key) }
            #expect(value == line.objects[key])
        }
        // An older app merges by them wherever it merges, and leaves them when it is opened again.
        let old = pairs[0].replica
        let rules = try await old.store.write { try old.policy(for: cards.place("c"), in: $0) }
        #expect(rules.version == 2)
        old.close()
        _ = try await Pair(old.store, line, policy: policy(version: 1, .max))
        #expect(try await old.store.write { try $0.value(of: key) } == line.objects[key])
    }

    @Test func `rules without a version stay with the device`() async throws {
        let line = TestLine()
        let pair = try await Pair(Store(.memory), line, policy: policy(version: 0, .max))
        try await pair.replica.store.write { try $0.set(["votes": 5], for: "c", in: cards) }
        try await pair.synchronize()
        #expect(line.objects.keys.map(\.collection) == ["cards"])
    }

    @Test func `rules of another form change nothing`() async throws {
        let line = TestLine()
        let ours = try await Pair(Store(.memory), line, policy: policy(version: 1, .max))
        let theirs = try await Pair(Store(.memory), line, policy: policy(version: 1, .max))
        try await ours.replica.store.write { transaction in
            try transaction.setValue(
                ["version": 9, "rules": "none"],
                version: 1,
                of: PolicyRecord.key(about: "cards")
            )
        }
        let found = try await votes(after: (7, 9), ours, theirs)
        #expect(found[0] == found[1])
    }

    @Test(arguments: [MergePolicy.Rule.whole, .theirs], ["/", "/cards", "/cards/*", "/*"])
    func `a rule above an object is one for the object`(
        rule: MergePolicy.Rule,
        path: String
    ) async throws {
        var policy = MergePolicy(version: 1)
        policy.set(rule, at: path)
        let line = TestLine()
        let pairs = [
            try await Pair(Store(.memory), line, policy: policy),
            try await Pair(Store(.memory), line, policy: policy),
        ]
        let objects = try await cardObjects(after: (["a": 1, "n": 7], ["b": 2, "n": 9]), pairs)
        #expect(objects[0] == objects[1])
        #expect(line.objects.filter { !$0.key.isReserved } == objects[0])
        if case .whole = rule {
            let sides: [Value] = [["a": 1, "n": 7], ["b": 2, "n": 9]]
            #expect(sides.contains(objects[0][cards.place("c")] ?? .null))
        }
        for pair in pairs {
            let replica = pair.replica
            let isSound = try await replica.store.write { transaction in
                try !replica.isDirty(in: transaction) && replica.problems(in: transaction).isEmpty
            }
            #expect(isSound)
        }
    }

    @Test(arguments: ["/", "/*"])
    func `a collection's own rule goes before one for all objects`(path: String) async throws {
        var policy = MergePolicy(version: 1)
        policy.set(.whole, at: path)
        policy.set(.editWins, at: "/cards")
        let line = TestLine()
        let pairs = [
            try await Pair(Store(.memory), line, policy: policy),
            try await Pair(Store(.memory), line, policy: policy),
        ]
        let objects = try await cardObjects(after: (["n": 5, "a": 1], ["n": 5, "b": 2]), pairs)
        #expect(objects[0][cards.place("c")] == ["n": 5, "a": 1, "b": 2])
    }

    /// Has both devices set a card at once, and returns the objects of both afterwards.
    private func cardObjects(
        after values: (Value, Value),
        _ pairs: [Pair]
    ) async throws -> [[ObjectKey: Value]] {
        for pair in pairs + pairs { try await pair.synchronize() }
        try await pairs[0].replica.store.write { try $0.set(["n": 5], for: "c", in: cards) }
        for pair in pairs { try await pair.synchronize() }
        for (pair, value) in zip(pairs, [values.0, values.1]) {
            try await pair.replica.store.write { try $0.set(value, for: "c", in: cards) }
        }
        for pair in pairs + pairs { try await pair.synchronize() }
        return [try await pairs[0].objects(), try await pairs[1].objects()]
    }

    @Test func `rules hold for objects that arrive with them, on both sides`() async throws {
        let line = TestLine()
        let old = try await Pair(Store(.memory), line, policy: policy(version: 1, .max))
        try await old.replica.store.write { try $0.set(["votes": 5], for: "c", in: cards) }
        try await old.synchronize()
        let new = try await Pair(Store(.memory), line, collections: ["cards"])
        try await new.synchronize()
        // The new app's first batch has its rules and an edit that was made offline.
        try await old.replica.store.write { try $0.set(["votes": 9], for: "c", in: cards) }
        try await old.synchronize()
        new.replica.close()
        let updated = try await Pair(new.replica.store, line, policy: policy(version: 2, .min))
        try await updated.replica.store.write { try $0.set(["votes": 7], for: "c", in: cards) }
        // The old app has an edit that is not sent, when rules and objects arrive in one answer.
        try await old.replica.store.write { try $0.set(["votes": 8], for: "c", in: cards) }
        try await updated.synchronize()
        #expect(line.objects[cards.place("c")] == ["votes": 7])
        try await old.synchronize()
        #expect(line.objects[cards.place("c")] == ["votes": 7])
    }

    @Test func `rules that were removed with all objects are written again`() async throws {
        let line = TestLine()
        let pair = try await Pair(Store(.memory), line, policy: policy(version: 1, .max))
        try await pair.replica.store.write { try $0.set(["votes": 5], for: "c", in: cards) }
        try await pair.synchronize()
        try await pair.replica.store.write { try $0.removeEverything() }
        for _ in 0..<2 { try await pair.synchronize() }
        let key = PolicyRecord.key(about: "cards")
        #expect(line.objects[key] == policy(version: 1, .max).value(at: "cards"))
        #expect(line.objects[cards.place("c")] == nil)
    }

    @Test(
        arguments: [
            ["version": .int(.max), "rules": "none"],
            ["version": .int(.max), "rules": []],
            ["version": 1_000_000_000_000_000, "rules": []],
        ] as [Value]
    )
    func `rules that cannot be read do not keep others out`(value: Value) async throws {
        let line = TestLine()
        let (rules, key) = (policy(version: 1, .max), PolicyRecord.key(about: "cards"))
        let pair = try await Pair(Store(.memory), line)
        try await pair.replica.store.write { try $0.setValue(value, version: 1, of: key) }
        try await pair.synchronize()
        let other = try await Pair(Store(.memory), line, policy: rules)
        for pair in [other, pair, other] { try await pair.synchronize() }
        #expect(line.objects[key] == rules.value(at: "cards"))
    }

    @Test func `a server takes no rules that are larger than any app's`() async throws {
        let line = TestLine()
        let pair = try await Pair(Store(.memory), line)
        let name = String(repeating: "a", count: PolicyRecord.sizeMax)
        try await pair.replica.store.write { transaction in
            try transaction.setValue(
                ["version": 1, "rules": [["path": .string(Key(name)), "rule": "max"]]],
                version: 1,
                of: PolicyRecord.key(about: "cards")
            )
        }
        try await pair.synchronize()
        #expect(line.objects.isEmpty)
    }

    @Test func `rules that other programs would not read are an error`() async throws {
        var deep = MergePolicy(version: 1)
        deep.set(.max, at: "/cards" + String(repeating: "/a", count: MergePolicy.stepsMax))
        var many = MergePolicy(version: 1)
        for number in 0...MergePolicy.countMax { many.set(.max, at: "/cards/*/\(number)") }
        for policy in [deep, many, MergePolicy(version: .max)] {
            await #expect(throws: ReplicationError.tooManyRules("cards")) {
                _ = try await Pair(Store(.memory), collections: ["cards"], policy: policy)
            }
        }
    }
}

/// Rules that the type of a collection declares.
@Suite struct DeclaredPolicyTests {
    struct Price: Codable, Equatable, Sendable {
        var amount: Int
        var currency: String
    }

    struct Offer: Codable, Equatable, Sendable, MergePolicyProviding {
        var price: Price?
        var votes = 0

        static var mergePolicy: MergePolicy {
            var policy = MergePolicy(version: 1)
            policy.set(.whole, at: "/price")
            policy.set(.max, at: "/votes")
            return policy
        }
    }

    private static let offers = StoreCollection<Offer>("cards")

    private func pair(_ line: TestLine, policy: MergePolicy = .standard) async throws -> Pair {
        var options = Store.Options()
        options.collections = [CollectionRules(Self.offers)]
        return try await Pair(Store(.memory, options: options), line, policy: policy)
    }

    @Test(arguments: [nil, Price(amount: 5, currency: "EUR")])
    func `a value that a type declares to be one is merged as one`(old: Price?) async throws {
        let line = TestLine()
        let pairs = [try await pair(line), try await pair(line)]
        let edits = [Price(amount: 6, currency: "EUR"), Price(amount: 5, currency: "USD")]
        func write(_ offer: Offer, _ pair: Pair) async throws {
            try await pair.replica.store.write { try $0.set(offer, for: "c", in: Self.offers) }
        }
        try await write(Offer(price: old), pairs[0])
        for pair in pairs + pairs { try await pair.synchronize() }
        for (index, pair) in pairs.enumerated() {
            try await write(Offer(price: edits[index], votes: 4 + index), pair)
        }
        for pair in pairs + pairs { try await pair.synchronize() }
        let found = try await pairs[0].replica.store.read { try $0.get("c", in: Self.offers) }
        #expect(found.map { edits.contains($0.price ?? edits[0]) } == true)
        #expect(found?.votes == 5)
        #expect(try await pairs[0].objects() == pairs[1].objects())
    }

    @Test func `the app's rules go before those of its types, and both have versions`() async throws
    {
        var policy = MergePolicy(version: 2)
        policy.set(.min, at: "/cards/*/votes")
        let line = TestLine()
        try await pair(line, policy: policy).synchronize()
        let rules = try #require(line.objects[PolicyRecord.key(about: "cards")])
        #expect(
            rules == [
                "version": 3,
                "rules": [
                    ["path": "/cards/*/price", "rule": "whole"],
                    ["path": "/cards/*/votes", "rule": "min"],
                ],
            ]
        )
        #expect(line.objects[PolicyRecord.key(about: "lists")]?["version"] == 2)
    }
}
