import Testing

@testable import GodwitTree

/// Items that change while they take the places of others, and places where it cannot be told.
@Suite struct MergeTurnoverTests {
    private func card(_ id: Value?, _ title: String, _ status: String, _ owner: String) -> Value {
        var fields: Value.Map = [
            "title": .string(Key(title)), "status": .string(Key(status)),
            "owner": .string(Key(owner)), "done": false,
        ]
        fields["id"] = id
        return .map(fields)
    }

    private func pushed(_ first: Value?, _ second: Value?) -> Merge {
        merge(
            [
                "todo": [card(first, "Fix the login page", "todo", "Ann")],
                "doing": [card(second, "Fix the search page", "doing", "Ann")], "done": [],
            ],
            [
                "todo": [], "doing": [card(first, "Fix the login page", "doing", "Ann")],
                "done": [card(second, "Fix the search page", "done", "Ann")],
            ],
            [
                "todo": [card(first, "Fix the login page", "todo", "Ann")],
                "doing": [card(second, "Fix the search page", "doing", "Bob")], "done": [],
            ]
        )
    }

    @Test func `an edit follows a card that is told by its id, and changes while it moves`() {
        let merge = pushed("c1", "c2")
        #expect(
            merge.value == [
                "todo": [], "doing": [card("c1", "Fix the login page", "doing", "Ann")],
                "done": [card("c2", "Fix the search page", "done", "Bob")],
            ]
        )
        #expect(merge.conflicts.isEmpty)
    }

    @Test(arguments: [nil, true])
    func `an edit of a card that may be another one now is reported`(hasNumber: Bool?) {
        let isNumbered = hasNumber == true
        let merge = pushed(isNumbered ? 1 : nil, isNumbered ? 2 : nil)
        #expect(!merge.conflicts.isEmpty)
    }

    @Test(arguments: [false, true])
    func `an edit of an environment does not follow the version that is promoted`(isMirrored: Bool)
    {
        func app(_ version: String, _ digest: String, _ replicas: Int64) -> Value {
            [
                "image": .string(Key("registry/app:" + version)), "digest": .string(Key(digest)),
                "replicas": .int(replicas),
            ]
        }
        let base: Value = [
            "staging": [app("1.3.0", "sha256:c", 2)], "production": [app("1.2.0", "sha256:b", 2)],
        ]
        let promoted: Value = [
            "staging": [app("1.4.0", "sha256:d", 2)], "production": [app("1.3.0", "sha256:c", 2)],
        ]
        let scaled: Value = [
            "staging": [app("1.3.0", "sha256:c", 3)], "production": [app("1.2.0", "sha256:b", 2)],
        ]
        let merge = isMirrored ? merge(base, scaled, promoted) : merge(base, promoted, scaled)
        #expect(merge.value == promoted)
        #expect(merge.conflicts.map(\.reason) == [.replacedAndEdited])
    }

    @Test func `cards that change places are told by their ids, whatever tells the places`() {
        func card(_ id: String, _ title: String, _ place: String, done: Bool = false) -> Value {
            [
                "id": .string(Key(id)), "title": .string(Key(title)), "pos": .string(Key(place)),
                "done": .bool(done),
            ]
        }
        func board(_ first: Value, _ second: Value) -> Value {
            [
                "todo": [first, card("c3", "Order new chairs", "a1")],
                "doing": [second, card("c4", "Write release notes", "a1")],
            ]
        }
        let (login, search) = (card("c1", "Fix the login page", "a0"), "Fix the search page")
        let merge = merge(
            board(login, card("c2", search, "a0")),
            board(card("c2", search, "a0"), login),
            board(login, card("c2", search, "a0", done: true))
        )
        #expect(merge.value == board(card("c2", search, "a0", done: true), login))
        #expect(merge.conflicts.isEmpty)
    }

    @Test func `an edit of a shift at an hour does not follow its person`() {
        func shift(_ hour: Int64, _ name: String, _ room: Int64) -> Value {
            ["hour": .int(hour), "name": .string(Key(name)), "room": .int(room)]
        }
        let swapped: Value = [
            "mon": [shift(9, "Bob", 1), shift(14, "Cid", 2)],
            "tue": [shift(9, "Ann", 1), shift(14, "Dan", 2)],
        ]
        let merge = merge(
            [
                "mon": [shift(9, "Ann", 1), shift(14, "Cid", 2)],
                "tue": [shift(9, "Bob", 1), shift(14, "Dan", 2)],
            ],
            swapped,
            [
                "mon": [shift(9, "Ann", 3), shift(14, "Cid", 2)],
                "tue": [shift(9, "Bob", 1), shift(14, "Dan", 2)],
            ]
        )
        #expect(merge.value == swapped)
        #expect(merge.conflicts.map(\.reason) == [.replacedAndEdited])
    }

    @Test func `a row of a long table keeps the edit that belongs to its text`() {
        var base: [Value] = (0..<100).map { [.string(Key("r\($0)")), .int($0), .int(3 + $0)] }
        base[40] = ["bread", 0, 2]
        var (ours, theirs) = (base, base)
        ours[0] = ["r0", 7, 3]
        ours[40] = ["bread", 41, 2]
        ours[99] = ["r99", 5, 5]
        ours.insert(["tea", 0, 2], at: 40)
        theirs[40] = ["bread", 0, 49]
        var wanted = ours
        wanted[41] = ["bread", 41, 49]
        func table(_ rows: [Value]) -> Value { .list(Value.List(rows)) }
        let merge = merge(table(base), table(ours), table(theirs))
        #expect(merge.value == table(wanted))
    }

    /// Boards of a publisher: each card has the stage of its list.
    private func card(_ id: String, _ title: String, in stage: String, _ owner: String) -> Value {
        [
            "id": .string(Key(id)), "title": .string(Key(title)), "stage": .string(Key(stage)),
            "owner": .string(Key(owner)),
        ]
    }

    private func chapter(_ number: Int, in stage: String, _ owner: String = "Ann") -> Value {
        card("c\(number)", "Proofread chapter \(number) of the handbook", in: stage, owner)
    }

    @Test(arguments: [false, true])
    func `a card with the title of another one is told by its id`(isMirrored: Bool) {
        func report(_ id: String, _ owner: String) -> Value {
            ["id": .string(Key(id)), "title": "Weekly report", "owner": .string(Key(owner))]
        }
        let base: Value = [
            "todo": [report("w2", "Ann")], "doing": [report("w1", "Ann")], "done": [],
        ]
        let moved: Value = [
            "todo": [], "doing": [report("w2", "Ann")], "done": [report("w1", "Ann")],
        ]
        let edited: Value = [
            "todo": [report("w2", "Ann")], "doing": [report("w1", "Bob")], "done": [],
        ]
        let merge = isMirrored ? merge(base, edited, moved) : merge(base, moved, edited)
        #expect(
            merge.value == [
                "todo": [], "doing": [report("w2", "Ann")], "done": [report("w1", "Bob")],
            ]
        )
        #expect(merge.conflicts.isEmpty)
    }

    @Test func `an edit follows a card that moves on when one like it comes after`() {
        let merge = merge(
            ["editing": [chapter(4, in: "editing")], "proof": []],
            ["editing": [chapter(5, in: "editing")], "proof": [chapter(4, in: "proof")]],
            ["editing": [chapter(4, in: "editing", "Bob")], "proof": []]
        )
        #expect(
            merge.value == [
                "editing": [chapter(5, in: "editing")], "proof": [chapter(4, in: "proof", "Bob")],
            ]
        )
        // It may have been copied.
        #expect(merge.conflicts.map(\.reason) == [.bothChangedRecord])
    }

    @Test func `no card gets the name of another one where the other side moves it`() {
        let merge = merge(
            [
                "writing": [chapter(5, in: "writing")], "editing": [chapter(4, in: "editing")],
                "proof": [], "blocked": [],
            ],
            [
                "writing": [chapter(6, in: "writing")], "editing": [chapter(5, in: "editing")],
                "proof": [chapter(4, in: "proof")], "blocked": [],
            ],
            [
                "writing": [chapter(5, in: "writing")], "editing": [], "proof": [],
                "blocked": [chapter(4, in: "blocked", "Bob")],
            ]
        )
        #expect(merge.value["writing"] == [chapter(6, in: "writing")])
        #expect(merge.value["editing"] == [chapter(5, in: "editing")])
        #expect(merge.conflicts.map(\.reason).contains(.bothMoved))
    }

    @Test func `an edit of a text that may be another one now is reported`() {
        let merge = merge(
            [
                "now": ["Call the dentist about Tuesday", "Water the plants"],
                "last": ["Call the doctor about Tuesday", "Pay the rent"],
            ],
            [
                "now": ["Buy a present for Ann", "Water the plants"],
                "last": ["Call the dentist about Tuesday", "Pay the rent"],
            ],
            [
                "now": ["Call the dentist about Tuesday", "Water the plants"],
                "last": ["Call the doctor about Tuesday, again", "Pay the rent"],
            ]
        )
        #expect(!merge.conflicts.isEmpty)
    }

    @Test func `a row of a long table in which all rows change is found by its text`() {
        func row(_ number: Int, _ cents: Int, _ isSold: String) -> Value {
            [.string(Key("p\(number)")), .int(Int64(number * 100 + cents)), .string(Key(isSold))]
        }
        func table(_ rows: [Value]) -> Value { .list(Value.List(rows)) }
        let base = (0..<100).map { row($0, 25, "yes") }
        let ours = (10..<110).map { row($0, 75, "yes") }
        var theirs = base
        theirs[50] = row(50, 25, "no")
        let merge = merge(table(base), table(ours), table(theirs))
        #expect(merge.value.list?.contains(row(50, 75, "no")) == true)
        #expect(merge.value.list?.contains(row(60, 75, "yes")) == true)
    }

    @Test func `ids that are given anew move no edit`() {
        func field(_ id: String, _ title: String, _ isRequired: Bool = false) -> Value {
            ["id": .string(Key(id)), "title": .string(Key(title)), "required": .bool(isRequired)]
        }
        let intro = [field("q1", "Name"), field("q2", "Age")]
        func form(_ intro: [Value], _ main: [Value]) -> Value {
            ["intro": .list(Value.List(intro)), "main": .list(Value.List(main))]
        }
        let merge = merge(
            form(intro, [field("q3", "Phone"), field("q4", "Email")]),
            form(intro + [field("q3", "Address")], [field("q4", "Phone"), field("q5", "Email")]),
            form(intro, [field("q3", "Phone", true), field("q4", "Email")])
        )
        #expect(
            merge.value
                == form(
                    intro + [field("q3", "Address")],
                    [field("q4", "Phone", true), field("q5", "Email")]
                )
        )
        #expect(merge.conflicts.isEmpty)
    }

    @Test func `an edit stays in the form whose field got another id`() {
        func street(_ id: String, _ isRequired: Bool = false) -> Value {
            var field: Value.Map = ["id": .string(Key(id)), "label": "Street", "type": "text"]
            if isRequired { field["required"] = true }
            return .map(field)
        }
        let vat: Value = ["id": "vat", "label": "VAT number", "type": "text"]
        let given = merge(
            ["shipping": [street("street")], "billing": [vat]],
            ["shipping": [street("ship_street")], "billing": [vat, street("street")]],
            ["shipping": [street("street", true)], "billing": [vat]]
        )
        #expect(given.value["shipping"] == [street("ship_street", true)])
        #expect(given.value["billing"] == [vat, street("street")])
        let taken = merge(
            ["shipping": [street("ship_street")], "billing": [vat, street("street")]],
            ["shipping": [street("street")], "billing": [vat]],
            ["shipping": [street("ship_street", true)], "billing": [vat, street("street")]]
        )
        #expect(taken.value == ["shipping": [street("street", true)], "billing": [vat]])
        for merge in [given, taken] {
            #expect(merge.conflicts.map(\.reason) == [.bothChangedRecord])
        }
    }

    @Test func `an edit of a person that goes along to another list is reported`() {
        func board(_ first: [Value], _ second: [Value]) -> Value {
            ["k1": .list(Value.List(first)), "k7": .list(Value.List(second))]
        }
        let cid: Value = ["id": "cid", "role": "dev"]
        let ann: Value = ["id": "ann", "role": "dev"]
        let merge = merge(
            board([ann], [cid]),
            board([["id": "bob", "role": "dev"]], [cid, ann]),
            board([["id": "ann", "role": "lead"]], [cid])
        )
        #expect(!merge.conflicts.isEmpty)
    }

    @Test func `a removal of a shape is reported that gets the colour of another one`() {
        func shape(_ x: Int64, _ color: Value) -> Value {
            ["x": .int(x), "y": .int(x + 10), "w": .int(x + 40), "z": .int(x / 7), "color": color]
        }
        let merge = merge(
            [shape(10, "red"), shape(70, "blue")],
            [shape(10, "blue")],
            [shape(70, "blue")]
        )
        #expect(merge.value == [shape(10, "blue")])
        #expect(merge.conflicts.map(\.reason) == [.removedAndEdited])
    }

    private func task(_ title: String, for owner: String) -> Value {
        ["title": .string(Key(title)), "priority": "high", "owner": .string(Key(owner))]
    }

    @Test func `an edit stays with a task that is done, and another is in its place`() {
        let (old, new) = ("Pay rent", "Call bank")
        let milk: Value = ["title": "Buy milk", "priority": "low", "owner": "Bert"]
        let (edit, finish): (Value, Value) = (
            ["open": [task(old, for: "Karl"), milk], "done": []],
            ["open": [task(new, for: "Anna"), milk], "done": [task(old, for: "Anna")]]
        )
        for (ours, theirs) in [(edit, finish), (finish, edit)] {
            let merge = merge(["open": [task(old, for: "Anna"), milk], "done": []], ours, theirs)
            #expect(
                merge.value == [
                    "open": [task(new, for: "Anna"), milk], "done": [task(old, for: "Karl")],
                ]
            )
            #expect(merge.conflicts.map(\.reason) == [.bothChangedRecord])
        }
    }

    @Test func `a field that is removed stays away from a record that takes the place of another`()
    {
        let juice: Value = ["product": "Apple juice", "price": 5.5, "quantity": 3, "unit": "pcs"]
        let tea: Value = ["product": "Black tea", "price": 7.8, "quantity": 9, "unit": "pcs"]
        let free: Value = ["product": "Black tea", "quantity": 9, "unit": "pcs"]
        let (edit, move): (Value, Value) = (
            ["cart": [free], "saved": [juice]], ["cart": [], "saved": [tea]]
        )
        for (ours, theirs) in [(edit, move), (move, edit)] {
            let merge = merge(["cart": [tea], "saved": [juice]], ours, theirs)
            #expect(merge.value == ["cart": [], "saved": [free]])
            #expect(merge.conflicts.isEmpty)
        }
    }
}
