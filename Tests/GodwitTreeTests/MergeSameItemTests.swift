import GodwitTree
import Testing

/// Which item an edit belongs to, where one side has put another item in its place.
@Suite struct MergeSameItemTests {
    private static func task(_ id: Value, _ text: Value, done: Value = false) -> Value {
        ["id": id, "text": text, "done": done, "list": "home", "prio": 1, "owner": "ann"]
    }

    @Test(arguments: [MergePolicy.standard, identified])
    func `an edit of a removed record does not land on a new one with the same defaults`(
        policy: MergePolicy
    ) {
        let (milk, tea, jam) = (
            Self.task("a", "milk"), Self.task("b", "tea"), Self.task("c", "jam")
        )
        let done = Self.task("b", "tea", done: true)
        for (ours, theirs) in [([milk, done], [milk, jam]), ([milk, jam], [milk, done])]
            as [(Value, Value)]
        {
            let merge = Merge(base: [milk, tea], ours: ours, theirs: theirs, policy: policy)
            #expect(merge.value.unordered == ([milk, jam, done] as Value).unordered)
            #expect(merge.conflicts.map(\.reason) == [.removedAndEdited])
        }
    }

    private static var identified: MergePolicy {
        var policy = MergePolicy()
        policy.identify(by: "id", at: "/")
        return policy
    }

    private static let replaced: [(base: Value, edited: Value, new: Value)] = [
        (
            ["user": "bob", "role": "viewer"], ["user": "bob", "role": "editor"],
            ["user": "cid", "role": "viewer"]
        ),
        (
            ["text": "tea", "done": false], ["text": "tea", "done": true],
            ["text": "jam", "done": false]
        ),
        (
            ["flag": "a", "on": false, "pct": 0], ["flag": "a", "on": true, "pct": 0],
            ["flag": "b", "on": false, "pct": 0]
        ),
        (task("b", "tea"), task("b", "tea", done: true), task("c", "jam")),
        (
            ["id": "u2", "user": "bob", "role": "viewer", "org": "x", "mfa": true, "lang": "en"],
            ["id": "u2", "user": "bob", "role": "admin", "org": "x", "mfa": true, "lang": "en"],
            ["id": "u3", "user": "eve", "role": "viewer", "org": "x", "mfa": true, "lang": "en"]
        ),
    ]

    @Test(arguments: replaced)
    func `a record that one side replaced and the other edited is one of both, and reported`(
        base: Value,
        edited: Value,
        new: Value
    ) {
        for (ours, theirs) in [(edited, new), (new, edited)] {
            let merge = merge([base], [ours], [theirs])
            #expect(merge.value == [edited] || merge.value == [new])
            #expect(merge.conflicts.map(\.reason) == [.replacedAndEdited])
        }
    }

    @Test func `a record that one side renamed and the other edited has both edits`() {
        let merge = merge(
            [["text": "buy milk", "done": false]],
            [["text": "buy milk", "done": true]],
            [["text": "buy oat milk", "done": false]]
        )
        #expect(merge.value == [["text": "buy oat milk", "done": true]])
        #expect(!merge.conflicts.contains { !$0.isNotice })
    }

    @Test func `a record that keeps its own name or number is one, whatever both sides change`() {
        for (base, ours, theirs, merged) in [
            (
                [["uid": "x1", "title": "milk", "n": 1], ["uid": "x2", "title": "tea", "n": 2]],
                [["uid": "x1", "title": "bread", "n": 1], ["uid": "x2", "title": "tea", "n": 2]],
                [["uid": "x1", "title": "milk", "n": 5], ["uid": "x2", "title": "tea", "n": 2]],
                [["uid": "x1", "title": "bread", "n": 5], ["uid": "x2", "title": "tea", "n": 2]]
            ),
            (
                [["t": 2, "v": 2.5]], [["t": 2, "v": 2.75]], [["t": 2, "v": 2.5, "ok": true]],
                [["t": 2, "v": 2.75, "ok": true]]
            ),
        ] as [(Value, Value, Value, Value)] {
            let merge = merge(base, ours, theirs)
            #expect(merge.value == merged && !merge.conflicts.contains { !$0.isNotice })
        }
    }

