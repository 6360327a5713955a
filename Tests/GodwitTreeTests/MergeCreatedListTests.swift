import GodwitTree
import Testing

/// Lists that both sides create under one key.
@Suite struct MergeCreatedListTests {
    private func merge(_ ours: Value, _ theirs: Value) -> Merge {
        Merge(base: ["x": 1], ours: ["x": 1, "l": ours], theirs: ["x": 1, "l": theirs])
    }

    @Test func `of two lists of arguments ours is taken whole, and both learn of it`() {
        let pairs: [(Value, Value)] = [
            (["--port", "8080"], ["--port", "9090"]),
            (["run", "-v", "-v"], ["run", "-q", "-q"]),
            (["serve", "--port", "80"], ["serve", "--host", "a", "--port", "81"]),
            ([1, 2, 3, 4, 5], [1, 2, 3, 4, 6]), ([true, "a"], [false, "a"]),
        ]
        for (ours, theirs) in pairs {
            let merge = merge(ours, theirs)
            #expect(merge.value["l"] == ours)
            #expect(merge.conflicts.map(\.reason) == [.bothSet])
            #expect(merge.conflicts.map(\.choice) == [.ours])
        }
    }

    @Test func `a list that has all that the other has is taken without a word`() {
        let pairs: [(Value, Value)] = [
            (["--port", "8080"], ["--port", "8080", "--verbose"]),
            ([1, 2], [1, 9, 2]), (["a", "a"], ["a", "a", "1"]),
        ]
        for (less, more) in pairs {
            for merge in [merge(less, more), merge(more, less)] {
                #expect(merge.value["l"] == more)
                #expect(merge.conflicts.isEmpty)
            }
        }
    }

    @Test func `two sets are united`() {
        let merge = merge(["red", "green"], ["red", "blue"])
        #expect(merge.value["l"] == ["red", "green", "blue"])
        #expect(merge.conflicts.isEmpty)
    }

    @Test func `a list of arguments follows the record that it is part of`() {
        let merge = Merge(
            base: [:],
            ours: ["v": "1.0.0", "l": ["--port", "80"], "a": 1, "b": 2],
            theirs: ["v": "1.2.0", "l": ["--port", "81"], "a": 1, "b": 2]
        )
        #expect(merge.value == ["v": "1.2.0", "l": ["--port", "81"], "a": 1, "b": 2])
    }
}
