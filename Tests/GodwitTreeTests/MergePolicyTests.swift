import GodwitTestKit
import Testing

@testable import GodwitTree

/// Rules by path, counters, identities: what an app may say about merges.
@Suite struct MergePolicyTests {
    @Test func `what two sides add adds up, also when it is the same`() throws {
        for (base, path) in [(["n": 5], "/n"), (["l": [["id": 1, "n": 5]]], "/l/0/n")]
            as [(Value, String)]
        {
            let one = try delta(of: base) { Self.add(1, path, &$0) }
            let two = try delta(of: base) { Self.add(2, path, &$0) }
            for (ours, theirs, sum) in [(one, one, 7), (one, two, 8)] as [(Delta, Delta, Int64)] {
                let merge = try Merge(base: base, ours: ours, theirs: theirs)
                #expect(merge.value["n"] ?? merge.value["l"]?.list?[0]["n"] == .int(sum))
                #expect(try merge.afterOurs.applied(to: ours.applied(to: base)) == merge.value)
                #expect(merge.conflicts.isEmpty)
            }
        }
        // Both sides also append the same item: it is there once.
        let base: Value = ["l": [["n": 1]]]
        let both = try delta(of: base) {
            $0.l[0].n += 1
            $0.l.list.append(["n": 9])
        }
        let merge = try Merge(base: base, ours: both, theirs: both)
        #expect(merge.value == ["l": [["n": 3], ["n": 9]]])
    }

