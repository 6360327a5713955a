import GodwitTestKit
import Testing

@testable import GodwitTree

/// Changes that come again.
@Suite struct AlreadyAppliedTests {
    private let old: Value = ["items": [["id": 1]], "n": 1, "gone": true]
    private let new: Value = ["items": [["id": 1], ["id": 2]], "n": 2]

    @Test(.timeLimit(.minutes(1)))
    func `a patch of very many operations is recognised in a time that grows with their number`()
        throws
    {
        let count = 40_000
        var operations: [Value] = []
        for number in 0..<count {
            operations.append([
                "op": "add", "path": .string(Key("/b\(number)")), "value": .int(Int64(number)),
            ])
        }
        for number in 0..<count {
            operations.append(["op": "remove", "path": .string(Key("/a\(number)"))])
        }
        let patch = try JSONPatch(.list(Value.List(operations)), budget: .unlimited)
        let base = Value.map(Value.Map((0..<count).map { (Key("a\($0)"), .null) }))
        let after = try patch.applied(to: base)
        #expect(patch.isApplied(to: after))
        #expect(!patch.isApplied(to: base))
    }

    @Test func `a sealed delta is applied once`() throws {
        let change = SealedDelta.diff(old, new)
        #expect(try change.apply(to: old) == .applied(new))
        #expect(try change.apply(to: new) == .alreadyApplied)
        #expect(throws: TreeError.self) { try change.apply(to: ["items": [["id": 1]]]) }

        let back = try change.inverted(on: old)
        #expect(try back.apply(to: new) == .applied(old))
        #expect(try back.apply(to: old) == .alreadyApplied)
        #expect(throws: TreeError.self) { try change.inverted(on: new) }
        #expect(try SealedDelta.diff(old, old).apply(to: old) == .alreadyApplied)
    }

    @Test func `a seal is written and read as data and as EDN`() throws {
        let change = try SealedDelta(.diff([1], [1, 2]), on: [1])
        let (base, result) = (([1] as Value).digest, ([1, 2] as Value).digest)
        #expect(change.ednText() == "#d/sealed [\"\(base)\" {:+ {1 2}} \"\(result)\"]")
        #expect(try SealedDelta(edn: Array(change.ednText().utf8)) == change)
        #expect(try SealedDelta(edn: Array("{:+ {1 2}}".utf8)) == nil)
        #expect(try SealedDelta(encoded: change.encoded) == change)
        #expect(SealedDelta.isEncoded(in: change.encoded))
        #expect(!SealedDelta.isEncoded(in: change.delta.encoded))
    }

    @Test(arguments: [
        "['#']", "['#', '00', {}, '00']", "['#', 1, {}, 2]", "{}", "['#', D, ['?'], D]",
        "['#', D, {}]", "['#', D, {}, D, 1]",
    ])
    func `a damaged seal is refused`(text: String) throws {
        let digest = "\"\((1 as Value).digest)\""
        let json = text.replacing("'", with: "\"").replacing("D", with: digest)
        let value = try Value(json: json)
        #expect(throws: TreeError.self) { try SealedDelta(encoded: value) }
    }

    @Test func `a seal that names another result is refused`() throws {
        let change = SealedDelta.diff([1], [1, 2])
        let other: Value = .list([
            "#", change.encoded.list?[1] ?? 0, Delta.diff([1], [1, 3]).encoded,
            change.encoded.list?[3] ?? 0,
        ])
        #expect(throws: TreeError.self) { try SealedDelta(encoded: other).apply(to: [1]) }
    }

    @Test(arguments: [
        ##"[{"op":"add","path":"/l/-","value":{"id":2}}]"##,
        ##"[{"op":"add","path":"/l/0","value":[0]},{"op":"add","path":"/l/0","value":[9]}]"##,
        ##"[{"op":"remove","path":"/a"}]"##,
        ##"[{"op":"add","path":"/x","value":{}},{"op":"add","path":"/x/y","value":[1]}]"##,
        ##"[{"op":"move","from":"/a","path":"/m/a"},{"op":"copy","from":"/l","path":"/m/l"}]"##,
        ##"[{"op":"test","path":"/a","value":1},{"op":"copy","from":"/l/0","path":"/a"}]"##,
        ##"[{"op":"replace","path":"/m","value":{"z":1}},{"op":"remove","path":"/m/z"}]"##,
        ##"[{"op":"replace","path":"/a","value":2},{"op":"remove","path":"/m/k"}]"##,
        ##"[{"op":"replace","path":"","value":[1]},{"op":"add","path":"/0","value":[2]}]"##, "[]",
    ])
    func `a patch is recognised by what it leaves`(json: String) throws {
        let base: Value = ["a": 1, "l": [[1, 2], 3], "m": ["k": "v"]]
        let patch = try JSONPatch(Value(json: json))
        let after = try patch.applied(to: base)
        #expect(patch.isApplied(to: after))
        #expect(patch.isApplied(to: base) == (after == base))
    }

