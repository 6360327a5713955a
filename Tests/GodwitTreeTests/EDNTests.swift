import GodwitTestKit
import GodwitTree
import Testing

/// EDN text, as it is written and as people write it.
@Suite struct EDNTests {
    @Test func `values read back as they were`() throws {
        for seed in 0..<20_000 as Range<UInt64> {
            var random = Seeded(seed: seed)
            let value = random.happens(0.5) ? random.value() : random.treacherousValue()
            #expect(try Value(edn: value.ednText()) == value, "seed \(seed)")
        }
        for value in SmallWorld.mixed + [.bytes([]), .bytes([0, 171])] {
            #expect(try Value(edn: value.ednText()) == value)
        }
    }

    @Test func `deltas read back as they were, from EDN and from JSON`() throws {
        for seed in 0..<20_000 as Range<UInt64> {
            var random = Seeded(seed: seed)
            let delta = random.wildDelta()
            #expect(try Delta(edn: delta.ednText()) == delta, "seed \(seed)")
            #expect(try Delta(encoded: delta.encoded) == delta, "seed \(seed)")
        }
        for base in SmallWorld.mixed {
            for next in SmallWorld.mixed {
                let delta = Delta.diff(base, next)
                #expect(try Delta(edn: delta.ednText()) == delta)
            }
        }
    }

    @Test(
        arguments: [
            (" 1 ", 1), ("+7", 7), ("-0", 0), ("7N", 7), ("-9223372036854775808N", .int(.min)),
            ("1.5", 1.5), ("-1e3", -1000.0), ("2.5E-1", 0.25), ("-0.0", 0.0), ("nil", .null),
            ("true", true), ("[1,2,,3]", [1, 2, 3]), ("(1 (2))", [1, [2]]), ("{}", [:]),
            ("{:a 1, \"b\" 2}", ["a": 1, "b": 2]), (":a", "a"), (":ns/name", "ns/name"),
            ("[:- := :> :+]", ["-", "=", ">", "+"]), ("{\\a 1}", ["a": 1]),
            ("; a comment\n1 ; another", 1), ("1;", 1), ("[1 #_ 2 3]", [1, 3]),
            ("#_ #_ a b [#_ c]", []), ("#_ #inst \"2020\" 1", 1), ("[#_ 1/2 #_ #{1} #_ x]", []),
            ("#_ #bytes #_ 1 \"00\" #bytes #_ 2 \"ff\"", .bytes([255])), ("#_##Inf 1", 1),
            ("[1\"a\"\\b[]:c()]", [1, "a", "b", [], "c", []]),
            ("\\c", "c"), ("\\newline", "\n"), ("\\space", " "), ("\\u00e9", "\u{e9}"),
            (
                "[\\( \\] \\, \\\\ \\\" \\u \\\u{6c34}]",
                ["(", "]", ",", "\\", "\"", "u", "\u{6c34}"]
            ),
            ("\"two\nlines\"", "two\nlines"), ("\"\\t\\u0041\\ud83d\\ude00\"", "\tA\u{1f600}"),
            ("\"\u{e9}\"", "\u{e9}"), ("#bytes \"00Ff\"", .bytes([0, 255])), ("\u{c}\t,\r\n1", 1),
        ] as [(String, Value)]
    )
    func `what people write is read`(edn: String, value: Value) throws {
        #expect(try Value(edn: edn) == value)
    }

