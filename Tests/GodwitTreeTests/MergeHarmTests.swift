import GodwitTestKit
import GodwitTree
import Testing

/// Merges that once lost, doubled or invented something, found by reading.
@Suite struct MergeHarmTests {
    @Test func `contested fields of a document never cost the items that a side added`() {
        let merge = merge(
            ["rev": 1, "at": 1, "by": 1, "items": ["m"]],
            ["rev": 2, "at": 2, "by": 2, "items": ["m", "ours1", "ours2"]],
            ["rev": 3, "at": 3, "by": 3, "items": ["m", "their1"]]
        )
        #expect(merge.value["items"] == ["m", "ours1", "ours2", "their1"])
    }

    @Test func `a card that moved into a contested record is still there`() {
        let card: Value = ["id": "c1", "title": "Fix the door"]
        let merge = merge(
            ["from": [card], "r": ["a": "1 a", "b": "1 b", "c": "1 c", "l": []]],
            ["from": [], "r": ["a": "2 a", "b": "2 b", "c": "2 c", "l": [card]]],
            ["from": [card], "r": ["a": "3 a", "b": "3 b", "c": "3 c", "l": []]]
        )
        #expect(merge.value["r"]?["l"] == [card] && merge.value["from"] == [])
    }

    @Test func `equal numbers in lists of different things are no move`() {
        let merge = merge(
            ["cards": [["id": 1, "title": "old title", "n": 1]], "users": []],
            ["cards": [], "users": [["id": 1, "name": "Bob"]]],
            ["cards": [["id": 1, "title": "new title", "n": 1]], "users": []]
        )
        #expect(merge.value["users"] == [["id": 1, "name": "Bob"]])
        #expect(merge.value["cards"] == [["id": 1, "title": "new title", "n": 1]])
    }

    @Test(arguments: ["t", "title", "text"] as [Key])
    func `an item with another identity is another item`(text: Key) {
        func list(_ id: Value, _ words: Value, _ isDone: Value) -> Value {
            [.map(["id": id, text: words, "done": isDone])]
        }
        let merge = merge(
            list(1, "Buy milk", false),
            list(2, "Buy bread", false),
            list(1, "Buy milk", true)
        )
        let items = merge.value.list ?? []
        #expect(items.contains(.map(["id": 2, text: "Buy bread", "done": false])))
        #expect(!merge.conflicts.isEmpty)
    }

    @Test func `points that both sides create are not mixed`() {
        for (our, their) in [([10.1, 50.0], [10.2, 50.0]), ([10.1, 50.1], [10.2, 50.2])]
            as [(Value, Value)]
        {
            let merge = merge([:], ["at": our], ["at": their])
            #expect([["at": our], ["at": their]].contains(merge.value))
            #expect(!merge.conflicts.isEmpty)
        }
    }

    @Test func `numbers in words and decimals are never chosen without a word`() {
        for (base, ours, theirs) in [
            ("2 mg", "1.5 mg", "15 mg"), ("0 C outside", "-5 C outside", "5 C outside"),
            ("9.99", "10.99", "12.49"), ("10.0.0.1", "10.0.0.5", "10.0.0.9"),
        ] as [(Value, Value, Value)] {
            let merge = merge(base, ours, theirs)
            #expect([ours, theirs].contains(merge.value))
            #expect(!merge.conflicts.isEmpty, "\(base)")
        }
    }

    @Test func `strings with newlines inside stay the items they are`() {
        let lines = merge(
            ["a\nb\n", "c\n"],
            ["a\nb\n", "c2\n"],
            ["a\nb\n", "c\n", "d\n"]
        )
        #expect(lines.value == ["a\nb\n", "c2\n", "d\n"])
        let empty = merge(["a\n", ""], ["a2\n", ""], ["a\n", "b\n", ""])
        #expect(empty.value.list?.last == "")
    }

    @Test func `an edit that joins two lines joins no words of the other side's`() throws {
        let base: Value = "first line here foo bar\nnext line is here\nend"
        let ours = try Delta.text([.init(offset: 23, removed: 1, inserted: "")])
        let theirs = try Delta.text([.init(offset: 16, removed: 3, inserted: "baz")])
        let merge = try Merge(base: base, ours: ours, theirs: theirs)
        let text = merge.value.text ?? ""
        #expect(!text.contains("baznext") && !text.contains("foonext"))
    }

