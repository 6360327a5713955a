import Foundation
import GodwitTestKit
import Testing

/// The merge driver and the textconv in real repositories.
@Suite struct GitTests {
    let repository: Repository

    static let base = """
        {
            "name": "demo", "ratio": 1.0,
            "scripts": {
                "test": "run"
            },
            "dependencies": {
                "b": "^1.0",
                "d": "^1.0"
            },
            "id": 123456789012345678901234567890,
            "place": "caf\\u00e9"
        }

        """
    static let ours = base.replacing(
        "\"b\": \"^1.0\",",
        with: "\"a\": \"2\",\n        \"b\": \"^1.0\","
    )
    .replacing("1.0,\n    \"scr", with: "1.50,\n    \"scr")
    static let theirs = base.replacing(
        "\"d\": \"^1.0\"",
        with: "\"d\": \"^2.0\",\n        \"e\": \"1\""
    )
    .replacing("\"test\": \"run\"", with: "\"test\": \"run\",\n        \"lint\": \"no\"")
    static let both =
        theirs
        .replacing("\"b\": \"^1.0\",", with: "\"a\": \"2\",\n        \"b\": \"^1.0\",")
        .replacing("1.0,\n    \"scr", with: "1.50,\n    \"scr")

    init() throws {
        repository = try Repository()
        try repository.godwit("git", "install")
        try repository.commit(Self.base, to: "package.json")
        try repository.git("branch", "topic")
    }

    /// Commits ours on `main` and theirs on `topic`, and stays on `main`.
    private func diverge(_ ours: String, _ theirs: String, in name: String = "package.json") throws
    {
        try repository.git("switch", "--quiet", "topic")
        try repository.commit(theirs, to: name)
        try repository.git("switch", "--quiet", "main")
        try repository.commit(ours, to: name)
    }

    @Test(arguments: ["merge --no-edit topic", "cherry-pick topic", "rebase --quiet topic"])
    func `changes side by side are merged, and the layout stays`(command: String) throws {
        try diverge(Self.ours, Self.theirs)
        let words = command.split(separator: " ").map(String.init)
        let result =
            words.count == 2
            ? try repository.git(words[0], words[1])
            : try repository.git(words[0], words[1], words[2])
        #expect(result.status == 0, "\(result.output) \(result.errors)")
        #expect(try repository.text("package.json") == Self.both)
        #expect(try repository.git("status", "--porcelain").output.isEmpty)
    }

