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
}
