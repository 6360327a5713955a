import Testing

@testable import GodwitTree

/// Items that take the places of others that went on to another list.
@Suite struct MergeSlotTests {
    private static let titles = [
        "Fix the login page", "Fix the search page", "Write the release notes", "Order new chairs",
    ]

    /// Kinds of cards: with a string as id, with a number, and with a title alone.
    enum Kind: CaseIterable {
        case uuids, numbers, titles
    }

    private func cards(_ kind: Kind) -> [Value] {
        Self.titles.enumerated().map { number, title in
            let text = Value.string(Key(title))
            return switch kind {
            case .uuids:
                ["id": .string(Key("9f0c-\(number)")), "title": text, "done": false]
            case .numbers: ["id": .int(Int64(number + 1)), "title": text, "done": false]
            case .titles: ["title": text, "done": false]
            }
        }
    }

    private func board(_ todo: [Value], _ doing: [Value], _ done: [Value]) -> Value {
        [
            "todo": .list(Value.List(todo)), "doing": .list(Value.List(doing)),
            "done": .list(Value.List(done)),
        ]
    }

    private func ticked(_ card: Value) -> Value {
        guard case .map(var map) = card else { return card }
        map["done"] = true
        return .map(map)
    }

    @Test(arguments: Kind.allCases, [false, true])
    func `an edit follows its card when another card takes its place`(
        _ kind: Kind,
        isMirrored: Bool
    ) {
        let cards = cards(kind)
        let (login, search, rest) = (cards[0], cards[1], Array(cards[2...]))
        let base = board([login], [search] + rest, [])
        let moved = board([], [login] + rest, [search])
        let edited = board([login], [ticked(search)] + rest, [])
        let merge = isMirrored ? merge(base, edited, moved) : merge(base, moved, edited)
        #expect(merge.value == board([], [login] + rest, [ticked(search)]))
        #expect(merge.conflicts.isEmpty)
    }

    @Test(arguments: Kind.allCases, [false, true])
    func `an edit of the card that takes a place goes along too`(
        _ kind: Kind,
        isMirrored: Bool
    ) {
        let cards = cards(kind)
        let (login, search, rest) = (cards[0], cards[1], Array(cards[2...]))
        let base = board([login], [search] + rest, [])
        let moved = board([], [login] + rest, [search])
        let edited = board([ticked(login)], [search] + rest, [])
        let merge = isMirrored ? merge(base, edited, moved) : merge(base, moved, edited)
        #expect(merge.value == board([], [ticked(login)] + rest, [search]))
        #expect(merge.conflicts.isEmpty)
    }

    @Test(arguments: Kind.allCases)
    func `a card in the place of one that is removed takes no edit of it`(_ kind: Kind) {
        let cards = cards(kind)
        let (login, search, rest) = (cards[0], cards[1], Array(cards[2...]))
        let base = board([login], [search] + rest, [])
        let merge = merge(
            base,
            board([], [login] + rest, []),
            board([login], [ticked(search)] + rest, [])
        )
        // An edit beats a removal, and the report says so.
        #expect(merge.conflicts.map(\.reason) == [.removedAndEdited])
        guard case .list(let doing)? = merge.value["doing"] else {
            Issue.record("no list")
            return
        }
        #expect(doing.contains(login))
        #expect(doing.contains(ticked(search)))
        #expect(merge.value["todo"] == [])
    }

    @Test(arguments: Kind.allCases, [false, true])
    func `a card that one side moves and the other moves and edits is there once`(
        _ kind: Kind,
        isMirrored: Bool
    ) {
        let cards = cards(kind)
        let (login, search) = (cards[0], cards[1])
        let base = board([login], [search], [])
        let moved = board([], [login], [search])
        let edited = board([], [ticked(login)], [])
        let merge = isMirrored ? merge(base, edited, moved) : merge(base, moved, edited)
        #expect(merge.value == board([], [ticked(login)], [search]))
        // One side moved the other card, and the other side removed it.
        #expect(merge.conflicts.map(\.reason) == [.removedAndEdited])
    }
}

/// Rows that begin with a text, and lists in new items.
extension MergeSlotTests {
    @Test func `an edit of a number stays in the row that begins with its text`() {
        let merge = merge(
            [["milk", 1, 3], ["bread", 0, 2], ["salt", 2, 3]],
            [["milk", 1, 3], ["tea", 0, 2], ["bread", 41, 2], ["salt", 2, 3]],
            [["milk", 1, 3], ["bread", 0, 49], ["salt", 2, 3]]
        )
        #expect(
            merge.value == [["milk", 1, 3], ["tea", 0, 2], ["bread", 41, 49], ["salt", 2, 3]]
        )
    }

    @Test func `a value that becomes a field of an item of a new list stays there`() {
        let person: Value = ["id": "p1", "name": "Ann", "phone": "+44 20 7946 0000"]
        let base: Value = ["people": [person], "guests": []]
        let ours: Value = ["people": [], "guests": [person]]
        let theirs: Value = [
            "people": [], "guests": [], "teams": [["title": "First team", "lead": person]],
        ]
        let merge = merge(base, ours, theirs)
        #expect(
            merge.value == [
                "people": [], "guests": [], "teams": [["title": "First team", "lead": person]],
            ]
        )
        #expect(merge.conflicts.map(\.reason) == [.bothMoved])
    }
}

