import Foundation
import GodwitTestKit
import GodwitTree
import Testing

/// The commands for files as a shell calls them.
@Suite struct FileToolTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.write("{\n    \"b\": 1.0,\n    \"a\": [1, 2]\n}", to: "base.json")
        try folder.write("{\n    \"b\": 1.0,\n    \"a\": [1, 2, 3]\n}", to: "ours.json")
        try folder.write("{\n    \"b\": 2.50,\n    \"a\": [1, 2]\n}", to: "theirs.json")
        try folder.write("{\n    \"b\": 3.0,\n    \"a\": [1, 2]\n}", to: "others.json")
    }

    static let merged = "{\n    \"b\": 2.50,\n    \"a\": [1, 2, 3]\n}"

    @Test(arguments: [
        "$GODWIT merge base.json ours.json theirs.json",
        "$GODWIT merge <(cat base.json) <(cat ours.json) <(cat theirs.json)",
        "$GODWIT merge - ours.json theirs.json < base.json",
        "cat ours.json | $GODWIT merge base.json /dev/stdin theirs.json",
        "cat theirs.json | $GODWIT merge base.json ours.json -",
        "$GODWIT patch ours.json <($GODWIT diff --json --no-seal <(cat base.json) theirs.json)",
        "$GODWIT diff --json --no-seal base.json - < theirs.json | $GODWIT patch <(cat ours.json) -",
    ])
    func `every file can be a pipe, and the layout is that of ours`(command: String) throws {
        let result = try folder.shell(command)
        #expect(result.status == 0, "\(result.errors)")
        // A delta carries the number, but not how it is spelt.
        let isPatched = command.contains("patch")
        #expect(
            result.output == (isPatched ? Self.merged.replacing("2.50", with: "2.5") : Self.merged)
        )
    }

    @Test func `a pipe longer than its buffer is read to the end`() throws {
        let items = (0..<50_000).map { "{\"id\": \($0)}" }.joined(separator: ", ")
        try folder.write("[\(items)]", to: "long.json")
        let result = try folder.shell(
            "$GODWIT diff <(cat long.json) <(cat long.json; echo) --exit-code"
        )
        #expect(result.status == 0 && result.errors.isEmpty)
    }

    @Test func `standard input is read once, and a folder is no document`() throws {
        for command in ["merge - - ours.json", "diff - /dev/stdin", "patch - -"] {
            let result = try folder.shell("$GODWIT \(command) < base.json")
            #expect(result.status == 64 && result.errors.contains("can be read once"))
        }
        let found = try folder.shell("$GODWIT diff . ours.json")
        #expect(found.status == 1 && found.errors.contains(". cannot be read"))
        let absent = try folder.shell("$GODWIT diff none.json ours.json")
        #expect(absent.status == 1 && absent.errors.contains("none.json cannot be read: No such"))
    }

    @Test func `conflicts are lines, JSON or markers`() throws {
        let files = "base.json theirs.json others.json"
        let list = try folder.shell("$GODWIT merge \(files)")
        #expect(list.status == 2)
        #expect(list.output == "{\n    \"b\": 3.0,\n    \"a\": [1, 2]\n}")
        #expect(list.errors.hasPrefix("conflict at /b: both sides set it"))
        #expect(list.errors.hasSuffix("(base 1.0, ours 2.5, theirs 3.0)\n"))

        let json = try folder.shell("$GODWIT merge --conflict-style json \(files)")
        #expect(json.status == 2 && json.output == list.output)
        #expect(try Value(json: json.errors).list?.first?["ours"] == 2.5)

        let markers = try folder.shell("$GODWIT merge --conflict-style markers \(files)")
        #expect(markers.status == 2)
        #expect(
            markers.output == """
                {
                <<<<<<< ours
                    "b": 2.50,
                ||||||| base
                    "b": 1.0,
                =======
                    "b": 3.0,
                >>>>>>> theirs
                    "a": [1, 2]
                }
                """
        )
        #expect(
            try folder.shell("$GODWIT merge --conflict-style markers --json \(files)").status == 64
        )
    }

    @Test func `the driver replaces ours, or leaves every byte of it`() throws {
        let clean = try folder.shell("$GODWIT merge-driver base.json ours.json theirs.json p.json")
        #expect(clean.status == 0 && clean.output.isEmpty && clean.errors.isEmpty)
        #expect(try folder.shell("cat ours.json").output == Self.merged)

        let listed = try folder.shell(
            "$GODWIT merge-driver --conflict-style list base.json theirs.json others.json p.json"
        )
        #expect(listed.status == 1 && listed.errors.hasPrefix("p.json: conflict at /b"))
        #expect(
            try folder.shell("cat theirs.json").output == "{\n    \"b\": 3.0,\n    \"a\": [1, 2]\n}"
        )

        try folder.write("{\"a\": 1, \"a\": 2}", to: "twice.json")
        let driver = "$GODWIT merge-driver --conflict-style list"
        let refused = try folder.shell("\(driver) base.json ours.json twice.json p.json")
        #expect(refused.status == 2)
        #expect(refused.errors.contains("their p.json:1:10: the key \"a\" occurs twice"))
        #expect(try folder.shell("cat ours.json").output == Self.merged)
        let ours = try folder.shell("\(driver) base.json twice.json ours.json p.json")
        #expect(ours.status == 2)
        #expect(try folder.shell("cat twice.json").output == "{\"a\": 1, \"a\": 2}")
        #expect(
            try folder.shell("ls").output.split(separator: "\n").count == 5,
            "no file is left over"
        )
    }

    @Test func `the driver takes their counts of executions in a notebook`() throws {
        let cell = { (count: Int) in "{\"cells\": [{\"execution_count\": \(count)}]}\n" }
        for (name, count) in [("b.json", 1), ("o.json", 2), ("t.json", 3)] {
            try folder.write(cell(count), to: name)
        }
        #expect(try folder.shell("$GODWIT merge-driver b.json o.json t.json a.json").status == 1)
        try folder.write(cell(2), to: "o.json")
        #expect(try folder.shell("$GODWIT merge-driver b.json o.json t.json a.ipynb").status == 0)
        #expect(try folder.shell("cat o.json").output == cell(3))
    }

    @Test func `a text for diffs has a line for each scalar`() throws {
        let document =
            #"{"z":1.50,"point":[1.0,2.0],"source":["a = 1\n","b\t= 2"],"e":[],"none":{},"#
            + #""text":"one\ntwo","image":"\#(String(repeating: "QUJD", count: 100))"}"#
        try folder.write(document, to: "notebook.ipynb")
        let lines = try folder.shell("$GODWIT textconv notebook.ipynb").output
        #expect(
            lines.hasPrefix(
                """
                {
                  "z": 1.50
                  "point": [1.0, 2.0]
                  "source": [|
                    | a = 1
                    | b\t= 2
                  "e": []
                  "none": {}
                  "text": |
                    | one
                    | two
                  "image": "QUJDQUJDQUJDQUJDQUJDQUJDQUJDQUJD…" (400 bytes, 
                """
            ),
            "\(lines)"
        )
        try folder.write(
            #"{"cells":[{"source":["a"]},{"source":"b"}],"nbformat":4}"#,
            to: "n.ipynb"
        )
        let cells = try folder.shell("$GODWIT textconv n.ipynb").output
        #expect(cells.contains("\"source\": [|\n        | a\n"), "\(cells)")
        #expect(cells.contains("\"source\": |\n        | b\n"), "\(cells)")
        #expect(try folder.shell("echo '// no JSON' | $GODWIT textconv -").output == "// no JSON\n")
    }
}
