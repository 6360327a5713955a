import GodwitTestKit
import GodwitTree
import Testing

/// JSON Patch, RFC 6902, and JSON Pointer, RFC 6901.
@Suite struct JSONPatchTests {
    /// The examples of appendix A: document, patch, and the result, or nil where it must fail.
    static let appendix: [(String, String, String?)] = [
        (
            #"{"foo":"bar"}"#, #"[{"op":"add","path":"/baz","value":"qux"}]"#,
            #"{"baz":"qux","foo":"bar"}"#
        ),
        (
            #"{"foo":["bar","baz"]}"#, #"[{"op":"add","path":"/foo/1","value":"qux"}]"#,
            #"{"foo":["bar","qux","baz"]}"#
        ),
        (
            #"{"baz":"qux","foo":"bar"}"#, #"[{"op":"remove","path":"/baz"}]"#,
            #"{"foo":"bar"}"#
        ),
        (
            #"{"foo":["bar","qux","baz"]}"#, #"[{"op":"remove","path":"/foo/1"}]"#,
            #"{"foo":["bar","baz"]}"#
        ),
        (
            #"{"baz":"qux","foo":"bar"}"#, #"[{"op":"replace","path":"/baz","value":"boo"}]"#,
            #"{"baz":"boo","foo":"bar"}"#
        ),
        (
            #"{"foo":{"bar":"baz","waldo":"fred"},"qux":{"corge":"grault"}}"#,
            #"[{"op":"move","from":"/foo/waldo","path":"/qux/thud"}]"#,
            #"{"foo":{"bar":"baz"},"qux":{"corge":"grault","thud":"fred"}}"#
        ),
        (
            #"{"foo":["all","grass","cows","eat"]}"#,
            #"[{"op":"move","from":"/foo/1","path":"/foo/3"}]"#,
            #"{"foo":["all","cows","eat","grass"]}"#
        ),
        (
            #"{"baz":"qux","foo":["a",2,"c"]}"#,
            #"[{"op":"test","path":"/baz","value":"qux"},{"op":"test","path":"/foo/1","value":2}]"#,
            #"{"baz":"qux","foo":["a",2,"c"]}"#
        ),
        (#"{"baz":"qux"}"#, #"[{"op":"test","path":"/baz","value":"bar"}]"#, nil),
        (
            #"{"foo":"bar"}"#, #"[{"op":"add","path":"/child","value":{"grandchild":{}}}]"#,
            #"{"foo":"bar","child":{"grandchild":{}}}"#
        ),
        (
            #"{"foo":"bar"}"#, #"[{"op":"add","path":"/baz","value":"qux","xyz":123}]"#,
            #"{"foo":"bar","baz":"qux"}"#
        ),
        (#"{"foo":"bar"}"#, #"[{"op":"add","path":"/baz/bat","value":"qux"}]"#, nil),
        (#"{"foo":"bar"}"#, #"[{"op":"add","path":"/baz","value":"qux","op":"remove"}]"#, nil),
        (
            #"{"/":9,"~1":10}"#, #"[{"op":"test","path":"/~01","value":10}]"#,
            #"{"/":9,"~1":10}"#
        ),
        (#"{"/":9,"~1":10}"#, #"[{"op":"test","path":"/~01","value":"10"}]"#, nil),
        (
            #"{"foo":["bar"]}"#, #"[{"op":"add","path":"/foo/-","value":["abc","def"]}]"#,
            #"{"foo":["bar",["abc","def"]]}"#
        ),
    ]

    @Test(arguments: appendix)
    func `the examples of the RFC`(document: String, patch: String, result: String?) throws {
        let base = try Value(json: document)
        guard let result = try result.map({ try Value(json: $0) }) else {
            #expect(throws: TreeError.self) {
                try JSONPatch(Value(json: patch)).applied(to: base)
            }
            return
        }
        let patch = try JSONPatch(Value(json: patch))
        #expect(try patch.applied(to: base) == result)
        #expect(try patch.delta(on: base).applied(to: base) == result)
        #expect(try JSONPatch(patch.encoded) == patch)
    }

    @Test(arguments: [
        ("{}", nil, "a patch is a list of operations"), ("[1]", 0, "an operation is a map"),
        ("[{}]", 0, "it has no \"op\""), (#"[{"op": 1}]"#, 0, "it has no \"op\""),
        (#"[{"op": "spam", "path": ""}]"#, 0, "the op \"spam\" is unknown"),
        (#"[{"op": "remove"}]"#, 0, "it has no \"path\""),
        (#"[{"op": "remove", "path": null}]"#, 0, "it has no \"path\""),
        (#"[{"op": "add", "path": ""}]"#, 0, "it has no \"value\""),
        (#"[{"op": "move", "path": ""}]"#, 0, "it has no \"from\""),
        (
            #"[{"op": "remove", "path": "/a"}, {"op": "remove", "path": "a"}]"#, 1,
            "\"path\" is no pointer: a pointer begins with /"
        ),
        (
            #"[{"op": "copy", "path": "", "from": "/~2"}]"#, 0,
            "\"from\" is no pointer: behind ~ stands 0 or 1"
        ),
        (
            #"[{"op": "copy", "path": "", "from": "/~"}]"#, 0,
            "\"from\" is no pointer: behind ~ stands 0 or 1"
        ),
        (
            #"[{"op": "move", "from": "/a", "path": "/a/b"}]"#, 0,
            "nothing moves into its own part"
        ),
    ])
    func `a patch that is none is refused`(json: String, operation: Int?, reason: String) throws {
        let value = try Value(json: json)

        #expect(throws: TreeError.invalidPatch(operation: operation, reason: reason)) {
            try JSONPatch(value)
        }
    }

    @Test(arguments: [
        (#"{"op": "remove", "path": ""}"#, "a document cannot be removed as a whole"),
        (#"{"op": "remove", "path": "/x"}"#, "there is nothing at \"/x\""),
        (#"{"op": "remove", "path": "/text/0"}"#, "there is nothing at \"/text/0\""),
        (#"{"op": "replace", "path": "/x", "value": 1}"#, "there is nothing at \"/x\""),
        (#"{"op": "replace", "path": "/list/-", "value": 1}"#, "there is nothing at \"/list/-\""),
        (#"{"op": "remove", "path": "/list/3"}"#, "there is no place 3 in the list"),
        (#"{"op": "test", "path": "/list/01", "value": 2}"#, "\"01\" is not the index of an item"),
        (#"{"op": "test", "path": "/list/+1", "value": 2}"#, "\"+1\" is not the index of an item"),
        (
            #"{"op": "test", "path": "/list/99999999999999999999", "value": 2}"#,
            "\"99999999999999999999\" is not the index of an item"
        ),
        (#"{"op": "add", "path": "/list/4", "value": 1}"#, "there is no place 4 in the list"),
        (#"{"op": "add", "path": "/list/-/x", "value": 1}"#, "there is nothing at \"/list/-/x\""),
        (#"{"op": "add", "path": "/text/x", "value": 1}"#, "there is nothing at \"/text/x\""),
        (
            #"{"op": "move", "from": "/list/0", "path": "/list/3"}"#,
            "there is no place 3 in the list"
        ),
        (
            #"{"op": "move", "from": "/list/-", "path": "/list/0"}"#,
            "there is nothing at \"/list/-\""
        ),
        (#"{"op": "copy", "from": "/x", "path": "/y"}"#, "there is nothing at \"/x\""),
        (#"{"op": "test", "path": "/text", "value": 1}"#, "there is another value at \"/text\""),
    ])
    func `an operation that cannot be done is refused, and nothing is done`(
        operation: String,
        reason: String
    ) throws {
        let base: Value = ["list": [1, 2, 3], "text": "a"]
        let patch = try JSONPatch([["op": "remove", "path": "/list/0"], Value(json: operation)])
        let late: Value = ["list": [0, 1, 2, 3], "text": "a"]

        let error = TreeError.patchFailed(operation: 1, reason: reason)
        #expect(throws: error) { try patch.applied(to: late) }
        #expect(throws: error) { try patch.delta(on: late) }
        #expect(base == ["list": [1, 2, 3], "text": "a"])
    }

    @Test func `numbers are tested by what they are, strings by their bytes`() throws {
        let base: Value = ["a": [1, 2.0, "\u{e9}"]]
        func test(_ path: Value, _ value: Value) throws {
            let patch = try JSONPatch([["op": "test", "path": path, "value": value]])
            _ = try patch.applied(to: base)
        }

        #expect(throws: Never.self) { try test("/a", [1.0, 2, "\u{e9}"]) }
        #expect(throws: Never.self) { try test("", ["a": [1.0, 2.0, "\u{e9}"]]) }
        #expect(throws: TreeError.self) { try test("/a/0", true) }
        #expect(throws: TreeError.self) { try test("/a/1", 2.5) }
        #expect(throws: TreeError.self) { try test("/a/2", "e\u{301}") }
    }

    @Test(arguments: [
        "", "/", "//", "/a~1b/m~0n", "/~01", "/0/-", "/\u{e9}/e\u{301}", "/~1\u{301}",
    ])
    func `a pointer is written as it was read`(text: String) throws {
        #expect(try JSONPointer(text).description.utf8.elementsEqual(text.utf8))
    }

    @Test func `a pointer's steps are those of the RFC`() throws {
        let base = try Value(
            json: #"{"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"#
                + #""k\"l":6," ":7,"m~n":8}"#
        )
        let pointers: [(Value, Value)] = [
            ("", base), ("/foo", ["bar", "baz"]), ("/foo/0", "bar"), ("/", 0), ("/a~1b", 1),
            ("/c%d", 2), ("/e^f", 3), ("/g|h", 4), ("/i\\j", 5), ("/k\"l", 6), ("/ ", 7),
            ("/m~0n", 8),
        ]
        for (pointer, value) in pointers {
            let patch = try JSONPatch([["op": "test", "path": pointer, "value": value]])
            #expect(try patch.applied(to: base) == base, "\(pointer)")
        }
        #expect(try JSONPointer("/a~1b/m~0n").tokens == ["a/b", "m~n"])
    }

    @Test func `a patch that copies a document into itself again and again is stopped`() throws {
        let double: Value = ["op": "copy", "from": "", "path": "/-"]
        let patch = try JSONPatch(.list(Array(repeating: double, count: 100)))

        let limit = TreeError.overBudget(.memory, limit: ReadBudget.standard.memoryMax)
        #expect(throws: limit) { try patch.applied(to: ["0123456789"]) }
        #expect(throws: limit) { try patch.delta(on: ["0123456789"]) }
    }

    @Test func `a patch cannot nest a document deeper than the limit`() throws {
        var deep: Value = 1
        for _ in 0..<Value.depthMax { deep = [deep] }
        let base: Value = ["a": deep, "b": [0]]
        let patch = try JSONPatch([["op": "move", "from": "/a", "path": "/b/0/x"]])
        let nested = try JSONPatch([["op": "move", "from": "/a", "path": "/b/0"]])

        #expect(throws: TreeError.self) { try patch.applied(to: base) }
        #expect(throws: TreeError.tooDeep(limit: Value.depthMax)) { try nested.applied(to: base) }
    }
}