    @Test(arguments: [
        ("", 0, "the input ends too early"), ("[1", 2, "the input ends too early"),
        ("1 2", 3, "there is more after the value"), ("1 ]", 2, "there is more after the value"),
        ("]", 0, "no value begins like this"), ("[1}", 2, "] was expected"),
        ("{:a}", 0, "a key has no value in this map"),
        ("{1 2}", 1, "a key is a keyword or a string"),
        ("{:a 1 \"a\" 2}", 0, "the key \"a\" occurs twice in this map"),
        ("{#bytes \"00\" 1}", 1, "a key has no tag"),
        ("[#inst \"2020\"]", 1, "the tag #inst is unknown here"),
        ("#bytes \"0\"", 0, "bytes are hexadecimal digits in a string"),
        ("#bytes #bytes \"00\"", 0, "the tag #bytes is unknown here"),
        ("#d/set 1", 0, "the tag #d/set is unknown here"),
        ("#bytes ]", 7, "an element was expected after a tag or #_"),
        ("[#_]", 3, "an element was expected after a tag or #_"),
        ("#_ 1", 4, "the input ends too early"), ("#_", 2, "the input ends too early"),
        ("abc", 0, "a symbol is not a value"), ("#{1}", 0, "a set is not a value; a vector is"),
        ("##NaN", 0, "infinities and NaN are not values"), ("1/2", 0, "a ratio is not a value"),
        ("1.5M", 0, "an exact decimal is not a value"),
        ("9223372036854775808", 0, "the integer does not fit in 64 bits"),
        ("9223372036854775808N", 0, "the integer does not fit in 64 bits"),
        ("1e999", 0, "the number is beyond a double's range"),
        ("01", 0, "no number is written like this"), ("1.", 0, "no number is written like this"),
        ("1e", 0, "no number is written like this"), ("1x", 0, "no number is written like this"),
        (":", 0, "a keyword has a name"), ("::a", 0, "a keyword has a name"),
        ("\"a", 0, "the string has no end"), ("\"\\/\"", 1, "no such escape"),
        ("\"\\ud800\"", 1, "half of a surrogate pair stands alone"),
        ("\\", 0, "a character was expected"), ("\\nul", 0, "no character has this name"),
        ("\\ud800", 0, "no character has this name"), ("^a", 0, "no value begins like this"),
        ("#1", 0, "no value begins like this"), ("#", 0, "no value begins like this"),
    ])
    func `malformed EDN is refused with the place of the fault`(
        edn: String,
        offset: Int,
        reason: String
    ) {
        #expect(throws: TreeError.malformed(format: .edn, offset: offset, reason: reason)) {
            try Value(edn: edn)
        }
    }

    @Test func `a depth bomb is refused, not followed`() {
        let limit = TreeError.tooDeep(limit: Value.depthMax)
        for bomb in ["[", "(", "{:a ", "#_[", "[#_ #_"] {
            let text = String(repeating: bomb, count: 300_000)
            #expect(throws: limit) { try Value(edn: text) }
            #expect(throws: TreeError.self) { try Delta(edn: text) }
        }
        #expect(throws: limit) {
            try Delta(
                edn: String(repeating: "{:a ", count: 100) + "1"
                    + String(repeating: "}", count: 100)
            )
        }
        for chain in ["#_ ", "#a ", "#_ #a "] {
            let text = String(repeating: chain, count: 300_000)
            #expect(throws: TreeError.self) { try Value(edn: text) }
            #expect(throws: TreeError.self) { try Delta(edn: text + "1") }
        }
    }

    @Test func `a value may be as deep as it may be elsewhere, and so may a delta`() throws {
        var deep: Value = 1
        var edits: Delta = .set(2)
        for _ in 0..<Value.depthMax {
            deep = [deep]
            edits = .list(try ListDelta(edits: [.init(position: 0, delta: edits)]))
        }
        #expect(try Value(edn: deep.ednText()) == deep)
        #expect(try Delta(edn: edits.ednText()) == edits)
        #expect(try Delta(edn: edits.ednText()).applied(to: deep) != deep)
        #expect(throws: TreeError.tooDeep(limit: Value.depthMax)) {
            try Value(edn: "[" + deep.ednText() + "]")
        }
    }

    @Test func `every byte may be damaged, none can crash the reader`() {
        var random = Seeded(seed: 1)
        let bytes = Array("[]{}()#_\\\":;, \nd/setNeE+-.0a\u{0}\u{7f}".utf8) + [0xc3, 0xff]
        for _ in 0..<20_000 {
            let delta = random.wildDelta()
            var text = Array((random.happens(0.5) ? delta.ednText() : "\(random.value())").utf8)
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                text[Int.random(in: text.indices, using: &random)] = random.pick(bytes)
            }
            if let value = try? Value(edn: text) {
                #expect(throws: Never.self) { try Value(edn: value.ednText()) }
            }
            if let delta = try? Delta(edn: text) {
                #expect(throws: Never.self) { try Delta(edn: delta.ednText()) }
            }
        }
    }
}

