import GodwitTree
import Testing

/// Items that go to another container, or under another key, while the other side moves, edits or
/// removes them.
@Suite struct MergeMoveTests {
    private static let card: Value = ["id": "c1", "title": "Fix the door", "done": false]
    private static let retitled: Value = ["id": "c1", "title": "Fix the roof", "done": false]
    private static let both: Value = ["id": "c1", "title": "Fix the roof", "done": true]
    private static let ticked: Value = ["id": "c1", "title": "Fix the door", "done": true]

    private func board(_ a: Value = [], _ b: Value = [], _ c: Value = []) -> Value {
        ["a": a, "b": b, "c": c]
    }

    @Test func `an item that both sides move to different lists stands once, where ours has it`() {
        let (card, retitled) = (Self.card, Self.retitled)
        for their in [card, retitled] {
            let merge = merge(board([card]), board([], [card]), board([], [], [their]))
            #expect(merge.value == board([], [their]))
            #expect(merge.conflicts.map(\.reason) == [.bothMoved])
            #expect(merge.conflicts.map(\.choice) == [.ours])
            #expect(merge.conflicts.map(\.path.description) == ["/a/0"])
        }
    }

    @Test func `an item that both sides move and edit has both edits`() {
        let merge = merge(
            board([Self.card]),
            board([], [Self.ticked]),
            board([], [], [Self.retitled])
        )
        #expect(merge.value == board([], [Self.both]))
        #expect(merge.conflicts.map(\.reason) == [.bothMoved])
    }

    @Test func `an item that is put in the place of a moved one does not move along`() {
        let items: [[Value]] = [
            [
                ["text": "Ship large backup", "qty": 5, "done": false],
                ["text": "Measure blue server", "qty": 1, "done": false],
                ["text": "Test small parser", "qty": 2, "done": false],
                ["text": "Buy quiet website", "qty": 1, "done": false],
            ],
            [
                "ann@example.org.uk", "bob@example.org.uk", "cid@example.org.uk",
                "dora and eve, both",
            ],
        ]
        for items in items {
            let (first, moved, other, new) = (items[0], items[1], items[2], items[3])
            for isMirrored in [false, true] {
                let base: Value = ["open": [first, moved], "done": [other]]
                let mover: Value = ["open": [first], "done": [other, moved]]
                let replacer: Value = ["open": [first, new], "done": [other]]
                let merge = isMirrored ? merge(base, replacer, mover) : merge(base, mover, replacer)
                let done = Array(merge.value["done"]?.list ?? [])
                #expect(!done.contains(new), "\(merge.value)")
                let open = Array(merge.value["open"]?.list ?? [])
                #expect(open.contains(new))
                #expect(!merge.conflicts.isEmpty, "\(merge.value)")
            }
        }
    }

    @Test func `a string that both sides move to different lists stands once`() {
        let merge = merge(board(["milk"]), board([], ["milk"]), board([], [], ["milk"]))
        #expect(merge.value == board([], ["milk"]))
        #expect(merge.conflicts.map(\.reason) == [.bothMoved])
    }

