import GodwitTree
import Testing

/// Merges that come out as people expect, case by case.
@Suite struct MergeTests {
    @Test func `independent changes both stay`() {
        let merge = Merge(
            base: ["name": "Groceries", "items": [["name": "Bread"]]],
            ours: ["name": "Groceries", "items": [["name": "Bread", "crossed": true]]],
            theirs: ["name": "Weekend", "items": [["name": "Bread"], ["name": "Wine"]]]
        )

        #expect(
            merge.value == [
                "name": "Weekend",
                "items": [["name": "Bread", "crossed": true], ["name": "Wine"]],
            ]
        )
        #expect(merge.conflicts.isEmpty)
    }

    @Test func `an edit beats a removal, and says so`() throws {
        let merge = Merge(
            base: [["id": 1, "name": "Bread"], ["id": 2, "name": "Milk"]],
            ours: [["id": 2, "name": "Milk"]],
            theirs: [["id": 1, "name": "Rye bread"], ["id": 2, "name": "Milk"]]
        )

        #expect(merge.value == [["id": 1, "name": "Rye bread"], ["id": 2, "name": "Milk"]])
        let conflict = try #require(merge.conflicts.first)
        #expect(merge.conflicts.count == 1)
        #expect(conflict.reason == .removedAndEdited)
        #expect(conflict.choice == .theirs)
        #expect(conflict.path.description == "/0")
    }

    @Test func `strings of a set are united where neither side replaced one`() {
        let base: Value = ["red", "green", "blue"]
        let more: Value = ["red", "green", "blue", "crimson"]
        let crimson: Value = ["crimson", "green", "blue"]
        let both: [(Value, Value, Value)] = [
            (more, ["crimson", "red", "green", "blue"], more),
            (crimson, crimson, crimson),
            (crimson, ["red", "green", "azure"], ["crimson", "green", "azure"]),
            (crimson, ["red", "crimson", "blue"], ["crimson", "crimson", "blue"]),
        ]
        for (ours, theirs, wanted) in both {
            let merge = Merge(base: base, ours: ours, theirs: theirs)
            #expect(merge.value == wanted)
            #expect(merge.conflicts.isEmpty)
        }
    }

    @Test func `a move and a rename of one item are no conflict`() {
        let merge = Merge(
            base: [
                ["name": "Bread", "n": 3], ["name": "Milk", "n": 1], ["name": "Eggs", "n": 6],
            ],
            ours: [
                ["name": "Milk", "n": 1], ["name": "Eggs", "n": 6], ["name": "Bread", "n": 3],
            ],
            theirs: [
                ["name": "Rye", "n": 3], ["name": "Milk", "n": 1], ["name": "Eggs", "n": 6],
            ]
        )

        #expect(
            merge.value == [
                ["name": "Milk", "n": 1], ["name": "Eggs", "n": 6], ["name": "Rye", "n": 3],
            ]
        )
        #expect(merge.conflicts.isEmpty)
    }

    @Test func `what each side inserts stays together, ours first`() {
        let merge = Merge(base: ["x"], ours: ["x", "a", "b"], theirs: ["x", "c", "d"])

        #expect(merge.value == ["x", "a", "b", "c", "d"])
    }

    @Test func `of two scalars the later one is taken, and the conflict shows both`() throws {
        let merge = Merge(base: ["n": 1], ours: ["n": 2], theirs: ["n": 3])

        #expect(merge.value == ["n": 3])
        #expect(
            merge.conflicts.map(\.description) == [
                "/n: both sides set it; one value is taken (base 1, ours 2, theirs 3)"
            ]
        )
    }

    @Test func `containers that both created are merged`() {
        let merge = Merge(base: [:], ours: ["a": ["x": 1]], theirs: ["a": ["y": 2]])

        #expect(merge.value == ["a": ["x": 1, "y": 2]])
        #expect(merge.conflicts.isEmpty)
    }

    @Test func `an item with one identity, added on both sides, is one item`() {
        let merge = Merge(
            base: [],
            ours: [["id": "w", "name": "Wine"]],
            theirs: [["id": "b"], ["id": "w", "crossed": true]]
        )

        #expect(merge.value == [["id": "b"], ["id": "w", "name": "Wine", "crossed": true]])
    }

    @Test func `a replaced container is a conflict with an edit inside it`() {
        let merge = Merge(base: ["a": ["x": 1]], ours: ["a": ["x": 2]], theirs: ["a": "gone"])

        #expect(merge.value == ["a": "gone"])
        #expect(merge.conflicts.map(\.reason) == [.replacedAndEdited])
    }

    @Test func `what one side removed from a union is still to be done there`() throws {
        let base: Value = ["a": 1, "b": 2, "c": ["x": 1]]
        let (ours, theirs): (Value, Value) = (["a": 1], ["b": 2, "c": ["x": 2], "d": 4])
        var policy = MergePolicy()
        policy.set(.union, at: "/")
        let merge = Merge(base: base, ours: ours, theirs: theirs, policy: policy)

        #expect(merge.value == ["a": 1, "b": 2, "c": ["x": 2], "d": 4])
        #expect(try merge.afterOurs.applied(to: ours) == merge.value)
        #expect(try merge.afterTheirs.applied(to: theirs) == merge.value)
    }

    @Test func `a change for another base is refused`() {
        #expect(throws: TreeError.self) {
            try Merge(base: ["a": 1], ours: .keep, theirs: .diff(["a": ["x"]], ["a": ["y", "x"]]))
        }
    }
}