/// Edits that look like another item in the place, and are none.
extension MergeSlotTests {
    @Test func `an item whose old version is kept elsewhere stays one item`() {
        let spring: Value = ["title": "Launch plan for spring", "body": "We start in May."]
        let merge = merge(
            ["items": [spring], "history": []],
            [
                "items": [["title": "Launch plan for summer", "body": "We start in May."]],
                "history": [spring],
            ],
            [
                "items": [["title": "Launch plan for spring", "body": "We start in June."]],
                "history": [],
            ]
        )
        #expect(
            merge.value == [
                "items": [["title": "Launch plan for summer", "body": "We start in June."]],
                "history": [spring],
            ]
        )
    }

    @Test func `two versions that go up one after the other are reported`() {
        let merge = merge(
            ["staging": ["registry/app:1.3.0"], "production": ["registry/app:1.2.0"]],
            ["staging": ["registry/app:1.4.0"], "production": ["registry/app:1.3.0"]],
            ["staging": ["registry/app:1.3.1"], "production": ["registry/app:1.2.0"]]
        )
        #expect(merge.value["production"] == ["registry/app:1.3.0"])
        #expect(merge.value["staging"]?.list?.contains("registry/app:1.4.0") == true)
        #expect(merge.conflicts.count == 1)
    }

    @Test func `an item that is set whole, and keeps its id, goes with the other side's move`()
        throws
    {
        let items: [Value] = ["x", "y", "z"].map { ["id": $0, "text": "one two three"] }
        let done: Value = ["id": "x", "text": "one two three", "done": true]
        let base: Value = .list(Value.List(items))
        let whole = try Delta.list(
            ListDelta(edits: [ListDelta.Edit(position: 0, delta: .set(done))])
        )
        let move = try Delta.list(ListDelta(moves: [ListDelta.Move(source: 0, target: 2)]))
        let merge = try Merge(base: base, ours: whole, theirs: move)
        #expect(merge.value == [items[1], items[2], done])
        #expect(merge.conflicts.isEmpty)
    }

    @Test func `an edit stays with its record when ids are given anew`() {
        let merge = merge(
            [
                "a": [["id": "1", "text": "Buy milk for the party"]],
                "b": [["id": "2", "text": "Buy bread for the party"]],
            ],
            [
                "a": [["id": "2", "text": "Buy milk for the party"]],
                "b": [["id": "3", "text": "Buy bread for the party"]],
            ],
            [
                "a": [["id": "1", "text": "Buy milk for the party"]],
                "b": [["id": "2", "text": "Buy bread for the party", "done": true]],
            ]
        )
        #expect(merge.value["a"] == [["id": "2", "text": "Buy milk for the party"]])
        #expect(merge.value["b"] == [["id": "3", "text": "Buy bread for the party", "done": true]])
    }

    @Test func `a declared identity says which item it is`() {
        let old: Value = ["email": "ann@example.org", "name": "Ann Lee"]
        let new: Value = ["email": "ann@example.org", "name": "Ann Ray"]
        let base: Value = ["members": [old], "log": []]
        let ours: Value = ["members": [new], "log": [old]]
        var policy = MergePolicy()
        policy.identify(by: "email", at: "/members")
        policy.set(.union, at: "/members")
        #expect(Merge(base: base, ours: ours, theirs: base, policy: policy).value == ours)
    }

    @Test func `items with a rule are merged where they are`() {
        let (ann, bob): (Value, Value) = (["name": "Ann"], ["name": "Bob"])
        var policy = MergePolicy()
        policy.set(.ours, at: "/first/*")
        let merge = Merge(
            base: ["first": [ann], "second": [bob]],
            ours: ["first": [["name": "Bob", "age": 7]], "second": []],
            theirs: ["first": [["name": "Ann", "age": 8]], "second": [bob]],
            policy: policy
        )
        #expect(merge.value == ["first": [["name": "Bob", "age": 7]], "second": []])
        #expect(merge.conflicts.isEmpty)
    }

    @Test func `what both sides add to an item adds up while it is renamed`() throws {
        let base: Value = ["todo": [["title": "Fix the login page", "votes": 3]], "done": []]
        var deltas = Sides(both: Delta.keep)
        for side in Side.allCases {
            var value = base
            deltas[side] = try value.edit { draft in
                draft.done.list.append(["title": "Fix the login page", "votes": 3])
                draft.todo[0].title = "Fix the search page"
                draft.todo[0].votes += 1
            }
        }
        let merge = try Merge(base: base, ours: deltas.ours, theirs: deltas.theirs)
        #expect(merge.value["todo"] == [["title": "Fix the search page", "votes": 5]])
    }

    @Test func `one text that two sides rename differently is one item, and reported`() {
        let merge = merge(
            [["title": "buy milk", "done": false]],
            [["title": "buy oat milk", "done": false]],
            [["title": "buy soy milk", "done": false]]
        )
        #expect(merge.value.list?.count == 1)
        #expect(merge.conflicts.count == 1)
    }

    @Test func `a row that begins with a category is found by what else it says`() {
        let base: Value = [
            ["todo", "Buy paint", "Bob", 1], ["todo", "Fix the login page", "Ann", 2],
            ["done", "Order new chairs", "Bob", 3],
        ]
        let ours: Value = [
            ["todo", "Buy paint", "Bob", 1], ["done", "Fix the login page", "Ann", 2],
            ["todo", "Write release notes", "Ann", 2], ["done", "Order new chairs", "Bob", 3],
        ]
        let theirs: Value = [
            ["todo", "Buy paint", "Bob", 1], ["todo", "Fix the login page", "Ann", 5],
            ["done", "Order new chairs", "Bob", 3],
        ]
        #expect(
            merge(base, ours, theirs).value == [
                ["todo", "Buy paint", "Bob", 1], ["done", "Fix the login page", "Ann", 5],
                ["todo", "Write release notes", "Ann", 2], ["done", "Order new chairs", "Bob", 3],
            ]
        )
    }
}

