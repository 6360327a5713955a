import GodwitTestKit
import Testing

@testable import GodwitTree

/// Rules for merges as data, and the rule for values that are one.
@Suite struct MergePolicyDataTests {
    private static let rules: [(MergePolicy.Rule, String)] = [
        (.ours, "ours"), (.theirs, "theirs"), (.editWins, "edit-wins"),
        (.deleteWins, "delete-wins"),
        (.max, "max"), (.min, "min"), (.union, "union"), (.sum, "sum"), (.whole, "whole"),
    ]

    @Test func `rules are read as they were written`() throws {
        var policy = MergePolicy(version: 7)
        for (rule, name) in Self.rules { policy.set(rule, at: "/lists/*/\(name)") }
        policy.set(.max, at: "/*/*/votes")
        policy.set(.min, at: "/lists/a~1b/c~0d")
        policy.set(.sum, at: "/")
        policy.identify(by: "sku", "size", at: "/lists/*/items")
        let value = policy.value(at: "lists")
        #expect(value["version"] == 7)
        #expect(value["rules"]?.list?.count == Self.rules.count + 4)
        let read = try #require(MergePolicy(value))
        #expect(read.version == 7)
        #expect(read.value(at: "lists") == value)
        let names = value["rules"]?.list?.compactMap { $0["rule"]?.text } ?? []
        #expect(Set(names) == Set(Self.rules.map(\.1)))
    }

    @Test func `a rule that was read decides as the one that was written`() throws {
        var policy = MergePolicy(version: 1)
        policy.set(.max, at: "/lists/*/votes")
        let read = try #require(MergePolicy(policy.value(at: "lists")))
        func list(_ votes: Int64) -> Value { ["lists": ["a": ["votes": .int(votes)]]] }
        let merge = Merge(base: list(1), ours: list(2), theirs: list(9), policy: read)
        #expect(merge.value == list(9) && merge.conflicts.isEmpty)
        let swapped = Merge(base: list(1), ours: list(9), theirs: list(2), policy: read)
        #expect(swapped.value == list(9))
    }

    @Test func `rules of other collections and functions are left out`() {
        var policy = MergePolicy(version: 1)
        policy.set(.max, at: "/cards/*/votes")
        policy.set(.custom { $0.ours }, at: "/lists/*/votes")
        #expect(policy.value(at: "lists") == ["version": 1, "rules": []])
    }

    @Test func `rules of a newer program say nothing to an older one`() throws {
        let value: Value = [
            "version": 3,
            "rules": [
                ["path": "/n", "rule": "average"], ["rule": "max"], ["path": 5], 7,
                ["path": "/m", "rule": "max", "colour": "red"], ["path": "/l", "identity": []],
            ],
        ]
        let read = try #require(MergePolicy(value))
        #expect(read.value(at: "n") == ["version": 3, "rules": []])
        #expect(read.value(at: "m")["rules"] == [["path": "/m", "rule": "max"]])
    }

    @Test func `hostile rules are refused or bounded`() {
        let rule: Value = ["path": "/n", "rule": "max"]
        let many = Value.List(repeating: rule, count: MergePolicy.countMax + 1)
        #expect(MergePolicy(["version": 1, "rules": .list(many)]) == nil)
        for value: Value in [[:], 5, ["version": "1", "rules": []], ["version": 1, "rules": 5]] {
            #expect(MergePolicy(value) == nil)
        }
        let deep = String(repeating: "/a", count: 100_000)
        let policy = MergePolicy([
            "version": 1, "rules": [["path": .string(Key(deep)), "rule": "max"]],
        ])
        #expect(policy?.root == nil)
        for (count, isRead) in [
            (MergePolicy.identityMax, true), (MergePolicy.identityMax + 1, false),
        ] {
            let names = Value.List(repeating: "a", count: count)
            let policy = MergePolicy([
                "version": 1, "rules": [["path": "/n", "identity": .list(names)]],
            ])
            #expect((policy?.root != nil) == isRead)
        }
        for version: Int64 in [.max, 1 << 48 + 1] {
            #expect(MergePolicy(["version": .int(version), "rules": []]) == nil)
        }
        for (count, isRead) in [(MergePolicy.stepsMax, true), (MergePolicy.stepsMax + 1, false)] {
            let path = Key(String(repeating: "/a", count: count))
            let policy = MergePolicy([
                "version": 1, "rules": [["path": .string(path), "rule": "max"]],
            ])
            #expect((policy?.root != nil) == isRead)
        }
    }

    @Test func `an identity without a key is none`() {
        let rule: Value = ["path": "/n", "identity": [1]]
        let policy = MergePolicy(["version": 1, "rules": [rule]])
        #expect(policy != nil && policy?.root == nil)
    }

    @Test func `a value that is one is taken from one side`() throws {
        var policy = MergePolicy()
        policy.set(.whole, at: "/price")
        let base: Value = ["price": ["amount": 5, "currency": "EUR"], "n": 1]
        let ours: Value = ["price": ["amount": 6, "currency": "EUR"], "n": 1]
        let theirs: Value = ["price": ["amount": 5, "currency": "USD"], "n": 2]
        let merge = Merge(base: base, ours: ours, theirs: theirs, policy: policy)
        let price = merge.value["price"]
        #expect(price == ours["price"] || price == theirs["price"])
        #expect(merge.value["n"] == 2)
        #expect(merge.conflicts.map { "\($0.path)" } == ["/price"])
        // One side alone, and both alike.
        #expect(Merge(base: base, ours: base, theirs: theirs, policy: policy).value == theirs)
        let same = Merge(base: base, ours: theirs, theirs: theirs, policy: policy)
        #expect(same.value == theirs && same.conflicts.isEmpty)
        // Where both sides put one in, it is one value, too.
        let new = Merge(base: ["n": 1], ours: ours, theirs: theirs, policy: policy)
        #expect([ours["price"], theirs["price"]].contains(new.value["price"]))
        #expect(new.conflicts.map { "\($0.path)" } == ["/price"])
        // A text is one value, too.
        var note = MergePolicy()
        note.set(.whole, at: "/note")
        let texts = ["a b c", "x b c", "a b y"].map { ["note": .string(Key($0))] as Value }
        let text = Merge(base: texts[0], ours: texts[1], theirs: texts[2], policy: note)
        #expect(text.value == texts[1] || text.value == texts[2])
        #expect(text.conflicts.count == 1)
    }
}
