import GodwitTestKit
import GodwitTree
import Testing

/// From patches to deltas, and back.
@Suite struct JSONPatchDeltaTests {
    @Test(arguments: [
        (#"[{"op":"move","from":"/0","path":"/2"}]"#, "{:> {0 2}}"),
        (#"[{"op":"move","from":"/2","path":"/0"}]"#, "{:> {2 0}}"),
        (#"[{"op":"move","from":"/0","path":"/-"}]"#, "{:> {0 3}}"),
        (#"[{"op":"move","from":"/1","path":"/1"}]"#, "#d/keep nil"),
        (#"[{"op":"add","path":"/-","value":1}]"#, "{:+ {4 1}}"),
        (#"[{"op":"replace","path":"/3/name","value":"Milk"}]"#, "{:= {3 {:name \"Milk\"}}}"),
        (#"[{"op":"replace","path":"/3","value":{"name":"Milk"}}]"#, "{:= {3 {:name \"Milk\"}}}"),
        (#"[{"op":"replace","path":"/0","value":"a"}]"#, "#d/keep nil"),
        (#"[{"op":"test","path":"/0","value":"a"}]"#, "#d/keep nil"),
        (
            #"[{"op":"add","path":"/0","value":1},{"op":"remove","path":"/0"}]"#, "#d/keep nil"
        ),
        (
            #"[{"op":"replace","path":"/3/name","value":"Milk"},"#
                + #"{"op":"move","from":"/3","path":"/0"}]"#,
            "{:= {3 {:name \"Milk\"}} :> {3 0}}"
        ),
        (#"[{"op":"move","from":"/0","path":"/3/x"}]"#, "there is no place 3 in the list"),
        (#"[{"op":"move","from":"/0","path":"/2/x"}]"#, "{:- #{0} := {3 {:x \"a\"}}}"),
        (#"[{"op":"copy","from":"/3/name","path":"/3/x"}]"#, "{:= {3 {:x \"Wine\"}}}"),
        (
            #"[{"op":"move","from":"/3/name","path":"/3/x"}]"#,
            "{:= {3 {:name #d/del nil :x \"Wine\"}}}"
        ),
        (#"[{"op":"move","from":"/3/name","path":""}]"#, "\"Wine\""),
    ])
    func `what the operations mean stays`(json: String, delta: String) throws {
        let base: Value = ["a", "b", "c", ["name": "Wine"]]
        let patch = try JSONPatch(Value(json: json))

        do {
            #expect(try patch.delta(on: base).ednText() == delta)
        } catch TreeError.patchFailed(_, let reason) {
            #expect(reason == delta)
        }
    }

    @Test func `removes, edits, moves and inserts come in an order in which they can be done`()
        throws
    {
        let base: Value = ["a", "b", "c", "d", "e", ["x": 1]]
        let delta = try Delta(edn: "{:- #{1 2} := {5 {:x 2}} :> {4 0} :+ {2 \"n\"}}")

        let patch = try JSONPatch(delta, on: base)

        #expect(
            patch.encoded.jsonText()
                == #"[{"op":"replace","path":"/5/x","value":2},{"op":"remove","path":"/2"},"#
                + #"{"op":"remove","path":"/1"},{"from":"/2","op":"move","path":"/0"},"#
                + #"{"op":"add","path":"/2","value":"n"}]"#
        )
        #expect(try patch.applied(to: base) == delta.applied(to: base))
    }

    @Test func `texts and counters are replaced as a whole`() throws {
        let text = try Delta.text([.init(offset: 1, removed: 1, inserted: "x")])
        let delta = Delta.map(["text": .apply(text), "n": .apply(.adding(2)), "gone": .remove])

        #expect(
            try JSONPatch(delta, on: ["text": "abc", "n": 1]).encoded.jsonText()
                == #"[{"op":"replace","path":"/n","value":3},"#
                + #"{"op":"replace","path":"/text","value":"axc"}]"#
        )
    }

    @Test(arguments: [SmallWorld.arrangements, SmallWorld.mixed])
    func `every change of small values is a patch, and comes back as the same change`(
        world: [Value]
    ) throws {
        for base in world {
            for next in world { try check(base, .diff(base, next)) }
        }
    }

    @Test func `random changes are patches`() throws {
        for seed in 0..<30_000 as Range<UInt64> {
            let history = History(seed: seed)
            let first = Delta.diff(history.base, history.first)
            let second = Delta.diff(history.first, history.second)
            try check(history.base, try first.composed(with: second))
        }
    }

    @Test func `random shuffles of lists, with edits, inserts and removes, are patches`() throws {
        for seed in 0..<5_000 as Range<UInt64> {
            var random = Seeded(seed: seed)
            let base = Value.list((0..<20).map { ["id": .int($0), "x": 0] })
            var items = (base.list ?? []).shuffled(using: &random)
            if random.happens(0.5) {
                items.sort { $0["id"]?.integer ?? 0 < $1["id"]?.integer ?? 0 }
            }
            for _ in 0..<4 { items.swapAt(.random(in: 0..<20, using: &random), 3) }
            items.removeFirst(.random(in: 0..<5, using: &random))
            items[2] = ["id": items[2]["id"] ?? 0, "x": 1]
            for id in 50..<53 as Range<Int64> {
                items.insert(["id": .int(id)], at: .random(in: 0...items.count, using: &random))
            }
            try check(base, .diff(base, .list(items)))
        }
    }

    @Test func `operations at random places fail or not, but never in one way only`() throws {
        var doneCount = 0
        for seed in 0..<50_000 as Range<UInt64> {
            var random = Seeded(seed: seed)
            let base = random.treacherousValue()
            let operations = (0..<Int.random(in: 1...3, using: &random)).map { _ in
                random.wildOperation()
            }
            let patch = JSONPatch(operations: operations)
            let result = Result { try patch.applied(to: base) }
            let change = Result { try patch.delta(on: base) }
            switch (result, change) {
            case (.success(let value), .success(let delta)):
                doneCount += 1
                #expect(try delta.applied(to: base) == value, "seed \(seed)")
                #expect(try JSONPatch(patch.encoded) == patch, "seed \(seed)")
            case (.failure(let one), .failure(let other)):
                #expect(one as? TreeError == other as? TreeError, "seed \(seed)")
            default: Issue.record("\(patch.encoded) on \(base): \(result) but \(change)")
            }
        }
        #expect((1_000..<49_000).contains(doneCount), "both outcomes were tried")
    }

    @Test func `a delta for another base is refused`() {
        let delta = Delta.diff(["a": [1, 2, 3]], ["a": [1, 3]])

        #expect(throws: TreeError.self) { try JSONPatch(delta, on: ["a": [1]]) }
        #expect(throws: TreeError.self) { try JSONPatch(delta, on: [:]) }
    }

    private func check(_ base: Value, _ delta: Delta) throws {
        let next = try delta.applied(to: base)
        let patch = try JSONPatch(delta, on: base)
        let back = try patch.delta(on: base)
        let good =
            try patch.applied(to: base) == next && back.applied(to: base) == next
            && JSONPatch(patch.encoded) == patch
        if !good { Issue.record("\(base) by \(delta) → \(patch.encoded) → \(back)") }
    }
}

extension Seeded {
    /// An operation that was made for no document in particular.
    fileprivate mutating func wildOperation() -> JSONPatch.Operation {
        let (one, other) = (wildPointer(), wildPointer())
        switch Int.random(in: 0..<6, using: &self) {
        case 0: return .add(one, treacherousValue(depth: 1))
        case 1: return .remove(one)
        case 2: return .replace(one, treacherousValue(depth: 1))
        case 3: return .move(from: one, to: other)
        case 4: return .copy(from: one, to: other)
        default: return .test(one, treacherousValue(depth: 0))
        }
    }

    private mutating func wildPointer() -> JSONPointer {
        let count = pick([0, 1, 1, 1, 2, 2, 3])
        return JSONPointer(
            tokens: (0..<count).map { _ in happens(0.6) ? pick(["0", "1", "2"]) : treacherousKey() }
        )
    }
}

/// What must not cost the square of its size.
@Suite struct LargeJSONPatchTests {
    static let items = (0..<10_000).map { Value.int(Int64($0)) }

    @Test func `a list that is reversed or shuffled is a patch of as many moves`() throws {
        var random = Seeded(seed: 1)
        // Each of them longer than a move.
        let items = Self.items.indices.map { Value.string(Key("the item that was number \($0)")) }
        let base = Value.list(items)
        for other in [items.reversed(), items.shuffled(using: &random)] {
            let delta = Delta.diff(base, .list(other))
            let patch = try JSONPatch(delta, on: base)
            #expect(patch.operations.count > 9_000 && patch.operations.count < 10_000)
            #expect(try patch.applied(to: base) == .list(other))
            #expect(try patch.delta(on: base) == delta)
        }
    }

    @Test func `operations of all kinds on one list cost no square of their count`() throws {
        let small = try Self.mixed(2_500)
        let large = try Self.mixed(10_000)
        let cost = try CostRatio(small: small, large: large)
        #expect(cost.isLinear, "\(cost)")
    }

    /// The work of so many operations on a list of as many items.
    private static func mixed(_ count: Int) throws -> () throws -> Void {
        var random = Seeded(seed: 2)
        let items = Array(items.prefix(count))
        let base: Value = ["list": .list(Value.List(items)), "map": [:]]
        var model = items
        let operations = items.indices.map { number -> Value in
            let place = Int.random(in: model.indices, using: &random)
            let path = Value.string(Key("/list/\(place)"))
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                model.insert("new", at: place)
                return ["op": "add", "path": path, "value": "new"]
            case 1:
                model.remove(at: place)
                return ["op": "remove", "path": path]
            case 2:
                let from = Int.random(in: model.indices, using: &random)
                model.insert(model.remove(at: from), at: place)
                return ["op": "move", "from": .string(Key("/list/\(from)")), "path": path]
            default:
                model[place] = .int(Int64(-number))
                return ["op": "replace", "path": path, "value": .int(Int64(-number))]
            }
        }
        let patch = try JSONPatch(.list(Value.List(operations)))
        let result: Value = ["list": .list(Value.List(model)), "map": [:]]
        return { () throws in
            #expect(try patch.applied(to: base) == result)
            #expect(try patch.delta(on: base).applied(to: base) == result)
        }
    }
}
