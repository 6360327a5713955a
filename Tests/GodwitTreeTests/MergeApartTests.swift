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
        // A word in the place of another one is an edit of each side.
        #expect(merge.conflicts.map(\.isNotice) == (new.text != nil ? [] : [true]))
        #expect(merge.conflicts.allSatisfy { $0.explanation.hasSuffix("it is there twice") })
    }

    @Test func `a block that both sides put in beside different removals is there once`() {
        let merge = merge(
            ["a", "b", "c", "d"],
            ["a", "x", "y", "c", "d"],
            ["a", "b", "x", "y", "d"]
        )
        #expect(merge.value == ["a", "x", "y", "d"])
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

    private static let exchanged: [(base: [Value], ours: [Value], edited: Value)] = {
        let tasks: [Value] = [
            ["title": "Fix login page", "priority": "high", "done": false],
            ["title": "Write docs intro", "priority": "low", "done": false],
            ["title": "Call the bank", "priority": "medium", "done": false],
        ]
        let owned: [Value] = [
            ["title": "order new chairs for the office", "owner": "Anna Smith", "done": false],
            ["title": "paint the wall behind the stairs", "owner": "Bo van Dam", "done": false],
            ["title": "book a hotel near the fair", "owner": "Carl de Vries", "done": false],
        ]
        let talks: [Value] = [
            [
                "pos": 1, "minutes": 15, "talk": "Rust in production", "speaker": "bob",
                "sure": false,
            ],
            ["pos": 2, "minutes": 10, "talk": "Opening words", "speaker": "ann", "sure": false],
            ["pos": 3, "minutes": 20, "talk": "Closing notes", "speaker": "cy", "sure": true],
            ["pos": 4, "minutes": 25, "talk": "Panel", "speaker": "dan", "sure": true],
        ]
        let things: [Value] = [
            ["price": 1999, "item": "steel shelf", "room": "A", "shop": "north", "here": false],
            ["price": 1250, "item": "oak table", "room": "B", "shop": "south", "here": false],
            ["price": 4900, "item": "long sofa", "room": "C", "shop": "east", "here": true],
        ]
        let slots: [Value] = [
            ["note": "", "at": 1_700_000_000, "patient": "Ann Lee"],
            ["note": "", "at": 1_700_001_800, "patient": "Bob Ray"],
            ["note": "", "at": 1_700_003_600, "patient": "Cy Poe"],
        ]
        return [
            (
                tasks,
                tasks.dropFirst()
                    + [["title": "Order new chairs", "priority": "high", "done": false]],
                ["title": "Fix login page", "priority": "high", "done": true]
            ),
            (
                owned,
                owned.dropFirst() + [
                    [
                        "title": "write the yearly safety report", "owner": "Anna Smith",
                        "done": false,
                    ]
                ],
                ["title": "order new chairs for the office", "owner": "Anna Smith", "done": true]
            ),
            (
                talks,
                [
                    [
                        "pos": 1, "minutes": 15, "talk": "Gardening at night", "speaker": "eve",
                        "sure": false,
                    ]
                ] + talks.dropFirst(),
                [
                    "pos": 1, "minutes": 15, "talk": "Rust in production", "speaker": "bob",
                    "sure": true,
                ]
            ),
            (
                slots,
                [["note": "", "at": 1_700_000_000, "patient": "Zoe Kim"]] + slots.dropFirst(),
                ["note": "allergic to nuts", "at": 1_700_000_000, "patient": "Ann Lee"]
            ),
            (
                things,
                [["price": 1999, "item": "lamp", "room": "D", "shop": "west", "here": false]]
                    + things.dropFirst(),
                ["price": 1999, "item": "steel shelf", "room": "A", "shop": "north", "here": true]
            ),
        ]
    }()

    @Test(arguments: exchanged)
    func `an edit does not follow to another record that shares a word or a number`(
        base: [Value],
        ours: [Value],
        edited: Value
    ) {
        let theirs = [edited] + base.dropFirst()
        for (ours, theirs) in [(ours, theirs), (theirs, ours)] {
            let merge = merge(
                .list(Value.List(base)),
                .list(Value.List(ours)),
                .list(Value.List(theirs))
            )
            #expect(merge.conflicts.contains { !$0.isNotice })
        }
    }

    @Test func `a step behind one that both sides put in stays where it was put`() {
        func step(_ name: String) -> Value {
            ["name": .string(Key(name)), "run": .string(Key("\(name) it"))]
        }
        let base = ["checkout", "build", "test"].map(step)
        let merge = merge(
            .list(Value.List(base)),
            .list(Value.List([step("cache")] + base)),
            .list(Value.List(base + [step("cache"), step("deploy")]))
        )
        #expect(merge.value == .list(Value.List([step("cache")] + base + [step("deploy")])))
        let words = self.merge(
            ["auth", "router"],
            ["cors", "auth", "router"],
            ["auth", "router", "cors", "errors"]
        )
        #expect(words.value == ["cors", "auth", "router", "errors"])
    }

    @Test func `two versions of one name in the places of different items are reported`() {
        let variables = merge(
            ["A=1", "B=2", "C=3", "D=4", "E=5"],
            ["P=80", "C=3", "D=4", "E=5"],
            ["A=1", "B=2", "C=3", "P=90"]
        )
        #expect(variables.conflicts.contains { !$0.isNotice })
        func user(_ email: Value, _ role: Value, _ team: Value) -> Value {
            ["email": email, "role": role, "team": team]
        }
        let base = (0..<5).map { user(.string(Key("u\($0)@x.org")), "guest", "b") }
        let users = merge(
            .list(Value.List(base)),
            .list(Value.List([user("new@x.org", "admin", "a")] + base.dropFirst(2))),
            .list(Value.List(base.dropLast(2) + [user("new@x.org", "guest", "c")]))
        )
        #expect(users.conflicts.contains { !$0.isNotice })
    }

    @Test func `a new record that one side has filled in further is one`() {
        func user(_ email: Value, _ role: Value) -> Value { ["email": email, "role": role] }
        let base = [
            user("a@x.org", "admin"), user("b@x.org", "guest"), user("c@x.org", "guest"),
            user("d@x.org", "owner"),
        ]
        var full = user("e@x.org", "editor")
        _ = try? full.edit { $0.phone = "123" }
        let merge = merge(
            .list(Value.List(base)),
            .list(Value.List(base + [user("e@x.org", "editor")])),
            .list(Value.List(base + [full]))
        )
        #expect(merge.value == .list(Value.List(base + [full])) && merge.conflicts.isEmpty)
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

    @Test func `two records in the place of one that each keep half of its text are reported`() {
        func note(_ texts: Value...) -> Value {
            let keys: [Key] = ["id", "text", "day", "place", "who"]
            return .map(Value.Map(zip(keys, texts).map { ($0, $1) }))
        }
        let base = note("wine", "market on the river near a window", "mon", "old town hall", "ann")
        let ours = note("rye", "market on the lake near a door", "tue", "north gate bridge", "bob")
        let theirs = note(
            "tea",
            "market on the river near a shop",
            "wed",
            "south hill church",
            "cid"
        )
        let other = note("garden", "seven clouds over silver", "sun", "far east pier", "dan")
        let merge = merge([base, other], [ours, other], [theirs, other])
        #expect(merge.value == [ours, theirs, other])
        #expect(merge.conflicts.map(\.reason) == [.bothSet])
        #expect(merge.conflicts.map(\.choice) == [.both])
    }

    private func merge(_ base: Value, _ ours: Value, _ theirs: Value) -> Merge {
        Merge(base: base, ours: ours, theirs: theirs)
    }
}
