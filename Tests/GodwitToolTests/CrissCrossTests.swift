import GodwitTestKit
import Testing

/// Merges of branches that have merged each other before: git merges their bases first.
@Suite struct CrissCrossTests {
    private let repository: Repository
    private let name = "settings.json"

    init() throws {
        repository = try Repository()
        try repository.godwit("git", "install")
    }

    /// Two branches that have merged each other, and each have made something of it.
    ///
    /// - Returns: How git's merge of them ends.
    private func cross(
        _ base: String,
        _ first: String,
        _ second: String,
        resolved main: String,
        _ side: String
    ) throws -> Godwit.Result {
        try repository.commit(base, to: name)
        try repository.git("switch", "--quiet", "--create", "side")
        try repository.commit(second, to: name)
        try repository.git("switch", "--quiet", "main")
        try repository.commit(first, to: name)
        try repository.git("tag", "first")
        for (branch, other, text) in [("main", "side", main), ("side", "first", side)] {
            try repository.git("switch", "--quiet", branch)
            try repository.git("merge", "--quiet", "--no-commit", other)
            try repository.commit(text, to: name)
        }
        return try repository.git("merge", "--no-edit", "main")
    }

    private func settings(_ mode: String) -> String {
        "{\n  \"mode\": \"\(mode)\",\n  \"size\": 3\n}\n"
    }

    @Test func `what people decided differently is a conflict again`() throws {
        let merge = try cross(
            settings("base"),
            settings("alpha"),
            settings("beta"),
            resolved: settings("alpha"),
            settings("beta")
        )
        #expect(merge.status == 1, "\(merge.errors)")
        let text = try repository.text(name)
        #expect(text.contains("\"alpha\"") && text.contains("\"beta\""))
    }

    @Test func `what people decided alike is no conflict`() throws {
        let merge = try cross(
            settings("base"),
            settings("alpha"),
            settings("beta"),
            resolved: settings("gamma"),
            settings("gamma")
        )
        #expect(merge.status == 0 && !merge.errors.contains("godwit"), "\(merge.errors)")
        #expect(try repository.text(name) == settings("gamma"))
    }

    @Test func `a removal that one side alone decided on is a conflict again`() throws {
        func items(_ item: String) -> String {
            "[\n  {\"id\": \"a\", \"n\": 1},\n\(item)  {\"id\": \"c\", \"n\": 1}\n]\n"
        }
        func item(_ number: Int) -> String {
            items("  {\"id\": \"b\", \"n\": \(number)},\n")
        }
        let merge = try cross(item(1), items(""), item(2), resolved: items(""), item(2))
        #expect(merge.status == 1, "\(merge.errors)")
    }

    private func list(_ items: String...) -> String {
        "[\n" + items.map { "  \($0)" }.joined(separator: ",\n") + "\n]\n"
    }

    private func record(_ id: String, _ value: Int = 1) -> String {
        "{\"id\": \"\(id)\", \"name\": \"name of \(id)\", \"v\": \(value)}"
    }

    @Test func `a record that both sides moved to different places is not lost`() throws {
        let (p, q, r, s) = (record("p"), record("q"), record("r"), record("s"))
        _ = try cross(
            list(p, q, r, s),
            list(q, r, s, p),
            list(q, p, r, s),
            resolved: list(p, q, r, s),
            list(q, r, s, p)
        )
        #expect(try repository.text(name).contains(p))
    }

    @Test func `records with one id that both sides added are a conflict again`() throws {
        let (u, v) = ("{\"id\": \"i4\", \"n\": \"u\"}", "{\"id\": \"i4\", \"n\": \"v\"}")
        let old = "{\"id\": \"i1\", \"n\": \"n1\"}"
        let merge = try cross(
            list(old),
            list(old, u),
            list(old, v),
            resolved: list(old, u),
            list(old, v)
        )
        #expect(merge.status == 1)
    }