    @Test(arguments: [
        ##"[{"op":"add","path":"/l/-","value":"Wine"}]"##,
        ##"[{"op":"add","path":"/l/0","value":"Bread"}]"##,
        ##"[{"op":"add","path":"/n/1","value":2}]"##,
        ##"[{"op":"add","path":"/e/-","value":{}}]"##,
        ##"[{"op":"copy","from":"/l/0","path":"/l/-"}]"##,
        ##"[{"op":"add","path":"/n/0","value":3},{"op":"replace","path":"/n/0","value":1}]"##,
        ##"[{"op":"replace","path":"/by","value":"ann"},{"op":"add","path":"/l/-","value":"Wine"}]"##,
    ])
    func `a patch that puts a scalar into a list is not recognised`(json: String) throws {
        let document: Value = [
            "l": ["Wine", "Bread", "Wine"], "n": [1, 2], "e": [[:]], "by": "ann",
        ]
        #expect(try !JSONPatch(Value(json: json)).isApplied(to: document))
    }

    @Test func `a patch that leaves nothing is not recognised`() throws {
        let patches: [Value] = [
            [["op": "remove", "path": "/0"]], [["op": "move", "from": "/0", "path": "/1"]],
            [["op": "test", "path": "/0", "value": 1]],
        ]
        for patch in patches {
            let patch = try JSONPatch(patch)
            #expect(try !patch.isApplied(to: patch.applied(to: [1, 2, 3])))
        }
    }

    @Test(arguments: [
        ##"[{"op":"move","from":"/a","path":"/t"},{"op":"move","from":"/b","path":"/a"},{"op":"move","from":"/t","path":"/b"}]"##,
        ##"[{"op":"copy","from":"/a","path":"/t"},{"op":"copy","from":"/b","path":"/a"},{"op":"move","from":"/t","path":"/b"}]"##,
        ##"[{"op":"add","path":"/t","value":{}},{"op":"move","from":"/a","path":"/t/x"},{"op":"move","from":"/b","path":"/a"},{"op":"move","from":"/t/x","path":"/b"},{"op":"remove","path":"/t"}]"##,
    ])
    func `a patch that swaps two values is not taken for applied`(json: String) throws {
        let patch = try JSONPatch(Value(json: json))
        let base: Value = ["a": 1, "b": 2]
        #expect(try patch.applied(to: base) == ["a": 2, "b": 1])
        #expect(!patch.isApplied(to: base))
    }

    @Test func `no item is replaced behind the last one`() throws {
        let patch = try JSONPatch([["op": "replace", "path": "/-", "value": 1]])
        #expect(!patch.isApplied(to: [1]))
        #expect(throws: TreeError.self) { try patch.applied(to: [1]) }
    }

    /// Keys that are gone may always have been: only if the patch cannot be applied, it was.
    @Test func `no patch of moves that can still be applied is taken for applied`() throws {
        var recognised = 0
        for seed in 0..<UInt64(20_000) {
            var random = Seeded(seed: seed)
            func key() -> Value {
                ["/a", "/b", "/c", "/m/a", "/m/b"].randomElement(using: &random) ?? "/a"
            }
            let operations: [Value] = (0..<Int.random(in: 1...5, using: &random)).map { _ in
                random.happens(0.2)
                    ? ["op": "remove", "path": key()]
                    : ["op": "move", "from": key(), "path": key()]
            }
            let patch = try JSONPatch(.list(Value.List(operations)))
            let document: Value = ["a": 1, "b": 2, "m": ["a": 3]]
            guard patch.isApplied(to: document) else { continue }
            recognised += 1
            let again = try? patch.applied(to: document)
            #expect(again ?? document == document, "seed \(seed): \(operations)")
        }
        #expect(recognised > 100)
    }

    @Test(arguments: 1...300 as ClosedRange<UInt64>)
    func `the patch of a difference is known where it leads, and not where it comes from`(
        seed: UInt64
    ) throws {
        var random = Seeded(seed: seed)
        let (old, new) = (random.value(depth: 3), random.value(depth: 3))
        let patch = try JSONPatch(Delta.diff(old, new), on: old)
        let leavesTraces = patch.operations.allSatisfy { operation in
            switch operation {
            case .remove, .move: false
            case .add(let pointer, let value):
                value.isFilled || pointer.tokens.last?.isOfList != true
            default: true
            }
        }
        if leavesTraces || old == new {
            #expect(patch.isApplied(to: new), "seed \(seed): \(old) → \(new)")
        }
        #expect(old == new || !patch.isApplied(to: old), "seed \(seed): \(old) → \(new)")
    }

    @Test func `a patch that also removes or moves items is never taken for applied`() throws {
        for (document, patch) in [
            (
                ["status": "done", "tasks": ["a", "b"]],
                [
                    ["op": "replace", "path": "/status", "value": "done"],
                    ["op": "remove", "path": "/tasks/0"],
                ]
            ),
            (
                ["v": 2, "l": [1, 2, 3]],
                [
                    ["op": "replace", "path": "/v", "value": 2],
                    ["op": "move", "from": "/l/0", "path": "/l/2"],
                ]
            ),
        ] as [(Value, Value)] {
            #expect(!(try JSONPatch(patch).isApplied(to: document)))
        }
    }
}

extension Key {
    /// Whether this may be a place in a list.
    fileprivate var isOfList: Bool { text == "-" || Int(text) != nil }
}
