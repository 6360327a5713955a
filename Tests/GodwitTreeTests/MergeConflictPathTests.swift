import GodwitTestKit
import GodwitTree
import Testing

/// The path of a conflict leads through the base; where the base has nothing, through ours.
@Suite struct MergeConflictPathTests {
    /// A merge whose only conflict has its reason, in a list in which ours shifted all positions.
    private struct Case {
        let reason: Conflict.Reason
        let path: String
        let base, ours, theirs: Value
    }

    private static let head: Value = ["id": "new", "text": "ours put this in front"]

    /// The lists of ours begin with an item that is new.
    private static let cases: [Case] = [
        Case(
            reason: .bothSet,
            path: "/1/n",
            base: [["id": "a"], ["id": "b", "n": "one"]],
            ours: [head, ["id": "a"], ["id": "b", "n": "two"]],
            theirs: [["id": "a"], ["id": "b", "n": "three"]]
        ),
        // The base has no such field: the position is that of ours.
        Case(
            reason: .bothSet,
            path: "/2/n",
            base: [["id": "a"], ["id": "b"]],
            ours: [head, ["id": "a"], ["id": "b", "n": "two"]],
            theirs: [["id": "a"], ["id": "b", "n": "three"]]
        ),
        Case(
            reason: .bothSet,
            path: "/2/n",
            base: [["id": "a"]],
            ours: [head, ["id": "a"], ["id": "b", "x": 1, "y": 2, "n": "two"]],
            theirs: [["id": "a"], ["id": "b", "x": 1, "y": 2, "n": "three"]]
        ),
        Case(
            reason: .replacedAndEdited,
            path: "/0/n",
            base: [["id": "a", "n": ["x": 1]]],
            ours: [head, ["id": "a", "n": "gone"]],
            theirs: [["id": "a", "n": ["x": 2]]]
        ),
        Case(
            reason: .removedAndEdited,
            path: "/1",
            base: [["id": "a"], ["id": "b", "n": 1]],
            ours: [head, ["id": "a"]],
            theirs: [["id": "a"], ["id": "b", "n": 2]]
        ),
        Case(
            reason: .bothMoved,
            path: "/0",
            base: [["id": "a"], ["id": "b"], ["id": "c"], ["id": "d"], ["id": "e"]],
            ours: [head, ["id": "b"], ["id": "a"], ["id": "c"], ["id": "d"], ["id": "e"]],
            theirs: [["id": "b"], ["id": "c"], ["id": "d"], ["id": "e"], ["id": "a"]]
        ),
        Case(
            reason: .bothRewrote,
            path: "/0/text",
            base: [["id": "a", "text": "some words about the weather"]],
            ours: [head, ["id": "a", "text": "some lines about the weather today"]],
            theirs: [["id": "a", "text": "some songs about the weather"]]
        ),
        Case(
            reason: .takenWhole,
            path: "/0",
            base: [["id": "a", "x": "one", "y": "two", "z": "three", "n": 1]],
            ours: [head, ["id": "a", "x": "eins", "y": "zwei", "z": "drei", "n": 1]],
            theirs: [["id": "a", "x": "un", "y": "deux", "z": "trois", "n": 2]]
        ),
        Case(
            reason: .bothChangedRecord,
            path: "/0",
            base: [["id": "a", "x": 1, "y": 2]],
            ours: [head, ["id": "a", "x": 5, "y": 2, "v": 1]],
            theirs: [["id": "a", "x": 1, "z": 3]]
        ),
        Case(
            reason: .sameIdentity,
            path: "/2",
            base: [["id": 1, "name": "Bread"]],
            ours: [
                ["id": 9, "name": "Tea"], ["id": 1, "name": "Bread"], ["id": 2, "name": "Soap"],
            ],
            theirs: [["id": 1, "name": "Bread"], ["id": 2, "name": "Eggs"]]
        ),
    ]

    @Test func `a conflict of every reason has its path in the base, or else in ours`() {
        for entry in Self.cases {
            let merge = Merge(base: entry.base, ours: entry.ours, theirs: entry.theirs)
            #expect(merge.conflicts.map(\.reason) == [entry.reason], "\(merge.conflicts)")
            #expect(merge.conflicts.map(\.path.description) == [entry.path])
        }
        #expect(Set(Self.cases.map(\.reason)) == Set(Conflict.Reason.allCases))
    }

    @Test(arguments: DocumentKind.allCases)
    func `the paths of all conflicts lead to their values`(kind: DocumentKind) {
        var laws = LawBook()
        for seed in 0..<UInt64(2_000 * Soak.factor) {
            var random = Seeded(seed: seed)
            let base = kind.document(&random)
            let (ours, theirs) = (random.revised(base), random.revised(base))
            for conflict in Merge(base: base, ours: ours, theirs: theirs).conflicts {
                let text = "\(kind), seed \(seed): base \(base), ours \(ours): \(conflict)"
                if let value = conflict.base {
                    laws.check("in the base", base.value(at: conflict.path) == value, text)
                } else {
                    let found = ours.value(at: conflict.path)
                    laws.check("in ours", found == conflict.ours, text)
                }
            }
        }
        laws.record()
    }
}

extension Value {
    fileprivate func value(at path: ValuePath) -> Value? {
        path.steps.reduce(self) { value, step in
            switch step {
            case .key(let key): value?[key]
            case .position(let position): value?.list?.dropFirst(position).first
            }
        }
    }
}