    @Test func `equal rows and points are many things`() {
        let (off, on): (Value, Value) = (["done": false], ["done": true])
        let rows = merge([off, off, off], [off, off, off, on], [on, off, off])
        #expect(rows.value == [on, off, off, on])
        let line = merge(
            [[0, 0], [1, 5], [2, 0]],
            [[0, 0], [1, 5], [2, 0], [1, 7]],
            [[0, 0], [1, 7], [2, 0]]
        )
        #expect(line.value == [[0, 0], [1, 7], [2, 0], [1, 7]])
    }

    @Test func `a word that both sides correct in different places is corrected in both`() {
        let base = "The recieve buffer is full when the recieve queue stalls for long"
        let merge = merge(
            .string(Key(base)),
            .string(Key(base.replacing("recieve buffer", with: "receive buffer"))),
            .string(Key(base.replacing("recieve queue", with: "receive queue")))
        )
        #expect(merge.value.text == base.replacing("recieve", with: "receive"))
    }

    @Test func `a number that counts the items is no identity`() {
        let merge = merge(
            [
                ["step": 1, "text": "chop"], ["step": 2, "text": "fry"],
                ["step": 3, "text": "eat"],
            ],
            [["step": 1, "text": "fry"], ["step": 2, "text": "eat"]],
            [
                ["step": 1, "text": "chop"], ["step": 2, "text": "fry", "timer": 5],
                ["step": 3, "text": "eat"],
            ]
        )
        #expect(
            merge.value == [["step": 1, "text": "fry", "timer": 5], ["step": 2, "text": "eat"]]
        )
    }

    @Test func `two new cells of a notebook with one count are two`() {
        func cell(_ count: Int64, _ line: Value) -> Value {
            [
                "cell_type": "code", "execution_count": .int(count), "metadata": [:],
                "outputs": [], "source": [line],
            ]
        }
        let (a, b) = (cell(1, "a = 1"), cell(2, "b = 2"))
        let (head, plot) = (cell(3, "df.head()"), cell(3, "df.plot()"))
        let merge = merge(["cells": [a, b]], ["cells": [a, b, head]], ["cells": [a, b, plot]])
        #expect(merge.value == ["cells": [a, b, head, plot]])
    }

    @Test(
        arguments: [
            (
                ["ann", "cy", "ann", "cy", "bob", "cy", "bob"], [0: "cy", 3: "ann"], [1: "ann"]
            ),
            (["art", "gym", "art", "gym", "art"], [2: "gym", 3: "math"], [4: "math"]),
            (
                ["x", "", "o", "", "x", "", "o", "", ""], [1: "x", 4: "o"], [0: "o", 8: "x"]
            ),
        ] as [([String], [Int: String], [Int: String])]
    )
    func `days of a roster are changed where they stand`(
        days: [String],
        ours: [Int: String],
        theirs: [Int: String]
    ) {
        func value(_ changes: [Int: String]) -> Value {
            .list(
                Value.List(days.indices.map { .string(Key(changes[$0] ?? days[$0])) })
            )
        }
        let merge = merge(value([:]), value(ours), value(theirs))
        #expect(merge.value == value(ours.merging(theirs) { $1 }) && merge.conflicts.isEmpty)
    }

    @Test func `an item that occurs once and moves is no edit of cells`() {
        let songs: Value = ["in", "a", "b", "in", "a", "b", "demons", "in", "a", "b"]
        let moved: Value = ["in", "a", "b", "demons", "in", "a", "b", "in", "a", "b"]
        let edited: Value = ["in", "a", "b", "in", "a", "b", "demons", "in", "a", "new"]
        let wanted: Value = ["in", "a", "b", "demons", "in", "a", "b", "in", "a", "new"]
        for merge in [merge(songs, moved, edited), merge(songs, edited, moved)] {
            #expect(merge.value == wanted && merge.conflicts.isEmpty)
        }
        let walk: Value = [
            "walk", "run", "walk", "run", "walk", "sprint", "walk", "run", "rest", "rest",
        ]
        let late = merge(
            walk,
            ["walk", "run", "walk", "run", "walk", "walk", "run", "rest", "rest", "sprint"],
            ["walk", "run", "walk", "run", "walk", "sprint", "new", "run", "rest", "rest"]
        )
        #expect(
            late.value
                == ["walk", "run", "walk", "run", "walk", "new", "run", "rest", "rest", "sprint"]
        )
    }

    private static let rewritten: [(base: Value, ours: Value, theirs: Value)] = [
        (
            [
                ["name": "Ann Lee", "email": "ann@lee.com", "phone": "111"],
                ["name": "Bob Ray", "email": "bob@ray.com", "phone": "222"],
                ["name": "Cy Tam", "email": "cy@tam.com", "phone": "333"],
            ],
            [
                ["name": "Ann Fox", "email": "ann@fox.com", "phone": "111"],
                ["name": "Bob Ray", "email": "bob@ray.com", "phone": "222"],
                ["name": "Cy Tam", "email": "cy@tam.com", "phone": "333"],
            ],
            [
                ["name": "Ann Lee", "email": "ann@lee.com"],
                ["name": "Bob Ray", "email": "bob@ray.com", "phone": "222"],
                ["name": "Cy Tam", "email": "cy@tam.com", "phone": "333"],
            ]
        ),
        (
            [
                "todo": [
                    ["title": "Login page", "labels": ["ui", "blocked"]],
                    ["title": "Search", "labels": ["ui"]],
                ],
                "done": [],
            ],
            [
                "todo": [["title": "Search", "labels": ["ui"]]],
                "done": [
                    [
                        "title": "Login page", "labels": ["ui", "blocked"],
                        "completedAt": "2024-05-01",
                    ]
                ],
            ],
            [
                "todo": [
                    ["title": "Login page", "labels": ["ui"]],
                    ["title": "Search", "labels": ["ui"]],
                ],
                "done": [],
            ]
        ),
    ]

    @Test(arguments: rewritten)
    func `a removal within a record that the other side rewrote is made or reported`(
        base: Value,
        ours: Value,
        theirs: Value
    ) {
        for merge in [merge(base, ours, theirs), merge(base, theirs, ours)] {
            #expect(merge.value.unordered == ours.unordered)
            #expect(merge.conflicts.map(\.reason) == [.removedAndEdited])
        }
    }

    @Test func `a removal from a list that the other side makes one of records is reported`() {
        let base: Value = ["Buy milk", "Call mum", "Pay rent"]
        let records = Value.list(
            Value.List((base.list ?? []).map { ["text": $0, "done": false] })
        )
        let merge = merge(base, records, ["Buy milk", "Pay rent"])
        #expect(merge.conflicts.map(\.reason) == [.bothSet])
    }

    @Test func `two new entries of one title on two days are two`() {
        let first: Value = ["title": "Dentist", "date": "2024-05-07", "min": 30]
        let second: Value = ["title": "Dentist", "date": "2024-06-11", "min": 30]
        let run: Value = ["title": "Run", "date": "2024-05-01", "min": 45]
        let merge = merge([run], [run, first], [run, second])
        #expect(merge.value == [run, first, second])
        #expect(merge.conflicts.map(\.reason) == [.sameIdentity])
    }

    @Test func `a record with another name and nothing else of its own is another record`() {
        let (bread, milk, rye): (Value, Value, Value) = (
            ["name": "Bread", "n": 1], ["name": "Milk", "n": 1], ["name": "Rye", "n": 1]
        )
        let eggs: Value = ["name": "Eggs", "n": 6]
        let merge = merge([bread, milk, eggs], [milk, eggs, bread], [rye, milk, eggs])
        #expect(merge.value == [rye, milk, eggs] && merge.conflicts.isEmpty)
    }

    // MARK: - The same item on both sides

    private static let added: [(base: Value, ours: Value, theirs: Value, merged: Value)] = [
        (
            ["red", "green", "blue"], ["red", "green", "blue", "pink"], ["red", "green", "pink"],
            ["red", "green", "pink"]
        ),
        (["es6", "dom"], ["es2020", "dom"], ["es6", "dom", "es2020"], ["es2020", "dom"]),
        ([10, 11, 12], [10, 11, 12, 15], [10, 11, 15], [10, 11, 15]),
        (["b"], ["b", "x"], ["x"], ["x"]),
        (["a", "b", "c"], ["a", "d", "c"], ["a", "c", "d"], ["a", "d", "c"]),
        (
            ["alpha", "beta", "gamma"], ["alpha", "beta2", "gamma", "delta"],
            ["delta", "alpha", "beta", "gamma"], ["alpha", "beta2", "gamma", "delta"]
        ),
        (
            [["id": "a", "list": "h"], ["id": "b", "list": "h"]],
            [["id": "a", "list": "h"], ["id": "b", "list": "h"], ["id": "z", "list": "h"]],
            [["id": "a", "list": "h"], ["id": "z", "list": "h"]],
            [["id": "a", "list": "h"], ["id": "z", "list": "h"]]
        ),
        (
            [["1", "ann", "5"], ["2", "bob", "6"]],
            [["1", "ann", "5"], ["2", "bob", "6"], ["3", "cid", "7"]],
            [["1", "ann", "5"], ["3", "cid", "7"]], [["1", "ann", "5"], ["3", "cid", "7"]]
        ),
        (
            [1.5, "tea", "jam"], [1.5, "tea", "jam", "rye"], [1.5, "rye", "jam"],
            [1.5, "jam", "rye"]
        ),
    ]

    @Test func `a row keeps its cells, also where a side appends some`() {
        let merge = merge(
            ["P", "P", "A", "P"],
            ["P", "A", "A", "P"],
            ["L", "P", "A", "P", "P", "S"]
        )
        #expect(merge.value == ["L", "A", "A", "P", "P", "S"] && merge.conflicts.isEmpty)
    }

    @Test(arguments: added)
    func `an item that both sides put in is there once, whatever they do beside it`(
        base: Value,
        ours: Value,
        theirs: Value,
        merged: Value
    ) {
        let straight = merge(base, ours, theirs)
        #expect(straight.value == merged && straight.conflicts.isEmpty)
        let mirrored = merge(base, theirs, ours)
        #expect(mirrored.value.unordered == merged.unordered && mirrored.conflicts.isEmpty)
    }

    @Test func `under the rule union nothing is replaced, and nothing is there twice`() {
        var policy = MergePolicy()
        policy.set(.union, at: "/")
        for (ours, theirs, items) in [
            (["a", "x"], ["a", "b", "x"], ["a", "b", "x"]),
            (["b", "d"], ["a", "c"], ["a", "b", "c", "d"]),
        ] as [(Value, Value, Value)] {
            let merge = Merge(base: ["a", "b"], ours: ours, theirs: theirs, policy: policy)
            #expect(merge.value.unordered == items.unordered)
        }
    }

    // MARK: - Moved to two places

    @Test(arguments: [1, ["id": 1, "t": "milk"]] as [Value])
    func `a card that both sides move stands where ours has it, and is reported`(card: Value) {
        func board(_ todo: Value, _ doing: Value, _ done: Value) -> Value {
            [
                ["id": "todo", "cards": todo], ["id": "doing", "cards": doing],
                ["id": "done", "cards": done],
            ]
        }
        let merge = merge(
            board([card, 2], [4], [3]),
            board([2], [4, card], [3]),
            board([2], [4], [3, card])
        )
        #expect(merge.value == board([2], [4, card], [3]))
        #expect(merge.conflicts.map(\.reason) == [.bothMoved])
    }

    @Test(arguments: [
        (
            "Please call Anna about the offer for the flat today",
            "Please call today Anna about the offer for the flat",
            "Please call Anna today about the offer for the flat"
        ),
        (
            "Bring bread, cheese, wine and plates for all",
            "Bring bread, olives, cheese, wine and plates for all",
            "Bring bread, cheese, wine, olives and plates for all"
        ),
    ])
    func `a word that both sides put in different places stands once, and is reported`(
        base: String,
        ours: String,
        theirs: String
    ) {
        let merge = merge(.string(Key(base)), .string(Key(ours)), .string(Key(theirs)))
        #expect([ours, theirs].contains(merge.value.text) && merge.conflicts.count == 1)
    }
}