    @Test func `a file that is no text is a conflict again`() throws {
        let versions = ["base", "first", "second"].map { "\u{0}\($0)\n" }
        let merge = try cross(
            versions[0],
            versions[1],
            versions[2],
            resolved: versions[1],
            versions[2]
        )
        #expect(merge.status == 1)
    }

    @Test func `a record that one side kept under another key is a conflict again`() throws {
        func map(_ key: String?) -> String {
            let text = "{\"text\": \"one two three four five six\", \"size\": 300}"
            let kept = key.map { ",\n  \"\($0)\": \(text)" } ?? ""
            return "{\n  \"aa\": 1,\n  \"zz\": 2\(kept)\n}\n"
        }
        let merge = try cross(map("old"), map("new"), map(nil), resolved: map("new"), map(nil))
        #expect(merge.status == 1)
    }

    @Test(arguments: [false, true])
    func `a line that one side removed from a file with comments stays away`(isSwapped: Bool) throws
    {
        let lines = """
            // settings
            {
              "a": 1,
              "b": 2,


              "c": 3
            }

            """.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        func text(_ changes: [Int: String?] = [:]) -> String {
            lines.indices.compactMap { changes[$0] ?? lines[$0] }.joined(separator: "\n")
        }
        let telemetry = "  \"b\": 2,\n  \"telemetry\": true,"
        let (first, second) = (text([2: "  \"a\": 5,"]), text([3: telemetry]))
        let without = text([2: "  \"a\": 5,"])
        let edited = text([2: "  \"a\": 5,", 3: telemetry, 6: "  \"c\": 4"])
        let merge = try cross(
            text(),
            isSwapped ? second : first,
            isSwapped ? first : second,
            resolved: isSwapped ? edited : without,
            isSwapped ? without : edited
        )
        #expect(merge.status == 0, "\(merge.errors)")
        #expect(try repository.text(name) == text([2: "  \"a\": 5,", 6: "  \"c\": 4"]))
    }

    @Test(arguments: ["8", "7"])
    func `a number in a row that people decided differently is a conflict again`(
        second: String
    ) throws {
        func rows(_ cell: String) -> String {
            "{\n  \"rows\": [\n    [\"a\", 1],\n    [\"b\", \(cell)],\n    [\"c\", 3]\n  ]\n}\n"
        }
        let merge = try cross(rows("7"), rows("8"), rows("9"), resolved: rows("9"), rows(second))
        #expect(merge.status == 1)
        let text = try repository.text(name)
        #expect(text.contains("[\"b\", 9]") && text.contains("[\"b\", \(second)]"))
    }

    @Test func `a small record of which each side kept another key is a conflict again`() throws {
        func map(_ key: String) -> String {
            "{\n  \"z\": 1,\n  \"\(key)\": {\n    \"x\": 1,\n    \"y\": \"why\"\n  },\n  \"zz\": 2\n}\n"
        }
        let merge = try cross(map("p"), map("q"), map("r"), resolved: map("q"), map("r"))
        #expect(merge.status == 1)
    }

    @Test func `a key that both sides put into a record in different lines is no clean merge`()
        throws
    {
        func document(_ items: String..., first: String = "", last: String = "") -> String {
            """
            {
              "server": {
            \(first)    "host": "a.example",
                "port": 80,
                "path": "/",
                "log": "info"\(last)
              },
              "items": [
                \(items.joined(separator: ",\n    "))
              ]
            }

            """
        }
        let (a, b, edited) = (
            record("a"), record("b"), record("b").replacing("}", with: ", \"n\": 2}")
        )
        let merge = try cross(
            document(a, b),
            document(a),
            document(a, edited),
            resolved: document(a, edited, first: "    \"retries\": 3,\n"),
            document(a, edited, last: ",\n    \"retries\": 5")
        )
        #expect(merge.status == 1)
        #expect(merge.errors.contains("the bases of \(name) are in conflict"))
        #expect(merge.errors.contains("needs a look"))
    }
}
