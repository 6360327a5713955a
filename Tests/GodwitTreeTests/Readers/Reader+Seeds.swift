import GodwitTree

extension Reader {
    /// Inputs that the reader takes: where a fuzzer begins.
    func seeds() throws -> [[UInt8]] {
        let deltas = try World.deltas.map { text in try Delta(edn: text) }
        switch self {
        case .json:
            let values = World.values.filter { !$0.holdsBytes }
            return (World.jsonTexts + values.map { $0.jsonText() }).map { Array($0.utf8) }
        case .edn:
            return (World.ednTexts + World.values.map { $0.ednText() }).map { Array($0.utf8) }
        case .cbor:
            return World.values.map(\.canonicalBytes)
        case .delta:
            return try deltas.flatMap { delta in
                [
                    delta.canonicalBytes, try delta.packed(on: World.base, .plain),
                    try delta.packed(on: World.base),
                ]
            }
        case .jsonDelta:
            return deltas.map { Array($0.encoded.jsonText().utf8) }
        case .ednDelta:
            return World.deltas.map { Array($0.utf8) }
        case .jsonPatch:
            let patches = try deltas.map { try JSONPatch($0, on: World.base).encoded.jsonText() }
            return (World.patches + patches).map { Array($0.utf8) }
        case .mergePatch:
            let values = World.values.filter { !$0.holdsBytes }
            return (World.mergePatches + values.map { $0.jsonText() }).map { Array($0.utf8) }
        case .merge:
            return try deltas.enumerated().flatMap { index, ours in
                try deltas.enumerated().map { other, theirs in
                    let policy = (index + other) % World.policies.count
                    return try Self.merging(ours, theirs, policy: policy)
                }
            }
        case .edits:
            return (0..<64).map { seed in (0..<64).map { UInt8($0 * seed & 0xff) } }
        }
    }

    /// What an input may be made of: a fuzzer puts such words into it.
    var words: [String] {
        switch self {
        case .json, .mergePatch:
            ["null", "true", "false", "\\u00e9", "\\ud83d\\ude00", "1e308", "-0.0", "\":", "{}"]
        case .edn:
            ["nil", "true", "#bytes \"", "#_", "#{", "\\newline", "\\u00e9", "1N", "1.5M", ";\n"]
        case .jsonPatch:
            ["add", "remove", "replace", "move", "copy", "test"].map { "{\"op\":\"\($0)\"," }
                + ["\"path\":\"/", "\"from\":\"/", "\"value\":", "/-", "~0", "~1"] + World.places
        case .jsonDelta:
            ["[\"=\",", "[\"~\",", "[\"+\",", "[\"-\"]", "[{\"-\":[", "\"=\":[", "\">\":["]
                + ["\"+\":["] + World.places
        case .ednDelta:
            ["#d/keep", "#d/set", "#d/map", "#d/list", "#d/text", "#d/inc", "#d/del"]
                + [":- #{", ":= {", ":> {", ":+ {", "[0 1]"] + World.places
        case .cbor, .delta, .merge, .edits:
            World.places
        }
    }
}

extension World {
    static let places = ["items", "row", "table", "tags", "id", "name", "count", "k7"]

    static let jsonTexts = [
        " [ 1 , -0, 1.0, 1e3, -2.5E-3, 5e-324, 9223372036854775807 ]\n",
        #"{"\u00e9": "\ud83d\ude00\n\/", "": {"a": []}, "\u0000": 0.1}"#,
        "{\"\u{e9}\": 1, \"e\u{301}\": 2}",
    ]

    static let ednTexts = [
        "{:a (1 2N +3) \"b\" [1.5e3 -0.0], :c.d/e nil} ; that is all", "#_ #inst \"2020\" [#_x :a]",
        #"[\a \newline \u00e9 \{ "\u00e9\t" #bytes "00fF"]"#, "#_{:a #{1 2/3} :b 1.5M} true",
    ]

    static let deltas = [
        "#d/keep nil", "{:a 2 :h #d/del nil :new [1 {:a nil}]}", "#d/set {}", "{:a #d/inc -3}",
        "{:g #d/inc 1 :e #bytes \"01\"}", "{:d {:a {:a {:b #d/inc 1 :c {}}}}}",
        "{:b #d/text [[0 1 \"b\"] [8 2 \"e\"] [22 0 \" and \u{e9}\"]]}",
        "{:b #d/text [[0 46 \"\"]]}", "{:b \"Bread and more\"}",
        "{:items {:- #{0}}}", "{:items {:- #{[0 4]} :+ {0 {:id 4 :name \"Milk\"}}}}",
        "{:items {:= {1 {:crossed true :count #d/inc 2}} :> {1 0}}}",
        "{:items {:= {0 {:name #d/text [[5 0 \"s\"]]}} :- #{2}}}",
        "{:items {:> {2 0} :+ {3 {:id 3 :name \"Oat milk\" :crossed false :count 1}}}}",
        "{:items {:+ {0 {:id 0} 5 {:id 6 :name \"Wine\"}}}}",
        "{:items {:+ {3 {:id 4 :name \"Cocoa\"} 5 {:id 7 :name \"Water\" :crossed false}}}}",
        "{:items #d/set [{:id 2}]}",
        "{:c {:= {0 #d/inc 1, 4 {:+ {0 1}}} :- #{1} :> {5 0}}}", "{:c {:> {[0 3] 3}}}",
        "{:row {:- #{[10 30] 50} :> {[60 20] 0} := {90 #d/inc 1}}}",
        "{:row {:+ {0 1 40 2 41 3}}}", "{:tags {:+ {1 \"blue\"} :- #{0}}}",
        "{:tags {:+ {1 \"cyan\" 4 \"teal\"}}}",
        "{:tags {:+ {4 \"pink\" 5 \"teal\"} :> {0 2}}}", "{:tags {:+ {4 \"teal\" 5 \"wine\"}}}",
        "{:v \"1.10.0\" :when \"2026-02-01\"}", "{:v \"2.0.0-a\" :when \"2025-12-31\"}",
        "{:v \"1.9.1\" :when \"2026-01-05 10:00\"}",
        "{:b #d/text [[7 11 \"soup\"] [35 0 \"most and \"]]}",
        "{:table {:k3 #d/del nil :k7 #d/inc 5 :k47 9 :x [] :longer-than-the-others {}}}",
        "#d/map {:- 1}", "{:items {:+ {3 [[1 2 3] [1 2 3] [1 2 4]]}}}",
        "{:items {:+ {3 \"This text is long enough, and long enough, to be compressed well\"}}}",
        "{:d {:a [] :e {:a 1}} :id \"other\" :tags nil}",
    ]

    static let patches = [
        #"[{"op":"add","path":"/items/-","value":{"id":4}},{"op":"remove","path":"/items/0"}]"#,
        #"[{"op":"move","from":"/items/0","path":"/c/1"},{"op":"copy","from":"/d","path":"/h"}]"#,
        #"[{"op":"test","path":"/a","value":1.0},{"op":"replace","path":"","value":{"a":[]}}]"#,
        #"[{"op":"move","from":"/row/9","path":"/row/0"},{"op":"add","path":"/~0x~1","value":0}]"#,
        #"[{"op":"copy","from":"","path":"/d/e"},{"op":"move","from":"/d/a","path":""}]"#,
    ]

    static let mergePatches = [
        #"{"a":null,"d":{"a":{"b":null,"a":{"a":1}}},"items":[{"id":2,"name":"Wine"}]}"#,
        #"{"tags":["old","new"],"b":"Bread and more","new":{"a":null,"b":{"c":null}}}"#,
    ]
}
