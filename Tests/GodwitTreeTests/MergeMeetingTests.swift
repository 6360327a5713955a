import GodwitTestKit
import Testing

@testable import GodwitTree

/// Values that both sides move to one place, or to a place that is new.
@Suite struct MergeMeetingTests {
    /// The value of a merge that both orders of the sides agree on.
    private func merged(_ base: Value, _ ours: Value, _ theirs: Value) -> Value? {
        let merge = Merge(base: base, ours: ours, theirs: theirs)
        let other = Merge(base: base, ours: theirs, theirs: ours)
        #expect(merge.value.unordered == other.value.unordered)
        let conflicts = (merge.conflicts + other.conflicts).filter { !$0.isNotice }
        #expect(conflicts.isEmpty)
        return merge.value
    }

    private static let card: Value = [
        "id": "c1", "title": "Fix login", "who": "ann", "points": 3, "labels": ["bug", "ui"],
        "steps": [["text": "patch", "done": false], ["text": "test", "done": false]],
    ]

    private func card(_ changes: [(Key, Value)]) -> Value {
        var card = Self.card.map ?? [:]
        for (key, value) in changes { card[key] = value }
        return .map(card)
    }

    @Test func `edits meet in a card that both sides move to one list`() {
        let base: Value = ["todo": [Self.card], "done": []]
        func moved(_ changes: (Key, Value)...) -> Value { ["todo": [], "done": [card(changes)]] }
        let ticked: Value = [["text": "patch", "done": true], ["text": "test", "done": false]]
        #expect(merged(base, moved(), moved(("steps", ticked))) == moved(("steps", ticked)))
        #expect(merged(base, moved(), moved(("labels", ["ui"]))) == moved(("labels", ["ui"])))
        #expect(merged(base, moved(), moved(("who", "zoe"))) == moved(("who", "zoe")))
        let both = moved(("who", "zoe"), ("points", 5))
        #expect(merged(base, moved(("who", "zoe")), moved(("points", 5))) == both)
    }

