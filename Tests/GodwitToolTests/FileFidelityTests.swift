import Foundation
import GodwitTestKit
import GodwitTree
import Testing

@testable import GodwitTool

/// What the file commands keep of a document, and what they say when they cannot.
@Suite struct FileFidelityTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test(arguments: [
        "diff", "diff --json", "diff --format edn", "diff --format json-patch",
        "diff --format summary",
        "merge --json old.json",
    ])
    func `output that does not fit on the disk is an error`(command: String) throws {
        try folder.write(#"{"a": 1}"#, to: "old.json")
        try folder.write(#"{"a": 2}"#, to: "new.json")
        let result = try folder.shell("$GODWIT \(command) old.json new.json > /dev/full")
        #expect(result.status == 1)
        #expect(result.errors.contains("the output cannot be written"))
    }

    @Test(arguments: [
        "0.10000000000000001", "-122.419415500000014", "1e400", "123456789012345678901234567890",
    ])
    func `a delta is for the document that it was made from, however numbers are spelt`(
        number: String
    ) throws {
        try folder.write("{\"x\": \(number), \"n\": 1}\n", to: "old.json")
        try folder.write("\u{feff}{\"x\": \(number), \"n\": 2}\n", to: "new.json")
        let result = try folder.shell(
            "$GODWIT diff --json old.json new.json | $GODWIT patch old.json -"
        )
        guard Double(number)?.isFinite == true, number.contains(".") else {
            #expect(result.status == 1, "no delta carries it")
            return
        }
        #expect(result.output == "{\"x\": \(number), \"n\": 2}\n", "\(result.errors)")
        let again = try folder.shell(
            "$GODWIT diff --json old.json new.json | $GODWIT patch new.json -"
        )
        #expect(again.status == 0 && again.errors.contains("already applied"))
    }

    @Test func `a new number with more digits than a double is in no delta, and shown to people`()
        throws
    {
        try folder.write(#"{"a": 12345678901234567.1}"#, to: "old.json")
        try folder.write(#"{"a": 12345678901234567.2}"#, to: "new.json")
        for format in ["json", "json-patch", "merge-patch", "edn"] {
            let result = try folder.shell("$GODWIT diff --format \(format) old.json new.json")
            #expect(result.status == 1 && result.output.isEmpty)
            #expect(result.errors.contains("new.json has the new number 123456789012345672e-1"))
        }
        #expect(try folder.shell("$GODWIT diff --exit-code old.json new.json").status == 1)
    }

    @Test func `no key or text of a document is obeyed by the terminal`() throws {
        func document(_ value: String) -> String {
            #"{"\u001b]0;x\u0007": \#(value), "t": "some words \u009b\#(value)"}"#
        }
        for (name, value) in [("base", "1"), ("ours", "2"), ("theirs", "3")] {
            try folder.write(document(value), to: "\(name).json")
        }
        for command in ["diff base.json ours.json", "merge base.json ours.json theirs.json"] {
            let result = try folder.shell("$GODWIT \(command)")
            let shown = result.errors + (command.hasPrefix("diff") ? result.output : "")
            #expect(shown.contains(#"\u001b]0;x\u0007"#), "\(shown)")
            #expect(!shown.unicodeScalars.contains { ["\u{1b}", "\u{7}", "\u{9b}"].contains($0) })
        }
    }

    @Test func `two texts that differ look different to git`() throws {
        let lines = [#""x\n\u0001""#, #""x\n\"\\u0001\"""#]
        let texts = try lines.map { line in
            try folder.write("{\"a\": \(line)}", to: "a.json")
            return try folder.shell("$GODWIT textconv a.json").output
        }
        #expect(Set(texts).count == 2 && !texts[0].isEmpty)
    }

    @Test(arguments: [
        (#"[{"op":"replace","path":"/0/id","value":9}]"#, #"{"b": 1, "id": 9, "a": 1.50}"#),
        (#"[{"=":[0,{"id":9,"b":5}]}]"#, #"{"b": 5, "id": 9, "a": 1.50}"#),
    ])
    func `a patch that gives a record another identity keeps its layout`(
        patch: String,
        record: String
    ) throws {
        let rest = #"{"b": 1, "id": 2, "a": 1.50}"#
        try folder.write(#"[{"b": 1, "id": 1, "a": 1.50},\#(rest)]"#, to: "old.json")
        try folder.write(patch, to: "change.json")
        let patched = try folder.shell("$GODWIT patch old.json change.json")
        #expect(patched.output == "[\(record),\(rest)]", "\(patched.errors)")
    }

    @Test func `a delta that tells a record as a new one keeps the layout of the old one`() throws {
        func text(_ port: Int) -> String {
            let records = [80, port, 82].map {
                #"{"port": \#($0), "host": "a", "retry": 1.50, "back": {"z": 1, "a": 2}}"#
            }
            return "[\n  \(records.joined(separator: ",\n  "))\n]\n"
        }
        try folder.write(text(81), to: "old.json")
        try folder.write(text(9_000), to: "new.json")
        let patched = try folder.shell(
            "$GODWIT diff --json old.json new.json | $GODWIT patch old.json -"
        )
        #expect(patched.output == text(9_000), "\(patched.errors)")
    }

    @Test(arguments: [
        (
            #"[{"op": "move", "from": "/b", "path": "/z"}]"#,
            "{\n  \"a\": 1,\n  \"z\": {\"y\": \"1\", \"x\": 1.50, \"w\": 0.10000000000000001}\n}\n"
        ),
        (
            #"[{"op": "copy", "from": "/b/w", "path": "/a"}]"#,
            "{\n  \"b\": {\"y\": \"1\", \"x\": 1.50, \"w\": 0.10000000000000001},\n"
                + "  \"a\": 0.10000000000000001\n}\n"
        ),
        (
            #"[{"op":"add","path":"/c","value":{"name":"n","id":1e5,"big":1.10000000000000001}}]"#,
            "{\n  \"b\": {\"y\": \"1\", \"x\": 1.50, \"w\": 0.10000000000000001},\n  \"a\": 1,\n"
                + "  \"c\": {\"name\":\"n\",\"id\":1e5,\"big\":1.10000000000000001}\n}\n"
        ),
        (
            #"[{"op": "test", "path": "/b/w", "value": 0.10000000000000001}]"#,
            "{\n  \"b\": {\"y\": \"1\", \"x\": 1.50, \"w\": 0.10000000000000001},\n  \"a\": 1\n}\n"
        ),
    ])
    func `what a patch moves, copies and adds keeps order and spelling`(
        patch: String,
        result: String
    ) throws {
        try folder.write(
            "{\n  \"b\": {\"y\": \"1\", \"x\": 1.50, \"w\": 0.10000000000000001},\n  \"a\": 1\n}\n",
            to: "old.json"
        )
        try folder.write(patch, to: "patch.json")
        let found = try folder.shell("$GODWIT patch old.json patch.json --again")
        #expect(found.status == 0, "\(found.errors)")
        // The writer chooses where lines break in what is new.
        let value = try Document(Array(found.output.utf8))
        #expect(value.value == (try Document(Array(result.utf8))).value)
        let words = { (text: String) in text.filter { !$0.isWhitespace } }
        #expect(words(found.output) == words(result))
    }

    @Test(arguments: [
        (#"[{"op": "replace", "path": "/x", "value": 1e2}]"#, #"{"x": 1e2, "n": 1.50}"#),
        (#"[{"op": "move", "from": "/n", "path": "/z"}]"#, #"{"x": 1, "z": 1.50}"#),
        (
            #"[{"op": "add", "path": "/z", "value": 1.50}]"#,
            #"{"x": 1, "n": 1.50, "z": 1.50}"#
        ),
        (#"[{"op": "add", "path": "/z", "value": 1.5}]"#, #"{"x": 1, "n": 1.50, "z": 1.5}"#),
        (#"{"x": 2.50}"#, #"{"x": 2.50, "n": 1.50}"#),
    ])
    func `a number is written as the patch spells it, or as it was where it came from`(
        patch: String,
        result: String
    ) throws {
        try folder.write(#"{"x": 1, "n": 1.50}"#, to: "old.json")
        try folder.write(patch, to: "patch.json")
        #expect(try folder.shell("$GODWIT patch old.json patch.json").output == result)
    }

    @Test func `a number of a delta is written as the delta spells it`() throws {
        try folder.write(#"{"x": 1}"#, to: "old.json")
        try folder.write(#"{"x": 2.5}"#, to: "new.json")
        let result = try folder.shell(
            "$GODWIT diff --json old.json new.json | sed s/2.5/2.50/ > delta.json; "
                + "$GODWIT patch old.json delta.json"
        )
        #expect(result.output == #"{"x": 2.50}"#, "\(result.errors)")
    }

    @Test func `the layout of new parts does not depend on the process`() throws {
        try folder.write(#"{"a": 1,"b" :2}"#, to: "old.json")
        try folder.write(
            #"[{"op": "add", "path": "/n", "value": {"y": {"z": 1}}}]"#,
            to: "patch.json"
        )
        let outputs = try (0..<12).map { _ in
            try folder.shell("$GODWIT patch old.json patch.json").output
        }
        #expect(Set(outputs).count == 1)
    }

    @Test(arguments: [
        (#"["a\n","b\n"]"#, #"["a\nb\n"]"#), (#"["x\n"]"#, #"["x\n",""]"#),
        (#""\ud83d a b""#, #""\ud83dab""#),
    ])
    func `lines for git's diffs differ where documents do`(left: String, right: String) throws {
        let texts = try [left, right].map { text in
            ReadableText(try Document(Array(text.utf8))).text
        }
        #expect(texts[0] != texts[1])
    }

    @Test func `a merge by hand keeps the rights of the file, and a link to it`() throws {
        try folder.write("{\"a\": 1}\n", to: "base.json")
        try folder.write("{\"a\": 1, \"b\": 1}\n", to: "real.json")
        try folder.write("{\"a\": 2}\n", to: "theirs.json")
        let result = try folder.shell(
            """
            chmod 600 real.json; ln -s real.json ours.json
            $GODWIT merge-driver base.json ours.json theirs.json a.json; stat -c %a real.json
            readlink ours.json
            """
        )
        #expect(result.output == "600\nreal.json\n", "\(result.errors)")
        let merged = try String(contentsOfFile: folder.path("real.json"), encoding: .utf8)
        #expect(merged == "{\"a\": 2, \"b\": 1}\n")
    }

    @Test func `a merge by hand changes the file that the system finds under its path`() throws {
        try folder.write("{\"a\": 1}\n", to: "base.json")
        try folder.write("{\"a\": 2}\n", to: "theirs.json")
        let result = try folder.shell(
            """
            mkdir -p near far/inside; ln -s ../far/inside near/link
            echo '{"mine": 1}' > near/ours.json; echo '{"a": 1, "b": 1}' > far/ours.json
            $GODWIT merge-driver base.json near/link/../ours.json theirs.json a.json
            cat near/ours.json far/ours.json; ls -A far
            """
        )
        #expect(
            result.output == "{\"mine\": 1}\n{\"a\": 2, \"b\": 1}\ninside\nours.json\n",
            "\(result.errors)"
        )
    }

    @Test func `a string without its closing quote is no document`() {
        for text in [#""\ud83dx"#, #""\ud83d\""#] {
            #expect(throws: TreeError.self) { try Document(Array(text.utf8)) }
        }
    }
}
