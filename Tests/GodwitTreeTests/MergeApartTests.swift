import GodwitTestKit
import GodwitTree
import Testing

/// Equal or alike items that both sides put in: one where they mean one, two where they stand in
/// the places of two.
@Suite struct MergeApartTests {
    private static let meals: [Value] = [
        ["meal": "Pasta", "kcal": 700], ["meal": "Soup", "kcal": 300],
        ["meal": "Curry", "kcal": 800],
        ["meal": "Tacos", "kcal": 650], ["meal": "Salad", "kcal": 250],
    ]
    private static let questions: [Value] = [
        ["q": "Name?", "a": "x1"], ["q": "Age?", "a": "x2"], ["q": "City?", "a": "x3"],
    ]
    private static let slides: [Value] = [
        ["layout": "title", "text": "Plan"], ["layout": "quote", "text": "Go on"],
        ["layout": "table", "text": "Costs"], ["layout": "end", "text": "Thanks"],
    ]
    private static let replaced: [(items: [Value], new: Value)] = [
        (meals, ["meal": "Pizza", "kcal": 900]), (questions, ["q": "?", "a": ""]),
        (slides, ["layout": "blank", "text": ""]), (["Mon", "Tue", "Wed"], "off"),
    ]

    @Test(arguments: replaced)
    func `one thing that both sides put in the places of different items is there twice`(
        items: [Value],
        new: Value
    ) {
        let last = items.count - 1
        let merge = merge(
            .list(items),
            .list([new] + items.dropFirst()),
            .list(items.dropLast() + [new])
        )
        #expect(merge.value == .list([new] + items[1..<last] + [new]))
        #expect(merge.conflicts.isEmpty)
    }

    @Test func `a number of a series that one side corrects stays beside an equal one at the end`()
    {
        let base: Value = ["data": [10, 20, 30, 40, 50]]
        let (edited, grown): (Value, Value) = (
            ["data": [10, 65, 30, 40, 50]], ["data": [10, 20, 30, 40, 50, 65]]
        )
        for merge in [merge(base, edited, grown), merge(base, grown, edited)] {
            #expect(merge.value == ["data": [10, 65, 30, 40, 50, 65]] && merge.conflicts.isEmpty)
        }
    }

    private static let steps: [(base: [Value], new: Value)] = [
        (["docker up -d", "npm ci", "npm test"], "docker down"),
        ([["run": "npm ci"], ["run": "npm test"]], ["run": "df -h"]),
        (
            [
                ["amount": 9, "for": "tea"], ["amount": 15, "for": "rent"],
                ["amount": 4, "for": "ink"],
            ],
            ["amount": 20, "for": "food"]
        ),
    ]

    @Test(arguments: steps)
    func `one step that both sides put in at different places is there once, with a notice`(
        base: [Value],
        new: Value
    ) throws {
        let merge = merge(.list(base), .list([new] + base), .list(base + [new]))
        #expect(merge.value == .list([new] + base))
        let conflict = try #require(merge.conflicts.first)
        #expect(conflict.reason == .bothMoved && conflict.isNotice && merge.conflicts.count == 1)
        #expect(conflict.explanation.hasPrefix("both sides put it in, at different places"))
    }

    @Test func `a word that both sides put in a set is there once, and nothing is told`() {
        let merge = merge(["tea", "jam"], ["ink", "tea", "jam"], ["tea", "jam", "ink"])
        #expect(merge.value == ["ink", "tea", "jam"] && merge.conflicts.isEmpty)
    }

    private static func step(_ name: String, _ run: String, if condition: String) -> Value {
        ["name": .string(Key(name)), "run": .string(Key(run)), "if": .string(Key(condition))]
    }

    private static let renamed: [(base: [Value], ours: Value, theirs: Value, merged: Value)] = [
        (
            [
                step("Lint code", "npm run lint", if: "always()"),
                step("Unit tests", "npm test", if: "always()"),
                step("Build app", "npm run build", if: "success()"),
            ],
            step("Check style", "npm run lint", if: "always()"),
            step("Lint code", "npm run lint", if: "success()"),
            step("Check style", "npm run lint", if: "success()")
        ),
        (
            [
                ["from": "ann", "at": 1_700_000_164, "msg": "see you"],
                ["from": "bob", "at": 1_700_000_200, "msg": "ok then"],
                ["from": "cid", "at": 1_700_000_300, "msg": "later"],
            ],
            ["from": "dan", "at": 1_700_000_164, "msg": "see you"],
            ["from": "ann", "at": 1_700_000_164, "msg": "good night"],
            ["from": "dan", "at": 1_700_000_164, "msg": "good night"]
        ),
        (
            [
                ["plan": "basic", "monthly": 9, "yearly": 90, "seats": 1],
                ["plan": "team", "monthly": 29, "yearly": 290, "seats": 5],
                ["plan": "house", "monthly": 59, "yearly": 590, "seats": 20],
            ],
            ["plan": "solo", "monthly": 9, "yearly": 90, "seats": 1],
            ["plan": "basic", "monthly": 9, "yearly": 90, "seats": 2],
            ["plan": "solo", "monthly": 9, "yearly": 90, "seats": 2]
        ),
    ]

    @Test(arguments: renamed)
    func `a record that one side renamed is known by a value that no other has`(
        base: [Value],
        ours: Value,
        theirs: Value,
        merged: Value
    ) {
        let rest = base.dropFirst()
        for (ours, theirs) in [(ours, theirs), (theirs, ours)] {
            let merge = merge(.list(base), .list([ours] + rest), .list([theirs] + rest))
            #expect(merge.value == .list([merged] + rest) && merge.conflicts.isEmpty)
        }
    }

    @Test func `two new talks that share a time and a room are two`() {
        func talk(_ start: Int, _ name: String, by speaker: String, in room: String) -> Value {
            [
                "start": .string(Key("\(start):00")), "end": .string(Key("\(start + 1):00")),
                "talk": .string(Key(name)), "speaker": .string(Key(speaker)),
                "room": .string(Key(room)),
            ]
        }
        let base = [
            talk(9, "Opening", by: "ann", in: "A"), talk(10, "Trees", by: "bob", in: "B"),
            talk(11, "Queues", by: "cid", in: "A"), talk(13, "Merges", by: "dan", in: "C"),
        ]
        let (ours, theirs) = (
            talk(16, "For the kitchen", by: "kim", in: "C"),
            talk(16, "Update login", by: "fay", in: "C")
        )
        let merge = merge(
            .list(base),
            .list([ours] + base),
            .list(base + [theirs])
        )
        #expect(merge.value == .list([ours] + base + [theirs]))
    }

    @Test func `a record that both sides renamed and rewrote in part is reported`() {
        func note(_ id: String, _ text: String) -> Value {
            ["id": .string(Key(id)), "text": .string(Key(text))]
        }
        let other = note("garden", "seven clouds over the silver letter")
        let merge = merge(
            [note("wine", "market on the river near a yellow window"), other],
            [note("rye", "market on the lake near a yellow window"), other],
            [note("tea", "market on the river near an old window"), other]
        )
        #expect(merge.value.list?.count == 3 || merge.value.list?.count == 2)
        #expect(!merge.conflicts.isEmpty)
    }

    private func merge(_ base: Value, _ ours: Value, _ theirs: Value) -> Merge {
        Merge(base: base, ours: ours, theirs: theirs)
    }
}
