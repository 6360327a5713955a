import GodwitTree
import Testing

/// A merge carries an edit along only with a value that surely is the same one.
@Suite struct MergeCarryTests {
    @Test func `an edit of a small record never goes to another one that looks like it`() {
        let cases: [(Value, Value, Value, Value)] = [
            (
                ["users": ["alice": ["role": "user"]]], ["users": ["bob": ["role": "user"]]],
                ["users": ["alice": ["role": "admin"]]],
                ["users": ["alice": ["role": "admin"], "bob": ["role": "user"]]]
            ),
            (
                ["perms": ["alice": ["read"]], "x": 1], ["perms": ["bob": ["read"]], "x": 1],
                ["perms": ["alice": ["read", "write"]], "x": 1],
                ["perms": ["alice": ["read", "write"], "bob": ["read"]], "x": 1]
            ),
            (
                ["a": ["x": [1]], "b": [:]], ["a": [:], "b": ["y": [1]]],
                ["a": ["x": [2]], "b": [:]], ["a": ["x": [2]], "b": ["y": [1]]]
            ),
        ]
        for (base, ours, theirs, wanted) in cases {
            let merge = merge(base, ours, theirs)
            #expect(merge.value == wanted)
            #expect(merge.conflicts.map(\.reason) == [.removedAndEdited])
        }
    }

    @Test func `a number names no item outside its list`() {
        func issue(_ title: Value, _ state: Value = "open") -> Value {
            ["id": 1, "kind": "bug", "state": state, "title": title]
        }
        let merge = merge(
            ["projects": ["a": ["issues": [issue("Crash")]], "b": ["issues": []]]],
            ["projects": ["a": ["issues": []], "b": ["issues": [issue("Typo")]]]],
            ["projects": ["a": ["issues": [issue("Crash", "closed")]], "b": ["issues": []]]]
        )
        #expect(
            merge.value == [
                "projects": [
                    "a": ["issues": [issue("Crash", "closed")]],
                    "b": ["issues": [issue("Typo")]],
                ]
            ]
        )
        #expect(merge.conflicts.map(\.reason) == [.removedAndEdited])
    }

    @Test func `a numbered item that one side moves and ticks takes the other side's edit along`() {
        func card(_ done: Bool, _ note: Value) -> Value {
            ["id": 7, "title": "Fix the door", "done": .bool(done), "votes": note]
        }
        let merge = merge(
            ["a": [card(false, 1)], "b": []],
            ["a": [], "b": [card(true, 1)]],
            ["a": [card(false, 2)], "b": []]
        )
        #expect(merge.value == ["a": [], "b": [card(true, 2)]])
        #expect(merge.conflicts.isEmpty)
    }

    @Test func `equal words under different keys are no move`() {
        let merge = merge(
            ["items": [["id": 1, "old": "no"], ["id": 2], ["id": 3]]],
            ["items": [["id": 1], ["id": 2, "vegan": "no"], ["id": 3]]],
            ["items": [["id": 1], ["id": 2], ["id": 3, "gluten": "no"]]]
        )
        #expect(
            merge.value == [
                "items": [["id": 1], ["id": 2, "vegan": "no"], ["id": 3, "gluten": "no"]]
            ]
        )
        #expect(merge.conflicts.isEmpty)
    }

    @Test func `two small records in the place of a third are both there`() {
        let user: Value = ["role": "user"]
        let merge = merge(
            ["users": ["alice": user]],
            ["users": ["bob": user]],
            ["users": ["carol": user]]
        )
        #expect(merge.value == ["users": ["bob": user, "carol": user]])
    }

    @Test func `a removal beats an edit to the value that is there`() throws {
        let base: Value = [
            "items": [["name": "Wine", "crossed": false]],
            "card": ["name": "Rye", "crossed": false],
        ]
        var there = base
        let check = try there.edit {
            $0.items[0].crossed = true
            $0.card.crossed = true
        }
        let back = try there.edit {
            $0.items[0].crossed = false
            $0.card.crossed = false
        }
        let thereAndBack = try check.composed(with: back)
        #expect(thereAndBack != .keep)
        var after = base
        let removal = try after.edit {
            $0.items.list.remove(at: 0)
            $0.card = nil
        }
        for (ours, theirs) in [(removal, thereAndBack), (thereAndBack, removal)] {
            let merge = try Merge(base: base, ours: ours, theirs: theirs)
            #expect(merge.value == ["items": []] && merge.conflicts.isEmpty)
        }
    }
}