    @Test func `a conflict is marked, reported with its reason, and can be continued`() throws {
        try diverge(
            Self.ours.replacing("demo", with: "mine"),
            Self.theirs.replacing("demo", with: "yours")
        )
        let merge = try repository.git("merge", "--no-edit", "topic")
        #expect(merge.status == 1)
        #expect(merge.errors.contains("package.json: conflict at /name: both sides set it"))
        #expect(try repository.unmerged() == ["package.json"])
        let marked = try repository.text("package.json")
        #expect(
            marked.hasPrefix(
                """
                {
                <<<<<<< ours
                    "name": "mine", "ratio": 1.50,
                ||||||| base
                    "name": "demo", "ratio": 1.50,
                =======
                    "name": "yours", "ratio": 1.50,
                >>>>>>> theirs
                    "scripts": {
                """
            ),
            "\(marked)"
        )
        let rest = marked.split(separator: ">>>>>>> theirs\n")[1]
        #expect(Self.both.hasSuffix(rest))
        try repository.commitAll("solved")
        #expect(try repository.git("status", "--porcelain").output.isEmpty)
    }

    @Test func `an item that both sides move has no markers, and the report says which counts`()
        throws
    {
        let lines = { (names: String) in
            "[\n" + names.map { "  \"\($0)\"" }.joined(separator: ",\n") + "\n]\n"
        }
        try repository.commit(lines("abcdef"), to: "package.json")
        try repository.git("branch", "--force", "topic")
        try diverge(lines("fabcde"), lines("abcfde"))
        let merge = try repository.git("merge", "--no-edit", "topic")
        #expect(merge.status == 1)
        #expect(try repository.text("package.json") == lines("fabcde"))
        #expect(merge.errors.contains("both sides moved it; it is where ours put it"))
    }

    @Test(arguments: ["rebase", "cherry-pick"])
    func `a rebase and a cherry-pick stop at a conflict`(command: String) throws {
        try diverge(
            Self.ours.replacing("demo", with: "mine"),
            Self.theirs.replacing("demo", with: "yours")
        )
        #expect(try repository.git(command, "topic").status == 1)
        #expect(try repository.unmerged() == ["package.json"])
        #expect(try repository.text("package.json").contains("<<<<<<< ours\n"))
        try repository.write(Self.both, to: "package.json")
        try repository.git("add", "--all")
        #expect(try repository.git(command, "--continue").status == 0)
        #expect(try repository.text("package.json") == Self.both)
    }

    @Test func `files that both sides have added are merged`() throws {
        try diverge("{\n  \"a\": 1\n}\n", "{\n  \"a\": 1,\n  \"b\": 2.50\n}\n", in: "new.json")
        #expect(try repository.git("merge", "--no-edit", "topic").status == 0)
        #expect(try repository.text("new.json") == "{\n  \"a\": 1,\n  \"b\": 2.50\n}\n")
    }

    @Test func `a file that one side has deleted and the other changed is git's conflict`() throws {
        try repository.git("switch", "--quiet", "topic")
        try repository.git("rm", "--quiet", "package.json")
        try repository.commitAll("delete")
        try repository.git("switch", "--quiet", "main")
        try repository.commit(Self.ours, to: "package.json")
        let merge = try repository.git("merge", "--no-edit", "topic")
        #expect(merge.status == 1 && merge.output.contains("modify/delete"))
        #expect(try repository.text("package.json") == Self.ours)
    }

    @Test(arguments: ["{\"a\": 1, \"a\": 2}\n", "{\"a\": \n", "// a comment\n{}\n"])
    func `what is not JSON is merged by its lines, and git reports the conflict`(
        text: String
    ) throws {
        try diverge(Self.ours, text)
        let merge = try repository.git("merge", "--no-edit", "topic")
        #expect(merge.status == 1)
        #expect(merge.errors.contains("godwit: their package.json:"))
        #expect(merge.errors.contains("package.json is merged by its lines, with conflicts"))
        let merged = try repository.text("package.json")
        #expect(merged.contains("<<<<<<< ours") && merged.contains(text))
        #expect(try repository.unmerged() == ["package.json"])
    }

    @Test func `a file that no program can merge stays as ours`() throws {
        try diverge(Self.ours, "\u{0}")
        let merge = try repository.git("merge", "--no-edit", "topic")
        #expect(merge.status == 1 && merge.errors.contains("git show :3:package.json"))
        #expect(try repository.text("package.json") == Self.ours)
    }

    @Test func `changes of a file with comments are merged by lines, apart from each other`() throws
    {
        let lines = ["// for tsc", "{", "  \"a\": 1,", "", "", "", "  \"b\": 2", "}", ""]
        func text(_ changes: [Int: String] = [:]) -> String {
            lines.enumerated().map { changes[$0] ?? $1 }.joined(separator: "\n")
        }
        try repository.commit(text(), to: "tsconfig.json")
        try repository.git("switch", "--quiet", "--create", "side")
        try repository.commit(text([6: "  \"b\": 3"]), to: "tsconfig.json")
        try repository.git("switch", "--quiet", "main")
        try repository.commit(text([2: "  \"a\": 5,"]), to: "tsconfig.json")
        let merge = try repository.git("merge", "--no-edit", "side")
        #expect(merge.status == 0, "\(merge.errors)")
        let both = text([2: "  \"a\": 5,", 6: "  \"b\": 3"])
        #expect(try repository.text("tsconfig.json") == both)
    }

    @Test func `a file whose name begins with a dash is merged and shown`() throws {
        try repository.commit("{\"a\": 1, \"b\": 2}\n", to: "-x.json")
        try repository.git("switch", "--quiet", "--create", "side")
        try repository.commit("{\"a\": 1, \"b\": 3}\n", to: "-x.json")
        try repository.git("switch", "--quiet", "main")
        try repository.commit("{\"a\": 5, \"b\": 2}\n", to: "-x.json")
        let merge = try repository.git("merge", "--no-edit", "side")
        #expect(merge.status == 0, "\(merge.errors)")
        #expect(try repository.text("-x.json") == "{\"a\": 5, \"b\": 3}\n")
        try repository.write("{\"a\": 6, \"b\": 3}\n", to: "-x.json")
        #expect(try repository.git("diff").output.contains("+  \"a\": 6"))
    }

    @Test func `the bases of a criss-cross merge are merged too`() throws {
        try diverge(
            Self.base.replacing("demo", with: "mine"),
            Self.base.replacing("demo", with: "yours")
        )
        try repository.git("merge", "--no-edit", "topic")
        try repository.write(Self.base.replacing("demo", with: "first"), to: "package.json")
        try repository.commitAll("first")
        try repository.git("switch", "--quiet", "topic")
        try repository.git("merge", "--no-edit", "main~1")
        try repository.write(Self.base.replacing("demo", with: "second"), to: "package.json")
        try repository.commitAll("second")
        let merge = try repository.git("merge", "--no-edit", "main")
        #expect(merge.status == 1)
        #expect(!merge.errors.contains("godwit:"), "\(merge.errors)")
        let marked = try repository.text("package.json")
        #expect(marked.contains("\"first\"") && marked.contains("\"second\""))
    }

    @Test func `a document on one line has a diff of lines`() throws {
        try repository.commit(#"{"a":1,"list":[{"id":1,"t":"x"},{"id":2,"t":"y"}]}"#, to: "m.json")
        try repository.write(#"{"a":1,"list":[{"id":1,"t":"x"},{"id":2,"t":"z"}]}"#, to: "m.json")
        let lines = try repository.git("diff", "--unified=0", "m.json").output
            .split(separator: "\n").filter { $0.hasPrefix("+ ") || $0.hasPrefix("- ") }
        #expect(lines == ["-      \"t\": \"y\"", "+      \"t\": \"z\""])
        try repository.write("not JSON\n", to: "m.json")
        #expect(try repository.git("diff", "m.json").output.contains("+not JSON"))
    }

    @Test func `the installation for all repositories is the user's`() throws {
        try repository.git("config", "--remove-section", "merge.godwit")
        try repository.write("", to: ".gitattributes")
        #expect(try repository.godwit("git", "install", "--global").status == 0)
        #expect(try repository.git("check-attr", "merge", "a.ipynb").output.contains("godwit"))
        #expect(try repository.text(".gitattributes").isEmpty)
        try diverge(Self.ours, Self.theirs)
        #expect(try repository.git("merge", "--no-edit", "topic").status == 0)
        #expect(try repository.text("package.json") == Self.both)
    }
}
