import GodwitTestKit
import GodwitTree
import Testing

@Suite struct DeltaTests {
    @Test func `a delta prints as the seed's EDN`() {
        let old: Value = ["items": [["name": "Bread"]]]
        let new: Value = ["items": [["name": "Bread", "crossed": true], ["name": "Wine"]]]

        let delta = Delta.diff(old, new)

        #expect(
            delta.ednText() == "{:items {:= {0 {:crossed true}} :+ {1 {:name \"Wine\"}}}}"
        )
        #expect(
            delta.encoded.jsonText()
                == #"{"items":[{"+":[1,{"name":"Wine"}],"=":[0,{"crossed":true}]}]}"#
        )
    }

    @Test func `removes, moves and replaced containers print too`() {
        let delta = Delta.diff(
            ["a": [1, 2, 3, 4, 5], "b": 1, "c": 2],
            ["a": [5, 1, 3, 4], "b": ["x": 1]]
        )

        #expect(
            delta.ednText() == "{:a {:- #{1} :> {4 0}} :b #d/set {:x 1} :c #d/del nil}"
        )
    }

    @Test func `one item moved across a long list is one move`() {
        let items = (0..<1_000).map { Value.int(Int64($0)) }
        var moved = items
        moved.append(moved.remove(at: 3))

        guard case .list(let delta) = Delta.diff(.list(items), .list(moved)) else {
            return #expect(Bool(false), "a list has a list's delta")
        }
        let parts = delta.parts
        #expect(parts.moves == [ListDelta.Move(source: 3, target: 999)])
        #expect(parts.removes.isEmpty && parts.inserts.isEmpty && parts.edits.isEmpty)
    }

    @Test func `a delta for another base says where they part`() {
        let delta = Delta.diff(["a": ["b": [1, 2, 3]]], ["a": ["b": [1, 3]]])

        #expect(
            throws: TreeError.wrongBase(
                path: ValuePath([.key("a"), .key("b")]),
                reason: "there is no item 1 in a list of 1"
            )
        ) { try delta.applied(to: ["a": ["b": [7]]]) }
        #expect(
            throws: TreeError.wrongBase(
                path: ValuePath([.key("a")]),
                reason: "there is nothing to change"
            )
        ) { try delta.applied(to: [:]) }
        #expect(throws: TreeError.self) { try delta.applied(to: ["a": 5]) }
    }

    @Test(arguments: [
        #"["?"]"#, #"["=", 1, 2]"#, #"[{"-": 1}]"#, #"[{"-": [1, 1]}]"#, #"[{"-": [-1]}]"#,
        #"[{"+": [0]}]"#, #"[{"+": ["0", 1]}]"#, #"[{"-": [0], "=": [0, 5]}]"#,
        #"[{"-": [0], ">": [0, 1]}]"#, #"[{">": [0, 1, 2, 1]}]"#, #"[{"*": [1]}]"#,
        #"[{"-": [4611686018427387904]}]"#, #"[["-"]]"#, #"["-"]"#,
    ])
    func `a delta that contradicts itself is refused`(json: String) throws {
        let value = try Value(json: json)

        #expect(throws: TreeError.self) { try Delta(encoded: value) }
    }

    @Test func `positions far beyond a list are refused`() throws {
        let far = try Delta(encoded: Value(json: #"[{"+": [1000000000000, 1]}]"#))
        #expect(throws: TreeError.self) { try far.applied(to: [1, 2]) }
        #expect(throws: Never.self) { try far.composed(with: far) }
    }

    @Test func `a delta cannot nest a value deeper than the limit`() throws {
        var deep: Value = 1
        for _ in 0..<Value.depthMax { deep = [deep] }

        #expect(try Delta.set(deep).applied(to: 0) == deep)
        #expect(throws: TreeError.tooDeep(limit: Value.depthMax)) {
            try Delta.map(["a": .apply(.set(deep))]).applied(to: [:])
        }
    }

    @Test func `what is read from data nests no deeper than what is read from bytes`() throws {
        let deep = (0..<Value.depthMax).reduce(0 as Value) { value, _ in [value] }
        let maps = (0..<Value.depthMax).reduce(0 as Value) { value, _ in ["a": value] }
        let lists = (0..<Value.depthMax).reduce(0 as Value) { value, _ in [["=": [0, value]]] }
        for data in [["=", deep], maps, lists, [["+": [0, deep.list?.first ?? 0]]]] as [Value] {
            let delta = try Delta(encoded: data)
            #expect(try Delta(canonicalBytes: delta.canonicalBytes) == delta)
            for deeper in [["a": data], [["=": [0, data]]]] as [Value] {
                #expect(throws: TreeError.tooDeep(limit: Value.depthMax)) {
                    try Delta(encoded: deeper)
                }
            }
        }
    }
}

/// How a change that keeps next to nothing is told.
@Suite struct ReplacementTests {
    @Test func `what keeps little of a value sets it, and merges as if it had not`() throws {
        let keys = (0..<20).map { Key("a rather long key, number \($0)") }
        let base = Value.map(Value.Map(keys.map { ($0, Value.int(1)) }))
        let little: Value = [keys[0]: 1, "new": 2]
        var theirs = base
        try theirs.edit { $0[keys[0]] = 3 }

        #expect(Delta.diff(base, little) == .set(little))
        let pieces = Delta.diff(base, little, inPieces: true)
        #expect(try pieces != .set(little) && pieces.applied(to: base) == little)
        #expect(Merge(base: base, ours: little, theirs: theirs).value == [keys[0]: 3, "new": 2])
        let merge = try Merge(base: base, ours: .diff(base, little), theirs: .diff(base, theirs))
        #expect(merge.value == [keys[0]: 3, "new": 2])
        #expect(merge.conflicts.isEmpty)
    }
}

/// What must not cost the square of its size.
@Suite struct LargeTests {
    @Test func `a hundred thousand keys come and go in one delta`() throws {
        var random = Seeded(seed: 1)
        let count = 100_000
        let even = (0..<count).map { (Key("key \($0 * 2)"), Value.int(1)) }
        let odd = (0..<count).map { (Key("key \($0 * 2 + 1)"), Value.int(2)) }
        let base = Value.map(Value.Map(even.shuffled(using: &random)))
        let next = Value.map(Value.Map((odd + even.prefix(count / 2)).shuffled(using: &random)))

        let delta = Delta.diff(base, next)

        #expect(try delta.applied(to: base) == next)
        #expect(try delta.inverted(on: base).applied(to: next) == base)
    }

    @Test func `a reversed list and a shuffled one cost no square of their length`() throws {
        func work(_ count: Int) throws {
            var random = Seeded(seed: 2)
            let items = (0..<count).map { Value.int(Int64($0)) }
            let base = Value.list(items)
            for other in [Value.list(items.reversed()), Value.list(items.shuffled(using: &random))]
            {
                let delta = Delta.diff(base, other)
                #expect(try delta.applied(to: base) == other)
                #expect(Merge(base: base, ours: other, theirs: base).value == other)
            }
        }
        let cost = try CostRatio(small: { try work(12_500) }, large: { try work(50_000) })
        #expect(cost.isLinear, "\(cost)")
    }
}