    @Test func `both edits of a card that both sides move are reported where they meet`() {
        let base: Value = ["todo": [Self.card], "done": []]
        func moved(_ who: Value) -> Value { ["todo": [], "done": [card([("who", who)])]] }
        let merge = Merge(base: base, ours: moved("zoe"), theirs: moved("ben"))
        #expect(merge.conflicts.map(\.reason) == [.bothSet])
        #expect(merge.conflicts.first?.base == "ann")
        #expect(
            merge.conflicts.first?.path == ValuePath([.key("todo"), .position(0), .key("who")])
        )
    }

    @Test func `edits meet under a key that both sides rename`() {
        let run: Value = ["run": "npm test"]
        func job(_ name: Key, _ step: Value) -> Value {
            ["jobs": .map([name: ["steps": [["run": "npm ci"], step]]])]
        }
        let changed: Value = ["run": "npm run test:ci"]
        #expect(
            merged(job("build", run), job("test", run), job("test", changed))
                == job("test", changed)
        )
        #expect(
            merged(
                ["db": ["host": "localhost", "port": 5432, "debug": true]],
                ["database": ["host": "localhost", "port": 5432, "debug": true]],
                ["database": ["host": "localhost", "port": 5432]]
            ) == ["database": ["host": "localhost", "port": 5432]]
        )
        func item(_ text: String, _ isDone: Bool) -> Value {
            ["text": .string(Key(text)), "done": .bool(isDone)]
        }
        let (milk, rent) = (item("Buy milk", false), item("Pay the rent", false))
        let bread = item("Buy bread", false)
        #expect(
            merged(
                ["items": [milk, rent]],
                ["tasks": [item("Buy milk", true), rent]],
                ["tasks": [milk, rent, bread]]
            ) == ["tasks": [item("Buy milk", true), rent, bread]]
        )
    }

    @Test func `new values under one key that no removed one is like both begin empty`() {
        let base: Value = ["theme": ["color": "red", "size": 3]]
        let ours: Value = ["server": ["host": "alpha"]]
        let theirs: Value = ["server": ["port": 80]]
        #expect(merged(base, ours, theirs) == ["server": ["host": "alpha", "port": 80]])
    }

    private func hours(_ open: Value, _ close: Value = "17:00") -> Value {
        ["open": open, "close": close]
    }

    @Test
    func `an edit that makes a value equal to another one stays, though both rename the keys`() {
        let (nine, ten) = (hours("09:00"), hours("10:00"))
        let base: Value = ["mon": nine, "tue": ten]
        let renamed: Value = ["monday": nine, "tuesday": ten]
        #expect(
            merged(base, renamed, ["monday": nine, "tuesday": nine]) == [
                "monday": nine, "tuesday": nine,
            ]
        )
        #expect(
            merged(
                base,
                ["week": ["monday": nine, "tuesday": ten]],
                ["week": ["monday": nine, "tuesday": nine]]
            ) == ["week": ["monday": nine, "tuesday": nine]]
        )
        #expect(
            merged(
                ["mon": nine, "tue": nine],
                ["monday": nine, "tuesday": nine],
                ["monday": nine, "tuesday": ten]
            ) == ["monday": nine, "tuesday": ten]
        )
        #expect(
            merged(
                base,
                ["monday": nine, "tuesday": hours("09:00")],
                ["monday": nine, "tuesday": hours("10:00", "18:00")]
            ) == ["monday": nine, "tuesday": hours("09:00", "18:00")]
        )
        // Which of the two it was is not to be told.
        let merge = Merge(base: base, ours: ["tuesday": ten], theirs: ["tuesday": nine])
        #expect(merge.conflicts.contains { !$0.isNotice })
    }

    @Test func `an edit of a removed record does not land on one that moved`() {
        func chore(_ who: Value, _ minutes: Int64) -> Value {
            ["task": "Dishes", "who": who, "min": .int(minutes)]
        }
        func week(_ monday: Value, _ tuesday: Value, _ wednesday: Value) -> Value {
            ["mon": monday, "tue": tuesday, "wed": wednesday]
        }
        let merge = Merge(
            base: week([chore("Ann", 10)], [chore("Ann", 20)], []),
            ours: week([], [], [chore("Ann", 20)]),
            theirs: week([chore("Bob", 10)], [chore("Ann", 20)], [])
        )
        #expect(merge.value["wed"] == [chore("Ann", 20)])
        #expect(merge.conflicts.map(\.reason) == [.removedAndEdited])

        let renamed = Merge(
            base: ["a": chore("Bob", 40), "b": chore("Bob", 10)],
            ours: ["A": chore("Dora", 40), "B": chore("Bob", 10)],
            theirs: [
                "a": ["task": "Dishes", "who": "Bob", "min": 40, "note": "x"],
                "b": chore("Bob", 10),
            ]
        )
        #expect(renamed.value["B"] == chore("Bob", 10))
    }

    @Test func `an item that moves into a list that the other side renames is there once`() {
        let list: [Value] = ["Bread", "Eggs", "Salt"]
        let (shop, more) = (Value.list(Value.List(list)), Value.list(Value.List(list + ["Milk"])))
        let both = Merge(
            base: ["shop": shop, "later": ["Milk"], "done": []],
            ours: ["store": shop, "later": [], "done": ["Milk"]],
            theirs: ["shop": more, "later": [], "done": []]
        )
        #expect(both.value == ["store": shop, "later": [], "done": ["Milk"]])
        #expect(both.conflicts.map(\.reason) == [.bothMoved])

        func card(_ id: Value, _ owner: Value) -> Value {
            ["id": id, "title": "Paint the fence", "owner": owner]
        }
        let (first, second) = (card("a", "ann"), card("b", "ann"))
        #expect(
            merged(
                ["Todo": [first, second], "Doing": [card("d", "ann")]],
                ["Backlog": [first, second], "Doing": [card("d", "bob")]],
                ["Todo": [first, second, card("d", "ann")], "Doing": []]
            ) == ["Backlog": [first, second, card("d", "bob")], "Doing": []]
        )
    }

    @Test func `edits meet in a small record without an id that both sides move to one list`() {
        func milk(_ isDone: Bool, _ changes: (Key, Value)...) -> Value {
            var milk: Value.Map = ["text": "Milk", "done": .bool(isDone)]
            for (key, value) in changes { milk[key] = value }
            return .map(milk)
        }
        let bread: Value = ["text": "Bread", "done": true]
        func lists(_ todo: Value, _ done: Value...) -> Value {
            ["todo": todo, "done": .list(Value.List([bread] + done))]
        }
        let base = lists([milk(false)])
        #expect(
            merged(base, lists([], milk(false)), lists([], milk(true))) == lists([], milk(true))
        )
        #expect(
            merged(base, lists([], milk(true)), lists([], milk(true, ("at", "Mon"))))
                == lists([], milk(true, ("at", "Mon")))
        )
        #expect(
            merged(base, lists([], milk(false, ("n", 2))), lists([], milk(false, ("at", "Mon"))))
                == lists([], milk(false, ("n", 2), ("at", "Mon")))
        )
    }

    @Test func `a part that both sides take out of a record that one moves is there once`() {
        let lamp: Value = ["id": "b4", "title": "Replace lamp"]
        func parent(_ parts: Value) -> Value { ["id": "a3", "title": "Measure", "sub": parts] }
        let merge = Merge(
            base: ["todo": [parent([lamp])], "doing": [], "done": []],
            ours: ["todo": [lamp], "doing": [parent([])], "done": []],
            theirs: ["todo": [parent([])], "doing": [], "done": [lamp]]
        )
        #expect(merge.value == ["todo": [lamp], "doing": [parent([])], "done": []])
        #expect(merge.conflicts.map(\.reason) == [.bothMoved])
    }

    private static let orders: [Value] = [
        ["id": "o1", "customer": "Ann", "items": ["pen", "cup"]],
        ["id": "o2", "customer": "Bob", "items": ["bag"]],
    ]

    @Test(arguments: ["archive", "folder"])
    func `a record that moves to a new container, with an edit, takes the other side's along`(
        kind: String
    ) {
        let orders = Self.orders
        func archived(_ order: Value) -> Value {
            let order = Value.list([["id": "o0", "customer": "Eve", "items": ["hat"]], order])
            return kind == "archive"
                ? ["orders": [orders[1]], "archive": order]
                : ["orders": [orders[1]], "years": [["name": "2026", "closed": order]]]
        }
        func order(_ items: Value) -> Value {
            ["id": "o1", "customer": "Ann", "items": items, "closed": "2026-03-01"]
        }
        let base: Value =
            kind == "archive"
            ? ["orders": .list(Value.List(orders))]
            : ["orders": .list(Value.List(orders)), "years": []]
        func edited(_ change: (inout Value.Map) -> Void) -> Value {
            var first = orders[0].map ?? [:]
            change(&first)
            var edited = base.map ?? [:]
            edited["orders"] = [.map(first), orders[1]]
            return .map(edited)
        }
        let withoutCup = edited { $0["items"] = ["pen"] }
        let ours = archived(order(["pen", "cup"]))
        #expect(merged(base, ours, withoutCup) == archived(order(["pen"])))

        let renamed = edited { $0["customer"] = "Anna" }
        let wanted: Value = [
            "id": "o1", "customer": "Anna", "items": ["pen", "cup"], "closed": "2026-03-01",
        ]
        #expect(merged(base, ours, renamed) == archived(wanted))

        var removed = base.map ?? [:]
        removed["orders"] = [orders[1]]
        let merge = Merge(base: base, ours: ours, theirs: .map(removed))
        #expect(merge.value == ours && merge.conflicts.contains { !$0.isNotice })
    }

    @Test func `several records move to one new list, some of them edited`() {
        let base: Value = ["orders": .list(Value.List(Self.orders))]
        let ours: Value = [
            "orders": [],
            "archive": [
                ["id": "o1", "customer": "Ann", "items": ["pen", "cup"], "closed": true],
                Self.orders[1],
            ],
        ]
        let theirs: Value = [
            "orders": [
                ["id": "o1", "customer": "Ann", "items": ["pen", "cup", "hat"]],
                ["id": "o2", "customer": "Bob", "items": ["bag", "box"]],
            ]
        ]
        let wanted: Value = [
            "orders": [],
            "archive": [
                ["id": "o1", "customer": "Ann", "items": ["pen", "cup", "hat"], "closed": true],
                ["id": "o2", "customer": "Bob", "items": ["bag", "box"]],
            ],
        ]
        #expect(merged(base, ours, theirs) == wanted)
    }

    @Test func `a card with a number is found again by its title`() {
        func board(_ todo: Value, _ doing: Value) -> Value { ["todo": todo, "doing": doing] }
        let rent: Value = ["id": 6, "title": "Pay the rent", "who": "Ann"]
        let kitchen: Value = ["id": 5, "title": "Clean the kitchen", "who": .null]
        let assigned: Value = ["id": 5, "title": "Clean the kitchen", "who": "Ben"]
        let labelled: Value = [
            "id": 5, "title": "Clean the kitchen", "who": .null, "labels": ["home"],
        ]
        let both: Value = [
            "id": 5, "title": "Clean the kitchen", "who": "Ben", "labels": ["home"],
        ]
        #expect(
            merged(
                board([kitchen, rent], []),
                board([rent], [assigned]),
                board([labelled, rent], [])
            ) == board([rent], [both])
        )
    }

    /// The orders from one on, each with changes.
    private func orders(_ count: Int, _ change: (Int, inout Value.Map) -> Void) -> Value {
        .list(
            Value.List(
                (0..<count).map { number in
                    var order: Value.Map = [
                        "id": .string(Key("order-\(number)")), "items": ["pen", "cup"],
                        "customer": .string(Key("customer \(number) of all")),
                    ]
                    change(number, &order)
                    return .map(order)
                }
            )
        )
    }

    @Test(arguments: [false, true])
    func `many edited records that move cost in proportion to them`(isByBoth: Bool) {
        func merge(_ count: Int) -> () -> Merge {
            func close(_ number: Int, _ order: inout Value.Map) {
                if !number.isMultiple(of: 3) { order["closed"] = true }
            }
            func empty(_ number: Int, _ order: inout Value.Map) { order["items"] = ["pen"] }
            let open = orders(count) { _, _ in }
            let base: Value = ["orders": open, "done": []]
            let ours: Value =
                isByBoth
                ? ["orders": [], "done": orders(count, close)]
                : ["orders": [], "done": [], "archive": ["closed": orders(count, close)]]
            let theirs: Value =
                isByBoth
                ? ["orders": [], "done": orders(count, empty)]
                : ["orders": orders(count, empty), "done": []]
            return { Merge(base: base, ours: ours, theirs: theirs) }
        }
        let merged = merge(9)().value
        let list = isByBoth ? merged["done"] : merged["archive"]?["closed"]
        #expect(
            list
                == orders(9) { number, order in
                    order["items"] = ["pen"]
                    if !number.isMultiple(of: 3) { order["closed"] = true }
                }
        )
        let (small, large) = (merge(1_000), merge(4_000))
        let cost = CostRatio(small: { _ = small() }, large: { _ = large() })
        #expect(cost.isLinear, "\(cost)")
    }

    @Test func `an item that one side moved and reworded and the other removed is reported`() throws
    {
        try expectMerge(
            #"["Buy milk","Call the bank","Pay the rent","Water plants"]"#,
            #"["Pay the rent today","Buy milk","Call the bank","Water plants"]"#,
            #"["Buy milk","Call the bank","Water plants"]"#,
            gives: #"["Pay the rent today","Buy milk","Call the bank","Water plants"]"#,
            isTold: true
        )
        let (bob, cyd, dan) = (
            #"{"name":"Bob Elk","street":"Elm 2","zip":"20002"}"#,
            #"{"name":"Cyd Ash","street":"Fir 3","zip":"30003"}"#,
            #"{"name":"Dan Fox","street":"Ash 4","zip":"40004"}"#
        )
        let renamed = #"{"name":"Cyd Stone","street":"Fir 3","zip":"30003"}"#
        try expectMerge(
            "[\(bob),\(cyd),\(dan)]",
            "[\(bob),\(dan),\(renamed)]",
            "[\(bob),\(dan)]",
            gives: "[\(bob),\(dan),\(renamed)]",
            isTold: true
        )
    }
}