    @Test func `a number in a long text without blanks is that of one side`() throws {
        let text =
            String(repeating: "a=b;", count: 500) + "w=100"
            + String(repeating: ";c=d", count: 500)
        let ours = try Delta.text([.init(offset: 2_004, removed: 0, inserted: "5")])
        let theirs = try Delta.text([.init(offset: 2_002, removed: 1, inserted: "3")])
        let base = Value.string(Key(text))
        let merge = try Merge(base: base, ours: ours, theirs: theirs)
        #expect(!merge.conflicts.isEmpty)
        #expect(
            try [ours.applied(to: base), theirs.applied(to: base)].contains(merge.value)
        )
    }

    @Test func `a line that one side empties leaves no newline behind`() {
        let merge = merge("a b c d\nfoo", "a b c d\n", "a b c d\nfob")
        #expect(["a b c d\n", "a b c d\nfob"].contains(merge.value))
    }

    @Test func `an edit that would nest too deep where its value went stays where it was`() {
        let deep = (0..<58).reduce(1 as Value) { inner, _ in [inner] }
        let card: Value = ["id": "c", "k": 1, "text": "some words that stay"]
        let wrapped = (0..<58).reduce(card) { inner, _ in [inner] }
        var edited = card
        _ = try? edited.edit { $0.k = Draft(deep) }
        let merge = merge(["A": [card]], ["A": [], "B": wrapped], ["A": [edited]])
        #expect(merge.value.isNested(within: Value.depthMax))
        #expect(merge.value == ["A": [edited], "B": wrapped])
        #expect(merge.conflicts.map(\.reason) == [.removedAndEdited])
    }

    @Test func `a rule holds where only one side changed the container`() {
        var policy = MergePolicy()
        policy.set(.union, at: "/t")
        let merge = Merge(
            base: ["t": ["a": 1, "b": 2], "z": 1],
            ours: ["t": ["a": 1], "z": 1],
            theirs: ["t": ["a": 1, "b": 2], "z": 2],
            policy: policy
        )
        #expect(merge.value == ["t": ["a": 1, "b": 2], "z": 2])
    }

    @Test func `rules for the items of a list of numbers hold`() {
        var policy = MergePolicy()
        policy.set(.max, at: "/votes/*")
        let merge = Merge(
            base: ["votes": [1, 1]],
            ours: ["votes": [5, 1]],
            theirs: ["votes": [1, 7]],
            policy: policy
        )
        #expect(merge.value == ["votes": [5, 7]])
    }

    @Test func `a date at the top decides about no item`() {
        let (a, b): (Value, Value) = (
            ["id": "a", "text": "first"], ["id": "b", "text": "second"]
        )
        let noted: Value = ["id": "a", "text": "first", "note": "look"]
        let merge = merge(
            ["updatedAt": 100, "items": [a, b]],
            ["updatedAt": 300, "items": [b]],
            ["updatedAt": 200, "items": [noted, b]]
        )
        #expect(merge.value["items"] == [noted, b])
    }

    @Test func `merges of large lists cost no square of what changed`() {
        func records(_ count: Int, _ value: Int64) -> Value {
            .list((0..<count).map { ["id": .int(Int64($0)), "v": [1, .int(value), 3, 4, 5]] })
        }
        func work(_ count: Int) {
            var ours = records(count, 2)
            _ = try? ours.edit { $0[0]["v"] = 7 }
            let numbers = Value.list((0..<count).map { .int(Int64($0) * 10) })
            func between(_ offset: Int64) -> Value {
                .list(
                    (0..<count).flatMap { [.int(Int64($0) * 10), .int(Int64($0) * 10 + offset)] }
                )
            }
            _ = Merge(base: records(count, 2), ours: ours, theirs: records(count, 3))
            _ = Merge(base: numbers, ours: between(3), theirs: between(5))
        }
        let cost = CostRatio(small: { work(2_500) }, large: { work(10_000) })
        #expect(cost.isLinear, "\(cost)")
    }
}