    @Test func `a sum counts what both sides have added, max and min choose`() throws {
        let rules: [(MergePolicy.Rule, Value)] = [
            (.sum, 13), (.max, 12), (.min, 11), (.ours, 12), (.theirs, 11),
        ]
        for (rule, expected) in rules {
            var policy = MergePolicy()
            policy.set(rule, at: "/n")
            let set = Merge(base: ["n": 10], ours: ["n": 12], theirs: ["n": 11], policy: policy)
            #expect(set.value == ["n": expected] && set.conflicts.isEmpty, "\(rule)")
            let base: Value = ["n": 10]
            let added = try Merge(
                base: base,
                ours: delta(of: base) { $0.n += 2 },
                theirs: delta(of: base) { $0.n += 1 },
                policy: policy
            )
            #expect(added.value == ["n": expected], "\(rule)")
        }
        var policy = MergePolicy()
        policy.set(.sum, at: "/n")
        #expect(
            Merge(base: ["n": 5], ours: ["n": 6], theirs: ["n": 6], policy: policy).value == [
                "n": 7
            ]
        )
    }

    @Test func `max and min compare versions as versions, and other strings by their bytes`() {
        let pairs: [(less: Value, more: Value)] = [
            ("1.9.0", "1.10.0"), ("v1.9", "v1.10"), ("^2.0.0", "^10.0.0"), ("1.2", "1.2.1"),
            ("1.0.0-beta", "1.0.0"), ("1.0.0-beta.2", "1.0.0-beta.11"), ("1.0.0-1", "1.0.0-a"),
            ("2026-03-09", "2026-03-10"), ("10", "9"), ("10 apples", "9 apples"), (2, 10.5),
        ]
        for (rule, isMax) in [(.max, true), (.min, false)] as [(MergePolicy.Rule, Bool)] {
            var policy = MergePolicy()
            policy.set(rule, at: "/v")
            for (less, more) in pairs {
                for (ours, theirs) in [(less, more), (more, less)] {
                    let merge = Merge(
                        base: ["v": "0.1.0"],
                        ours: ["v": ours],
                        theirs: ["v": theirs],
                        policy: policy
                    )
                    #expect(merge.value == ["v": isMax ? more : less])
                    #expect(merge.conflicts.isEmpty)
                }
            }
        }
    }

    @Test func `a union removes nothing that one side still has, and both sides learn of it`()
        throws
    {
        var policy = MergePolicy()
        policy.set(.union, at: "/")
        let cases: [(Value, Value, Value, Value)] = [
            (["a": 1, "b": 1], ["b": 1], ["a": 1, "b": 2], ["a": 1, "b": 2]),
            (
                ["a": ["x": 1, "y": 1]], ["a": ["x": 1]], ["a": ["x": 1, "y": 2]],
                ["a": ["x": 1, "y": 2]]
            ),
            ([1, 2, 3], [1, 3], [1, 3, 4], [1, 3, 4]),
            ([1, 2, 3], [1, 3], [2, 3, 4], [1, 2, 3, 4]),
        ]
        for (base, ours, theirs, expected) in cases {
            let merge = Merge(base: base, ours: ours, theirs: theirs, policy: policy)
            #expect(merge.value == expected && merge.conflicts.isEmpty)
            #expect(try merge.afterOurs.applied(to: ours) == expected)
            #expect(try merge.afterTheirs.applied(to: theirs) == expected)
        }
    }

    @Test func `a union holds however a side tells its change`() throws {
        var policy = MergePolicy()
        policy.set(.union, at: "/tags")
        for (old, new, more) in [
            (["a", "b"], ["a"], ["a", "b", "c"]),
            (["x": 1, "y": 2], ["x": 1], ["x": 1, "y": 2, "z": 3]),
        ] as [(Value, Value, Value)] {
            let ours = Delta.map(["tags": .apply(.set(new))])
            for theirs in [old, more] {
                let merge = try Merge(
                    base: ["tags": old],
                    ours: ours,
                    theirs: .diff(["tags": old], ["tags": theirs]),
                    policy: policy
                )
                #expect(merge.value == ["tags": theirs] && merge.conflicts.isEmpty)
                #expect(try merge.afterOurs.applied(to: ["tags": new]) == merge.value)
            }
        }
    }

    @Test func `every rule keeps the residuals of random merges`() throws {
        let rules: [MergePolicy.Rule] = [
            .ours, .theirs, .editWins, .deleteWins, .max, .min, .union, .sum,
            .custom { $0.base ?? $0.theirs },
        ]
        for seed in 0..<UInt64(3_000 * Soak.factor) {
            var random = Seeded(seed: seed)
            let base = random.document()
            let sides = (0..<2).map { _ in
                var draft = Draft(base)
                for _ in 0..<4 { random.record(in: &draft) }
                return draft
            }
            for rule in rules {
                var policy = MergePolicy()
                policy.set(rule, at: "/")
                let merge = try Merge(
                    base: base,
                    ours: Delta(sides[0]),
                    theirs: Delta(sides[1]),
                    policy: policy
                )
                let isSound =
                    try merge.afterOurs.applied(to: Value(sides[0])) == merge.value
                    && merge.afterTheirs.applied(to: Value(sides[1])) == merge.value
                try #require(isSound, "seed \(seed), \(rule)")
            }
        }
    }

    @Test func `rules of longer paths go first, and spelled out keys before stars`() {
        var policy = MergePolicy()
        policy.set(.max, at: "/*/updated")
        policy.set(.sum, at: "/stats/views")
        policy.set(.ours, at: "/stats")
        let merge = Merge(
            base: ["stats": ["updated": 1, "views": 1, "x": 1], "other": ["updated": 1]],
            ours: ["stats": ["updated": 9, "views": 2, "x": 2], "other": ["updated": 9]],
            theirs: ["stats": ["updated": 5, "views": 3, "x": 3], "other": ["updated": 5]],
            policy: policy
        )
        #expect(
            merge.value == ["stats": ["updated": 9, "views": 4, "x": 2], "other": ["updated": 9]]
        )
        #expect(merge.conflicts.isEmpty)
    }

    @Test func `of two paths of one length the one that spells out its keys has the rule`() {
        for isStarFirst in [true, false] {
            var policy = MergePolicy()
            let rules: [(MergePolicy.Rule, String)] = [
                (.max, "/stats/*"), (.min, "/stats/views"),
                (.min, "/ranks/0"), (.max, "/ranks/*"),
            ]
            for (rule, path) in isStarFirst ? rules : rules.reversed() {
                policy.set(rule, at: path)
            }
            let merge = Merge(
                base: [
                    "stats": ["views": 1, "x": 1], "ranks": [1, 1, 1, 1, 1],
                ],
                ours: [
                    "stats": ["views": 5, "x": 5], "ranks": [5, 5, 1, 1, 1],
                ],
                theirs: [
                    "stats": ["views": 9, "x": 9], "ranks": [9, 9, 1, 1, 1],
                ],
                policy: policy
            )
            #expect(
                merge.value == [
                    "stats": ["views": 5, "x": 9], "ranks": [5, 9, 1, 1, 1],
                ]
            )
        }
    }

    @Test func `new items are one only by what tells all items apart`() {
        let logins = (0..<20).map { ["name": "login", "t": .int($0)] as Value }
        let ours = logins + [["name": "login", "t": 100]]
        let theirs = logins + [["name": "login", "t": 200]]
        let merge = Merge(base: .list(logins), ours: .list(ours), theirs: .list(theirs))
        #expect(merge.value.list?.count == 22 && merge.conflicts.isEmpty)
    }

    @Test func `rules hold for items that both sides created`() {
        var policy = MergePolicy()
        policy.set(.max, at: "/items/*/rank")
        let merge = Merge(
            base: ["items": [["id": 1]]],
            ours: ["items": [["id": 1], ["id": 2, "n": "Rye", "m": 4, "rank": 9, "x": 1]]],
            theirs: ["items": [["id": 1], ["id": 2, "n": "Rye", "m": 4, "rank": 5, "x": 2]]],
            policy: policy
        )
        #expect(
            merge.value == [
                "items": [["id": 1], ["id": 2, "n": "Rye", "m": 4, "rank": 9, "x": 2]]
            ]
        )
        #expect(merge.conflicts.map(\.path.description) == ["/items/1/x"])
    }

    @Test func `of two moves the one counts whose side a rule names`() {
        var policy = MergePolicy()
        policy.set(.theirs, at: "/")
        let (base, ours, theirs): (Value, Value, Value) =
            ([1, 2, 3, 4, 5], [2, 1, 3, 4, 5], [2, 3, 4, 5, 1])
        #expect(Merge(base: base, ours: ours, theirs: theirs).conflicts.count == 1)
        let merge = Merge(base: base, ours: ours, theirs: theirs, policy: policy)
        #expect(merge.value == theirs && merge.conflicts.isEmpty)
    }

    @Test func `a list's pointer may have any characters`() {
        #expect(
            ValuePath(pointer: "/a~1b/~0/\u{301}x").steps == [
                .key("a/b"), .key("~"), .key("\u{301}x"),
            ]
        )
        #expect(
            ValuePath(pointer: "a~").steps == [.key("a~")] && ValuePath(pointer: "/").steps.isEmpty
        )
    }

    private func delta(of base: Value, _ body: (inout Draft) -> Void) throws -> Delta {
        var value = base
        return try value.edit(body)
    }

    private static func add(_ number: Int64, _ path: String, _ draft: inout Draft) {
        if path == "/n" { draft.n += number } else { draft.l[0].n += number }
    }
}
