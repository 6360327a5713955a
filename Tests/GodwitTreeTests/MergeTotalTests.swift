import GodwitTree
import Testing

// Each merge runs in a process of its own: one that stops the program fails its test, and no other.

/// Merging never stops the program, whatever the values are and whatever a rule answers.
@Suite struct MergeTotalTests {
    static func nested(_ depth: Int) -> Value {
        (0..<depth).reduce(Value.list([])) { inner, _ in .list([inner]) }
    }

    @Test func `a side that is nested too deep is merged`() async {
        await #expect(processExitsWith: .success) {
            let deep = MergeTotalTests.nested(100)
            let ours = Merge(base: 0, ours: deep, theirs: 0)
            let theirs = Merge(base: 0, ours: 0, theirs: deep)
            #expect(ours.value == deep && theirs.value == deep)
        }
    }

    @Test func `two sides that are nested too deep are merged`() async {
        await #expect(processExitsWith: .success) {
            let (deep, deeper) = (MergeTotalTests.nested(100), MergeTotalTests.nested(1_000))
            _ = Merge(base: 0, ours: deep, theirs: deeper)
            _ = Merge(base: deep, ours: deeper, theirs: 0)
            _ = Merge(base: [deep], ours: [deep, 1], theirs: [2, deep])
        }
    }

    @Test func `a rule for a place that no value has holds nowhere`() async {
        await #expect(processExitsWith: .success) {
            var policy = MergePolicy()
            policy.set(.max, at: String(repeating: "/a", count: 200_000))
            policy.set(.max, at: "/b")
            let merge = Merge(base: ["b": 1], ours: ["b": 3], theirs: ["b": 2], policy: policy)
            #expect(merge.value == ["b": 3])
        }
    }

    @Test func `values that are nested as deep as may be are merged into one that may be`() async {
        await #expect(processExitsWith: .success) {
            let deep = MergeTotalTests.nested(Value.depthMax - 3)
            let merge = Merge(
                base: ["a": deep],
                ours: ["a": deep, "b": deep],
                theirs: ["a": [deep], "b": [deep]]
            )
            #expect(merge.value.isNested(within: Value.depthMax))
        }
    }

    @Test func `a rule that answers too deep a value does not put it into the merge`() async {
        await #expect(processExitsWith: .success) {
            var policy = MergePolicy()
            policy.set(.custom { _ in MergeTotalTests.nested(100) }, at: "/")
            for (base, ours, theirs) in [
                (["n": 1], ["n": 2], ["n": 3]), ([1, 2], [1, 3], [1, 4]),
                (["n": "a text"], ["n": "our text"], ["n": "their text"]), (0, 1, 2),
            ] as [(Value, Value, Value)] {
                let merge = Merge(base: base, ours: ours, theirs: theirs, policy: policy)
                #expect(merge.value.isNested(within: Value.depthMax))
                #expect((try? merge.afterOurs.applied(to: ours)) == merge.value)
                #expect((try? merge.afterTheirs.applied(to: theirs)) == merge.value)
            }
        }
    }

    @Test func `rules that answer something of another kind leave both sides with one value`() async
    {
        await #expect(processExitsWith: .success) {
            for answer in [nil, .null, 7, "x", [], ["a": [1]], [[1], [2]]] as [Value?] {
                var policy = MergePolicy()
                policy.set(.custom { _ in answer }, at: "/")
                for (base, ours, theirs) in [
                    (["n": 1, "l": [1, 2]], ["n": 2, "l": [3, 2]], ["n": 3, "l": [4, 2]]),
                    ([["id": 1, "x": 1]], [], [["id": 1, "x": 2]]),
                    (["t": "one two three"], ["t": "one 2 three"], ["t": "one II three"]),
                ] as [(Value, Value, Value)] {
                    let merge = Merge(base: base, ours: ours, theirs: theirs, policy: policy)
                    #expect((try? merge.afterOurs.applied(to: ours)) == merge.value)
                    #expect((try? merge.afterTheirs.applied(to: theirs)) == merge.value)
                }
            }
        }
    }

    @Test func `numbers at the ends of their range are added up without a trap`() async {
        await #expect(processExitsWith: .success) {
            let pairs: [(Int64, Int64)] = [(.max, 1), (.min, -1), (.max, .max), (.min, .min)]
            for (ours, theirs) in pairs {
                let base: Value = ["n": 5]
                let merge = try Merge(
                    base: base,
                    ours: .map(["n": .apply(.adding(ours))]),
                    theirs: .map(["n": .apply(.adding(theirs))])
                )
                #expect(merge.value["n"]?.integer != nil)
            }
        }
    }
}
