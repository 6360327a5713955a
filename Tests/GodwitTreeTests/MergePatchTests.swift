import GodwitTestKit
import GodwitTree
import Testing

/// JSON Merge Patch, RFC 7386.
@Suite struct MergePatchTests {
    /// The cases of appendix A: document, patch, result.
    static let appendix = [
        (#"{"a":"b"}"#, #"{"a":"c"}"#, #"{"a":"c"}"#),
        (#"{"a":"b"}"#, #"{"b":"c"}"#, #"{"a":"b","b":"c"}"#),
        (#"{"a":"b"}"#, #"{"a":null}"#, "{}"),
        (#"{"a":"b","b":"c"}"#, #"{"a":null}"#, #"{"b":"c"}"#),
        (#"{"a":["b"]}"#, #"{"a":"c"}"#, #"{"a":"c"}"#),
        (#"{"a":"c"}"#, #"{"a":["b"]}"#, #"{"a":["b"]}"#),
        (#"{"a":{"b":"c"}}"#, #"{"a":{"b":"d","c":null}}"#, #"{"a":{"b":"d"}}"#),
        (#"{"a":[{"b":"c"}]}"#, #"{"a":[1]}"#, #"{"a":[1]}"#),
        (#"["a","b"]"#, #"["c","d"]"#, #"["c","d"]"#),
        (#"{"a":"b"}"#, #"["c"]"#, #"["c"]"#),
        (#"{"a":"foo"}"#, "null", "null"),
        (#"{"a":"foo"}"#, #""bar""#, #""bar""#),
        (#"{"e":null}"#, #"{"a":1}"#, #"{"a":1,"e":null}"#),
        (#"[1,2]"#, #"{"a":"b","c":null}"#, #"{"a":"b"}"#),
        ("{}", #"{"a":{"bb":{"ccc":null}}}"#, #"{"a":{"bb":{}}}"#),
    ]

    @Test(arguments: appendix)
    func `the cases of the RFC`(document: String, patch: String, result: String) throws {
        let base = try Value(json: document)
        let patch = try Value(json: patch)

        #expect(try base.applying(mergePatch: patch) == (try Value(json: result)))
        #expect(try Delta(mergePatch: patch, on: base).applied(to: base) == Value(json: result))
    }

    @Test func `of small values, every patch of every base does what the RFC's own words do`() {
        for base in SmallWorld.mixed + nulls {
            for patch in SmallWorld.mixed + nulls { check(base, patch) }
        }
    }

    @Test func `random patches of random bases do what the RFC's own words do`() {
        for seed in 0..<20_000 as Range<UInt64> {
            var random = Seeded(seed: seed)
            let base = random.value()
            check(base, random.edited(base))
            check(base, random.value())
        }
    }

    @Test func `a delta that can be a merge patch has its effect, and any other says where not`() {
        var refused = 0
        for base in SmallWorld.mixed + nulls {
            for next in SmallWorld.mixed + nulls { refused += checkBack(base, next) }
        }
        #expect(refused > 0)
        refused = 0
        for seed in 0..<20_000 as Range<UInt64> {
            let history = History(seed: seed)
            refused += checkBack(history.base, history.first)
        }
        #expect((1..<10_000).contains(refused))
    }

    @Test func `texts and counters are replaced as a whole, and what stays is not mentioned`()
        throws
    {
        let text = try Delta.text([.init(offset: 1, removed: 1, inserted: "x")])
        let delta = Delta.map([
            "text": .apply(text), "count": .apply(.adding(2)), "gone": .remove,
            "never": .remove, "same": .apply(.set(1)),
        ])
        let base: Value = ["text": "abc", "count": 1, "gone": 1, "same": 1]

        #expect(
            try delta.mergePatch(on: base) == ["text": "axc", "count": 3, "gone": .null]
        )
        #expect(try Delta.keep.mergePatch(on: base) == [:])
        #expect(try Delta.keep.mergePatch(on: [1]) == [1])
        #expect(try Delta.set(.null).mergePatch(on: base) == .null)
    }

    @Test func `a null that would have to be set is refused with its place`() {
        let path = ValuePath([.key("a"), .key("b")])
        let reason = "a merge patch takes null for a removal"
        #expect(throws: TreeError.inexpressible(path: path, reason: reason)) {
            try Delta.diff(["a": ["b": 1]], ["a": ["b": .null]]).mergePatch(on: ["a": ["b": 1]])
        }
        #expect(throws: TreeError.inexpressible(path: path, reason: reason)) {
            try Delta.diff([:], ["a": ["b": .null]]).mergePatch(on: [:])
        }
        #expect(throws: Never.self) {
            try Delta.diff(["a": .null], ["a": .null, "b": [.null]]).mergePatch(on: ["a": .null])
        }
    }

    @Test func `a delta for another base is refused`() {
        let delta = Delta.map(["a": .apply(.adding(1))])

        #expect(throws: TreeError.self) { try delta.mergePatch(on: ["a": "text"]) }
        #expect(throws: TreeError.self) { try delta.mergePatch(on: [:]) }
    }

    /// Values with nulls in all places.
    private let nulls: [Value] = [
        ["a": .null], ["a": ["a": .null, "b": 1]], ["a": [.null]], ["a": ["b": ["a": .null]]],
        [.null], [["a": .null]], ["a": [:]], ["a": .null, "b": 2],
    ]

    /// Section 2 of the RFC, line by line.
    private func mergePatch(_ target: Value?, _ patch: Value) -> Value {
        guard case .map(let changes) = patch else { return patch }
        var result = target?.map ?? [:]
        for entry in changes {
            if entry.value == .null {
                result[entry.key] = nil
            } else {
                result[entry.key] = mergePatch(result[entry.key], entry.value)
            }
        }
        return .map(result)
    }

    private func check(_ base: Value, _ patch: Value) {
        let result = mergePatch(base, patch)
        let delta = try? Delta(mergePatch: patch, on: base)
        #expect((try? base.applying(mergePatch: patch)) == result, "\(base) and \(patch)")
        #expect((try? delta?.applied(to: base)) == result, "\(base) and \(patch)")
        #expect((delta == .keep) == (base == result), "\(base) and \(patch)")
    }

    /// Returns 1 when there is no such merge patch.
    private func checkBack(_ base: Value, _ next: Value) -> Int {
        do {
            let patch = try Delta.diff(base, next).mergePatch(on: base)
            let set = try Delta.set(next).mergePatch(on: base)
            #expect(try base.applying(mergePatch: patch) == next, "\(base) → \(next)")
            #expect(patch == set, "the way does not matter: \(base) → \(next)")
            return 0
        } catch .inexpressible {
            return 1
        } catch {
            Issue.record("\(error): \(base) → \(next)")
            return 1
        }
    }
}
