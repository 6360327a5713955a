import GodwitTestKit
import GodwitTree
import Testing

@testable import GodwitTool

@Suite struct DocumentMergeTests {
    private func merge(
        _ base: String?,
        _ ours: String,
        _ theirs: String
    ) throws -> DocumentMerge {
        try DocumentMerge(
            base: base.map { try Document(Array($0.utf8)) },
            ours: Document(Array(ours.utf8)),
            theirs: Document(Array(theirs.utf8)),
            policy: .standard
        )
    }

    private func text(_ base: String?, _ ours: String, _ theirs: String) throws -> String {
        String(decoding: try merge(base, ours, theirs).text, as: UTF8.self)
    }

    @Test func `their new keys stand where they have them, in the layout of ours`() throws {
        let base = #"{"z":1,"m":2}"#
        let ours = "{\n\t\"z\" : 1,\n\t\"m\" : 3\n}"
        let theirs = #"{"first":0,"z":1,"y":{"k":[1e2,{}]},"m":2}"#
        #expect(
            try text(base, ours, theirs)
                == """
                {
                \t"first" : 0,
                \t"z" : 1,
                \t"y" : {
                \t\t"k" : [
                \t\t\t1e2,
                \t\t\t{}
                \t\t]
                \t},
                \t"m" : 3
                }
                """
        )
    }

    @Test func `sorted keys stay sorted, others follow their neighbours, ours first`() throws {
        #expect(
            try text(#"{"a":1,"d":1}"#, #"{"a":1,"c":1,"d":1}"#, #"{"a":1,"b":1,"d":1}"#)
                == #"{"a":1,"b":1,"c":1,"d":1}"#
        )
        #expect(
            try text(#"{"z":1,"d":1}"#, #"{"z":1,"c":1,"d":1}"#, #"{"z":1,"b":1,"d":1,"a":1}"#)
                == #"{"z":1,"c":1,"b":1,"d":1,"a":1}"#
        )
        #expect(
            try text(#"{"b":1,"a":1}"#, #"{"b":2,"a":1}"#, #"{"a":1,"b":1}"#) == #"{"a":1,"b":2}"#
        )
    }

    @Test func `a key of no document goes to its place in a sorted map`() throws {
        let text = { (text: String, value: Value) in
            String(decoding: try Document(Array(text.utf8)).text(of: value), as: UTF8.self)
        }
        let value: Value = ["1": 1, "2": 2, "3": 3, "4": 4]
        #expect(try text(#"{"1":1,"3":3,"4":4}"#, value) == #"{"1":1,"2":2,"3":3,"4":4}"#)
        #expect(try text(#"{"4":4,"3":3,"1":1}"#, value) == #"{"4":4,"3":3,"2":2,"1":1}"#)
        #expect(try text(#"{"3":3,"4":4,"1":1}"#, value) == #"{"3":3,"4":4,"1":1,"2":2}"#)
    }

    @Test func `spelling that one side changed is kept, with the other side's edits`() throws {
        #expect(
            try text(
                #"{"a": 1.0, "s": "\u00e9", "n": [1.10, 2]}"#,
                #"{"a": 1.0, "s": "\u00e9", "n": [1.10, 3]}"#,
                #"{"a": 1.00, "s": "é", "n": [1.1, 2]}"#
            ) == #"{"a": 1.00, "s": "é", "n": [1.1, 3]}"#
        )
        let big = "18446744073709551616"
        #expect(
            try text("[\(big), 1]", "[\(big), 2]", "[\(big)0, 1]") == "[\(big)0, 2]"
        )
    }

    @Test func `a final newline, a byte order mark and CRLF stay or come from one side`() throws {
        let base = "\u{feff}{\r\n  \"a\": 1\r\n}"
        #expect(
            try text(base, base.replacing("1", with: "2"), base + "\r\n")
                == "\u{feff}{\r\n  \"a\": 2\r\n}\r\n"
        )
        #expect(
            try text(base, base.replacing("1", with: "2"), base.replacing("1", with: "1,\"b\":[0]"))
                == "\u{feff}{\r\n  \"a\": 2,\r\n  \"b\": [0]\r\n}"
        )
    }

    @Test func `the layout is that of the side that alone has laid out the document anew`() throws {
        let base = #"{"a": 1.0, "b": {"c": 2}}"#
        let edited = #"{"a": 1.0, "b": {"c": 3, "d": [1e1]}}"#
        let broken = "{\n\t\"a\": 1.0,\n\t\"b\": {\n\t\t\"c\": 2\n\t}\n}\n"
        let both = broken.replacing("2", with: "3,\n\t\t\"d\": [\n\t\t\t1e1\n\t\t]")
        #expect(try text(base, edited, broken) == both)
        #expect(try text(base, broken, edited) == both)
    }

    @Test func `if both sides have laid out the document anew, the layout is that of ours`() throws
    {
        let base = #"{"a": 1, "b": {"c": 2}}"#
        let ours = "{\n\t\"a\": 1,\n\t\"b\": {\n\t\t\"c\": 3\n\t}\n}\n"
        let theirs = "{\n  \"a\": 4,\n  \"b\": {\n    \"c\": 2\n  }\n}\n"
        #expect(try text(base, ours, theirs) == ours.replacing("1", with: "4"))
        #expect(try text(nil, ours, ours.replacing("\t", with: " ")) == ours)
    }

    @Test func `their order of keys and their indentation come with the edits of ours`() throws {
        let base = "{\n  \"b\": 1,\n  \"a\": [\n    1\n  ]\n}\n"
        let ours = base.replacing("\"b\": 1", with: "\"b\": 2,\n  \"c\": \"x\"")
        let theirs = "{\n    \"a\": [\n        1\n    ],\n    \"b\": 1\n}\n"
        let both = "{\n    \"a\": [\n        1\n    ],\n    \"b\": 2,\n    \"c\": \"x\"\n}\n"
        #expect(try text(base, ours, theirs) == both)
    }

    @Test func `a conflict in a document that theirs has laid out anew is marked there`() throws {
        let base = #"{"a": 1, "b": 2}"# + "\n"
        let theirs = "{\n  \"a\": 3,\n  \"b\": 2\n}\n"
        let marked = try merge(base, base.replacing("1", with: "4"), theirs).markedText()
        #expect(
            String(decoding: marked.bytes, as: UTF8.self)
                == """
                {
                <<<<<<< ours
                  "a": 4,
                ||||||| base
                  "a": 1,
                =======
                  "a": 3,
                >>>>>>> theirs
                  "b": 2
                }

                """
        )
    }

    @Test func `half of a surrogate pair in a line that nobody touched stops no merge`() throws {
        let base = "{\n  \"s\": \"cut \\uD83D\",\n  \"a\": 1,\n  \"b\": 1\n}\n"
        let ours = base.replacing("\"a\": 1", with: "\"a\": 2")
        let theirs = base.replacing("\"b\": 1", with: "\"b\": 2")
        #expect(try text(base, ours, theirs) == ours.replacing("\"b\": 1", with: "\"b\": 2"))
        let cut = theirs.replacing("cut", with: "was cut")
        #expect(try text(base, ours, cut) == cut.replacing("\"a\": 1", with: "\"a\": 2"))
    }

    @Test func `an empty line comes with the member behind it`() throws {
        let base = "{\n  \"a\": 1,\n\n  \"b\": 2\n}\n"
        let ours = base.replacing("2", with: "3")
        let theirs = base.replacing(": 1,\n", with: ": 1,\n  \"x\": 0,\n")
            .replacing(" 2\n", with: " 2,\n\n  \"c\": 4\n")
        #expect(try text(base, ours, theirs) == theirs.replacing(": 2", with: ": 3"))
    }

    @Test func `commas at the beginning of lines stay there`() throws {
        let base = "{ \"a\": 1\n, \"b\": 2\n}\n"
        let ours = base.replacing("2\n", with: "2\n, \"d\": 4\n")
        let theirs = base.replacing("2\n", with: "3\n, \"c\": 4\n")
        #expect(
            try text(base, ours, theirs)
                == "{ \"a\": 1\n, \"b\": 3\n, \"c\": 4\n, \"d\": 4\n}\n"
        )
    }

    @Test func `a conflict in a list is marked where the item stands in the result`() throws {
        let base = "[\n  {\"id\": 1, \"n\": \"a\"},\n  {\"id\": 2, \"n\": \"b\"}\n]\n"
        let ours = base.replacing("b", with: "ours")
            .replacing("[\n", with: "[\n  {\"id\": 0, \"n\": \"new\"},\n")
        let theirs = "[\n  {\"id\": 2, \"n\": \"theirs\"},\n  {\"id\": 1, \"n\": \"A\"}\n]\n"
        let marked = try merge(base, ours, theirs).markedText()
        #expect(
            String(decoding: marked.bytes, as: UTF8.self)
                == """
                [
                  {"id": 0, "n": "new"},
                <<<<<<< ours
                  {"id": 2, "n": "ours"},
                ||||||| base
                  {"id": 2, "n": "b"},
                =======
                  {"id": 2, "n": "theirs"},
                >>>>>>> theirs
                  {"id": 1, "n": "A"}
                ]

                """
        )
    }

    @Test func `an item that one side removed does not shift the conflicts behind it`() throws {
        let base = "[\n  {\"id\": 1, \"n\": 0},\n  {\"id\": 2},\n  {\"id\": 3, \"n\": 0}\n]\n"
        let ours = "[\n  {\"id\": 2},\n  {\"id\": 3, \"n\": 5}\n]\n"
        let theirs = base.replacing("0", with: "7")
        let marked = try merge(base, ours, theirs).markedText()
        #expect(marked.count == 2)
        for (side, text) in [("ours", ours), ("base", base), ("theirs", theirs)] {
            let chosen = MarkedChoice.choose(side, from: marked.bytes)
            #expect(String(decoding: chosen, as: UTF8.self) == text)
        }
    }

    @Test func `any choice of sides keeps a record between two contested ones, once`() throws {
        func user(_ id: String, _ quota: Int) -> String {
            "  {\n    \"id\": \"\(id)\",\n    \"quota\": \(quota),\n    \"shell\": \"zsh\",\n    \"admin\": true\n  }"
        }
        func list(_ users: String...) -> String { "[\n\(users.joined(separator: ",\n"))\n]\n" }
        let max = "  {\n    \"id\": \"max\",\n    \"group\": \"guest\"\n  }"
        let marked = try merge(
            list(user("ann", 10), max, user("bob", 20)),
            list(max, user("bob", 25)),
            list(user("ann", 15), max)
        ).markedText()
        #expect(marked.count == 2)
        for first in ["ours", "theirs"] {
            for second in ["ours", "theirs"] {
                let chosen = MarkedChoice.choose({ $0 == 0 ? first : second }, from: marked.bytes)
                let users = (first == "ours" ? [] : [user("ann", 15)]) + [max]
                let all = users + (second == "ours" ? [user("bob", 25)] : [])
                // A comma of the line before a removed record may stay.
                let text = String(decoding: chosen, as: UTF8.self)
                for name in ["ann", "max", "bob"] {
                    let count = text.ranges(of: "\"id\": \"\(name)\"").count
                    #expect(count == all.count { $0.contains("\"\(name)\"") }, "\(text)")
                }
                #expect(first == "ours" || text.contains(user("ann", 15)))
                #expect(second == "theirs" || text.contains(user("bob", 25)))
            }
        }
    }

    @Test func `a new string is escaped as the document escapes`() throws {
        let document = try Document(Array(#"{"a": "\u00E9\/", "b": "x"}"#.utf8))
        let text = document.text(of: ["a": "\u{e9}/", "b": "\u{1f600}/\u{1}\n"])
        #expect(
            String(decoding: text, as: UTF8.self)
                == #"{"a": "\u00E9\/", "b": "\uD83D\uDE00\/\u0001\n"}"#
        )
    }

    @Test func `markers stand around contested lines alone`() throws {
        let base = "{\n  \"a\": 1,\n  \"b\": [\n    1\n  ],\n  \"c\": {\"x\": 1}\n}\n"
        let ours = base.replacing("\"a\": 1", with: "\"a\": 2").replacing("{\"x\": 1}", with: "{}")
        let theirs = base.replacing("\"a\": 1", with: "\"a\": 3")
            .replacing("\"x\": 1", with: "\"x\": 2").replacing("    1\n", with: "    1,\n    2\n")
        let marked = try merge(base, ours, theirs).markedText()
        #expect(marked.count == 2)
        #expect(
            String(decoding: marked.bytes, as: UTF8.self)
                == """
                {
                <<<<<<< ours
                  "a": 2,
                ||||||| base
                  "a": 1,
                =======
                  "a": 3,
                >>>>>>> theirs
                  "b": [
                    1,
                    2
                  ],
                <<<<<<< ours
                  "c": {}
                ||||||| base
                  "c": {"x": 1}
                =======
                  "c": {"x": 2}
                >>>>>>> theirs
                }

                """
        )
    }

    @Test func `a comma that goes with the last line is marked with it`() throws {
        let base = "{\n  \"a\": 1,\n  \"b\": {\n    \"x\": 1\n  }\n}"
        let ours = "{\n  \"a\": 1\n}"
        let theirs = base.replacing("\"x\": 1", with: "\"x\": 2")
        let marked = try merge(base, ours, theirs).markedText(size: 9)
        let text = String(decoding: marked.bytes, as: UTF8.self)
        #expect(text.hasPrefix("{\n<<<<<<<<< ours\n  \"a\": 1\n||||||||| base\n  \"a\": 1,\n"))
        #expect(text.hasSuffix(">>>>>>>>> theirs\n}"))
    }

    @Test(arguments: 0..<400 as Range<UInt64>)
    func `each choice between markers is the merge with that side's wish`(seed: UInt64) throws {
        var random = Seeded(seed: seed)
        let base = Value.map(random.map(depth: 4))
        let (ours, theirs) = (random.edited(base), random.edited(base))
        var scribe = Scribe(indentation: "  ")
        scribe.isShortOnOneLine = random.happens(0.5)
        let documents = try merge(
            scribe.text(base, seed: 1),
            scribe.text(ours, seed: 1),
            scribe.text(theirs, seed: 1)
        )
        let marked = documents.markedText()
        let wishes: [(String, KeyPath<Conflict, Value?>)] = [
            ("ours", \.ours), ("base", \.base), ("theirs", \.theirs),
        ]
        for (side, wish) in wishes {
            let chosen = try Document(MarkedChoice.choose(side, from: marked.bytes)).value
            for conflict in documents.merge.conflicts where conflict.isAtKeys {
                let part = chosen.part(at: conflict.path.steps)
                #expect(part == conflict[keyPath: wish], "seed \(seed), \(side), \(conflict)")
            }
        }
        #expect(marked.count == 0 || !documents.merge.conflicts.isEmpty, "seed \(seed)")
        #expect(try Document(documents.text).value == documents.merge.value, "seed \(seed)")
    }
}

extension Conflict {
    /// Whether the place is the same in all versions, and each side's wish a whole.
    fileprivate var isAtKeys: Bool {
        choice != .both
            && path.steps.allSatisfy { step in
                if case .key = step { true } else { false }
            }
    }
}