/// Deltas in EDN.
@Suite struct EDNDeltaTests {
    @Test(arguments: [
        ("{:a 1}", "{:a 1}"), ("{:a #d/del nil}", "{:a #d/del nil}"), ("5", "5"), (":a", "\"a\""),
        ("[1 2]", "[1 2]"), ("#d/set {:- 1}", "#d/set {\"-\" 1}"), ("{}", "#d/keep nil"),
        ("#d/keep nil", "#d/keep nil"), ("{:a #d/keep nil}", "#d/keep nil"),
        ("{:+ {1 {:name \"Wine\"}}}", "{:+ {1 {:name \"Wine\"}}}"),
        ("{\"+\" {1 2}}", "{:+ {1 2}}"), ("#d/list {:- #{0}}", "{:- #{0}}"),
        ("{:- #{1 2 3 [5 2]}}", "{:- #{[1 3] [5 2]}}"), ("{:> {0 4, 1 5}}", "{:> {[0 2] 4}}"),
        ("{:> {[7 3] 0}}", "{:> {[7 3] 0}}"), ("#d/map {:- 1}", "#d/map {\"-\" 1}"),
        ("{:- 1 :a 2}", "{\"-\" 1 :a 2}"), ("#d/map {:a 1}", "{:a 1}"), ("#d/inc 3", "#d/inc 3"),
        ("#d/text [[5 0 \"b\"] [1 2 \"a\"]]", "#d/text [[1 2 \"a\"] [5 0 \"b\"]]"),
        ("#d/set #bytes \"00\"", "#bytes \"00\""), ("#_ 1 #d/inc #_ 2 3", "#d/inc 3"),
    ])
    func `a delta is read, and written in one way`(edn: String, normal: String) throws {
        #expect(try Delta(edn: edn).ednText() == normal)
    }

    @Test(arguments: [
        ("#d/del nil", 0, "only what stands under a key can be removed like this"),
        ("{:- #{1} :- #{2}}", 9, "a part occurs twice"),
        ("{:- 1}", 4, "a set of positions was expected"),
        ("{:- [1]}", 4, "a set of positions was expected"),
        ("{:- #{-1}}", 6, "a position is a natural number"),
        ("{:- #{[1 2 3]}}", 6, "[position count] was expected"),
        ("{:- #{9223372036854775807}}", 6, "a position is a natural number"),
        ("{:- #{[1099511627776 1099511627776]}}", 0, "a position is out of range"),
        ("{:- #{1 1}}", 0, "two parts claim one position of a list"),
        ("{:- #{1} := {1 5}}", 0, "an item is both removed and edited"),
        ("{:+ {:a 1}}", 5, "a position is a natural number"),
        ("{:+ 1}", 4, "a map of positions was expected"),
        ("#d/list {:a 1}", 9, "an unknown part \"a\" of a list's delta"),
        ("#d/list 1", 0, "the delta of a list was expected"),
        ("#d/map 1", 0, "a map of changes was expected"),
        ("#d/text 1", 0, "a vector of places was expected"),
        ("#d/text [[1 2]]", 9, "[offset removed \"inserted\"] was expected"),
        ("#d/text [[1 5 \"\"] [2 1 \"\"]]", 0, "splices overlap, or are out of range"),
        ("#d/inc 1.5", 0, "an increment is an integer"),
        ("#d/other 1", 0, "the tag #d/other is unknown here"),
        ("{:a 1 :a 2}", 0, "the key \"a\" occurs twice in this map"),
        ("{1 2}", 1, "a key is a keyword or a string"),
    ])
    func `a delta that means nothing is refused with the place of the fault`(
        edn: String,
        offset: Int,
        reason: String
    ) {
        #expect(throws: TreeError.malformed(format: .edn, offset: offset, reason: reason)) {
            try Delta(edn: edn)
        }
    }

    @Test func `runs of a million million items print short, and read back`() throws {
        let delta = Delta.list(
            try ListDelta(
                removes: [3_000_000_000..<1_000_000_000_000],
                moves: [ListDelta.Move(source: 0, target: 2_000_000_000, count: 500_000_000)]
            )
        )
        #expect(
            delta.ednText() == "{:- #{[3000000000 997000000000]} :> {[0 500000000] 2000000000}}"
        )
        #expect(
            delta.encoded.jsonText()
                == #"[{"-":[[3000000000,997000000000]],">":[[0,500000000],2000000000]}]"#
        )
        #expect(try Delta(edn: delta.ednText()) == delta)
        #expect(try Delta(encoded: delta.encoded) == delta)
    }

    @Test(arguments: [
        "[{\"-\": [[1]]}]", "[{\"-\": [[1, 2, 3]]}]", "[{\"-\": [[1, -2]]}]",
        "[{\"-\": [[1, 3], 2]}]", "[{\">\": [[1, \"2\"], 0]}]", "[{\"-\": [[[1, 2], 2]]}]",
    ])
    func `a run in JSON that is none is refused`(json: String) throws {
        let value = try Value(json: json)

        #expect(throws: TreeError.self) { try Delta(encoded: value) }
    }
}