    @Test func `an item that ours moves and theirs puts into a new record stands once`() {
        let card = Self.card
        let merge = merge(
            ["a": [card], "b": [], "new": []],
            ["a": [], "b": [card], "new": []],
            ["a": [], "b": [], "new": [["title": "Column", "cards": ["first", card, "last"]]]]
        )
        #expect(
            merge.value == [
                "a": [], "b": [card], "new": [["title": "Column", "cards": ["first", "last"]]],
            ]
        )
        #expect(merge.conflicts.map(\.reason) == [.bothMoved])
    }

    @Test func `a value that both sides put into other records is a field of both`() {
        let shape: Value = ["kind": "polygon", "points": [1, 2, 5, 8, 13, 21]]
        let merge = merge(
            [["id": "a", "text": "one or two", "shape": shape], ["id": "b", "text": "x"]],
            [["id": "b", "text": "x"], ["id": "our", "use": "garden", "shape": shape]],
            [["id": "b", "text": "x"], ["id": "their", "use": "roof", "shape": shape]]
        )
        let items = merge.value.list.map(Array.init) ?? []
        #expect(items.count == 3 && items.dropFirst().allSatisfy { $0["shape"] == shape })
        #expect(merge.conflicts.map(\.reason) == [.bothMoved])
        #expect(merge.conflicts.map(\.choice) == [.both])
    }

    @Test func `a part that is removed of an item is removed where the other side moves it`() {
        let note: Value = "from the small shop behind the old church on the hill"
        func list(_ todo: [Value], _ done: [Value]) -> Value {
            .map([
                "todo": .list(.init([["title": "Other", "note": "x"]] + todo)),
                "done": .list(.init(done)),
            ])
        }
        let whole: Value = ["title": "Buy milk", "note": note]
        for (ours, theirs) in [
            (list([], [whole]), list([["title": "Buy milk"]], [])),
            (list([["title": "Buy milk"]], []), list([], [whole])),
        ] {
            let merge = merge(list([whole], []), ours, theirs)
            #expect(merge.value == list([], [["title": "Buy milk"]]))
        }
    }

    @Test func `a value that one side makes a field of a new item stands there alone`() {
        let text: Value = "a long text of many words that is surely no other"
        let base: Value = ["notes": [text, "y"], "cards": [], "archive": []]
        let card: Value = [
            "notes": ["y"], "cards": [["use": "garden", "text": text]], "archive": [],
        ]
        let archive: Value = ["notes": ["y"], "cards": [], "archive": [text]]
        for (ours, theirs, choice) in [
            (card, archive, Conflict.Choice.ours), (archive, card, .theirs),
        ] {
            let merge = merge(base, ours, theirs)
            #expect(merge.value == card)
            #expect(merge.conflicts.map(\.reason) == [.bothMoved])
            #expect(merge.conflicts.map(\.choice) == [choice])
        }
    }

    @Test func `a rule for one side decides, also against a field of a new item`() {
        let text: Value = "a long text of many words that is surely no other"
        let base: Value = ["notes": [text, "y"], "cards": [], "archive": []]
        let archive: Value = ["notes": ["y"], "cards": [], "archive": [text]]
        let card: Value = [
            "notes": ["y"], "cards": [["use": "garden", "text": text]], "archive": [],
        ]
        let cases: [(MergePolicy.Rule, Value, Value)] = [
            (.ours, archive, card), (.theirs, card, archive),
        ]
        for (rule, ours, theirs) in cases {
            var policy = MergePolicy()
            policy.set(rule, at: "/notes")
            let merge = Merge(base: base, ours: ours, theirs: theirs, policy: policy)
            #expect(
                merge.value == ["notes": ["y"], "cards": [["use": "garden"]], "archive": [text]]
            )
            #expect(merge.conflicts.isEmpty)
        }
    }

    @Test func `items of a removed list that both sides move to different lists stand once`() {
        let card = Self.card
        let merge = merge(
            ["old": [card, ["id": "c2", "title": "Other"]], "b": [], "c": []],
            ["b": [card, ["id": "c2", "title": "Other"]], "c": []],
            ["old": [["id": "c2", "title": "Other"]], "b": [], "c": [card]]
        )
        #expect(
            merge.value == ["b": [card, ["id": "c2", "title": "Other"]], "c": []]
        )
        #expect(merge.conflicts.map(\.reason) == [.bothMoved])
    }

    @Test func `a key that both sides rename has ours' name and theirs' edits`() {
        let server: Value = [
            "host": "alpha.example", "port": 80, "note": "a note with a few words of its own",
        ]
        var edited = server
        _ = try? edited.edit { $0.port = 8080 }
        for their in [server, edited] {
            let merge = merge(["old": server], ["ours": server], ["theirs": their])
            #expect(merge.value == ["ours": their])
            #expect(merge.conflicts.map(\.reason) == [.bothMoved])
            #expect(merge.conflicts.map(\.path.description) == ["/old"])
        }
    }

    @Test func `an item that one side moves and the other removes stays, and is reported`() {
        let card = Self.card
        let moved = board([], [card])
        for (ours, theirs, choice) in [
            (moved, board(), Conflict.Choice.ours), (board(), moved, .theirs),
        ] {
            let merge = merge(board([card]), ours, theirs)
            #expect(merge.value == moved)
            #expect(merge.conflicts.map(\.reason) == [.removedAndEdited])
            #expect(merge.conflicts.map(\.choice) == [choice])
        }
        let renamed = merge(["old": card, "x": 1], ["new": card, "x": 1], ["x": 1])
        #expect(renamed.value == ["new": card, "x": 1])
        #expect(renamed.conflicts.map(\.reason) == [.removedAndEdited])
    }

    @Test func `rules decide about a moved item as they do about an edited one`() {
        let card = Self.card
        let results: [(MergePolicy.Rule, Value)] = [
            (.deleteWins, board()), (.editWins, board([], [card])),
            (.ours, board([], [card])), (.theirs, board()),
        ]
        for (rule, value) in results {
            var policy = MergePolicy()
            policy.set(rule, at: "/a")
            let merge = Merge(
                base: board([card]),
                ours: board([], [card]),
                theirs: board(),
                policy: policy
            )
            #expect(merge.value == value && merge.conflicts.isEmpty, "\(rule)")
        }
        var policy = MergePolicy()
        policy.set(.theirs, at: "/")
        let merge = Merge(
            base: board([card]),
            ours: board([], [card]),
            theirs: board([], [], [card]),
            policy: policy
        )
        #expect(merge.value == board([], [], [card]) && merge.conflicts.isEmpty)
    }

    @Test func `a removal of a part of an item goes along when the item moves`() {
        let full: Value = ["id": "c1", "title": "Fix", "labels": ["red", "blue"], "due": "today"]
        let less: Value = ["id": "c1", "title": "Fix", "labels": ["blue"]]
        let merge = merge(board([full]), board([], [full]), board([less]))
        #expect(merge.value == board([], [less]))
        #expect(merge.conflicts.isEmpty)
    }

    @Test(arguments: ["text", "product"])
    func `a record with a number that both moved, and one noted something on, is there once`(
        name: String
    ) {
        func record(_ id: Int64, _ text: String, _ note: Value? = nil) -> Value {
            var fields: Value.Map = ["id": .int(id), "done": false]
            fields[Key(name)] = .string(Key(text))
            fields["note"] = note
            return .map(fields)
        }
        let (login, mum) = (record(5, "Fix login"), record(6, "Call mum"))
        let noted = record(5, "Fix login", "see ticket")
        let merge = merge(
            ["todo": [login, mum], "doing": [], "done": []],
            ["todo": [mum], "doing": [login], "done": []],
            ["todo": [mum], "doing": [], "done": [noted]]
        )
        #expect(merge.value == ["todo": [mum], "doing": [noted], "done": []])
        #expect(merge.conflicts.map(\.reason) == [.bothMoved])
    }
}