/// Places that stay what they are while what stands in them changes.
extension MergeSlotTests {
    @Test func `cells of a table stay in their columns`() {
        func row(_ cells: String...) -> Value { .list(Value.List(cells.map { .string(Key($0)) })) }
        let merge = merge(
            [
                row("Mon", "ann.lee@example.org", "Room 4"),
                row("Tue", "bob.ray@example.org", "Room 4"),
                row("Wed", "cid.fox@example.org", "Room 4"),
            ],
            [
                row("Mon", "bob.ray@example.org", "Room 4"),
                row("Tue", "ann.lee@example.org", "Room 4"),
                row("Wed", "cid.fox@example.org", "Room 4"),
            ],
            [
                row("Mon", "Kitchen", "ann.lee@example.org", "Room 4"),
                row("Tue", "Garden", "bob.ray@example.org", "Room 4"),
                row("Wed", "Hall", "cid.fox@example.org", "Room 4"),
            ]
        )
        #expect(
            merge.value == [
                row("Mon", "Kitchen", "bob.ray@example.org", "Room 4"),
                row("Tue", "Garden", "ann.lee@example.org", "Room 4"),
                row("Wed", "Hall", "cid.fox@example.org", "Room 4"),
            ]
        )
    }

    @Test func `a row is found again when the times before it move on`() {
        let merge = merge(
            [
                ["09:00", "Team standup", "Room 1"], ["10:00", "Sprint retro", "Room 1"],
                ["11:00", "Client demo", "Room 1"],
            ],
            [
                ["09:00", "Sprint planning", "Room 1"], ["10:00", "Team standup", "Room 1"],
                ["11:00", "Sprint retro", "Room 1"], ["12:00", "Client demo", "Room 1"],
            ],
            [
                ["09:00", "Team standup", "Room 1"], ["10:00", "Sprint retro", "Room 2"],
                ["11:00", "Client demo", "Room 1"],
            ]
        )
        #expect(merge.value.list?.contains(["11:00", "Sprint retro", "Room 2"]) == true)
        #expect(merge.value.list?.contains(["10:00", "Team standup", "Room 1"]) == true)
    }

    @Test(arguments: Kind.allCases)
    func `an edit follows its card when lists are set whole`(_ kind: Kind) throws {
        let cards = cards(kind)
        var value = board([cards[0]], [cards[1]], [])
        let base = value
        let moved = try value.edit {
            $0.todo = Value.list([])
            $0.doing = Value.list([cards[0]])
            $0.done = Value.list([cards[1]])
        }
        value = base
        let edited = try value.edit { $0.doing[0].done = true }
        let merge = try Merge(base: base, ours: moved, theirs: edited)
        #expect(merge.value == board([], [cards[0]], [ticked(cards[1])]))
    }

    @Test func `an edit of a shift stays with the shift when people swap`() {
        func shift(_ shift: String, _ name: String, _ start: String) -> Value {
            [
                "shift": .string(Key(shift)), "name": .string(Key(name)),
                "start": .string(Key(start)),
            ]
        }
        let merge = merge(
            [
                "mon": [shift("early", "Ann", "09:00"), shift("late", "Cid", "14:00")],
                "tue": [shift("early", "Bob", "09:00"), shift("late", "Dan", "14:00")],
            ],
            [
                "mon": [shift("early", "Bob", "09:00"), shift("late", "Cid", "14:00")],
                "tue": [shift("early", "Ann", "09:00"), shift("late", "Dan", "14:00")],
            ],
            [
                "mon": [shift("early", "Ann", "10:00"), shift("late", "Cid", "14:00")],
                "tue": [shift("early", "Bob", "09:00"), shift("late", "Dan", "14:00")],
            ]
        )
        #expect(
            merge.value == [
                "mon": [shift("early", "Bob", "10:00"), shift("late", "Cid", "14:00")],
                "tue": [shift("early", "Ann", "09:00"), shift("late", "Dan", "14:00")],
            ]
        )
    }
}
