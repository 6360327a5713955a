import Foundation
import GodwitTestKit
import GodwitTree
import Testing

@Suite struct CommandTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test func `diff prints EDN, and JSON that patch reads`() throws {
        let old = try file("old.json", #"{"items": [{"name": "Bread"}]}"#)
        let new = try file(
            "new.json",
            #"{"items": [{"name": "Bread", "crossed": true}, {"name": "Wine"}]}"#
        )

        let edn = try Godwit.run("diff", "--format", "edn", old, new)
        #expect(edn.status == 0)
        #expect(edn.output == "{:items {:= {0 {:crossed true}} :+ {1 {:name \"Wine\"}}}}\n")

        let delta = try Godwit.run("diff", "--json", old, new).output
        let applied = try Godwit.run("apply", old, "-", input: delta)
        #expect(try Value(json: applied.output) == Value(json: contents(new)))
        let change = try file("change.json", delta)
        let back = try Godwit.run("patch", "--invert", "--base", old, new, change)
        #expect(try Value(json: back.output) == Value(json: contents(old)))
    }

    @Test func `diff prints a line for each change, in colours where they are wanted`() throws {
        let old = try file(
            "old.json",
            #"{"list": [{"id": 1, "name": "Bread"}, {"id": 2}, {"id": 3, "name": "Wine"}], "n": 1, "#
                + #""note": "a note of some words, and of some more words"}"#
        )
        let new = try file(
            "new.json",
            #"{"list": [{"id": 3, "name": "Wine"}, {"id": 1, "name": "Rye"}, {"id": 4}], "#
                + #""note": "a note of many words, and of some more words", "x": [1]}"#
        )
        let text = """
            - /list/1  {"id":2}
            ~ /list/0/name  "Bread" → "Rye"  (Bread)
            > /list/0 → /list/1  (Bread)
            + /list/2  {"id":4}
            - /n  1
            ~ /note  a note of [-some-]{+many+} words, and of some more…
            + /x  [1]

            """
        #expect(try Godwit.run("diff", old, new).output == text)
        let coloured = try Godwit.run(
            "diff",
            old,
            new,
            environment: ["CLICOLOR_FORCE": "1", "NO_COLOR": ""]
        )
        #expect(coloured.output.contains("\u{1b}[31m- /list/1"))
        let plain = try Godwit.run(
            "diff",
            old,
            new,
            environment: ["CLICOLOR_FORCE": "1", "NO_COLOR": "1"]
        )
        #expect(plain.output == text)
        let summary = try Godwit.run("diff", "--format", "summary", old, new).output
        #expect(summary.hasPrefix("2 changed, 2 added, 2 removed, 1 moved; "))
        #expect(try Godwit.run("diff", "--exit-code", old, new).status == 1)
        #expect(try Godwit.run("diff", "--exit-code", old, old).output.isEmpty)
    }

    @Test func `a change of any form leads to the new document`() throws {
        let old = try file("old.json", #"{"a": [1, 2, 3], "b": {"x": 1}, "gone": 1}"#)
        let new = try file("new.json", #"{"a": [3, 1, 2], "b": {"x": 2, "y": 1}}"#)
        for format in ["json", "json-patch", "merge-patch"] {
            let change = try Godwit.run("diff", "--format", format, old, new)
            #expect(change.status == 0, "\(change.errors)")
            let option = format == "json" ? [] : ["--format", format]
            let patched = try Godwit.run(["patch", old, "-"] + option, input: change.output)
            #expect(try Value(json: patched.output) == Value(json: contents(new)), "\(format)")
        }
        let edn = try file("change.edn", Godwit.run("diff", "--format", "edn", old, new).output)
        let patched = try Godwit.run("patch", old, edn)
        #expect(try Value(json: patched.output) == Value(json: contents(new)))

        let null = try file("null.json", #"{"b": {"x": null}}"#)
        let refused = try Godwit.run("diff", "--format", "merge-patch", old, null)
        #expect(refused.status == 1 && refused.errors.contains("/b/x"))
        let failing = try file("failing.json", #"[{"op": "test", "path": "/b/x", "value": 5}]"#)
        #expect(try Godwit.run("patch", old, failing).status == 1)
    }

    @Test(arguments: ["json", "edn", "json-patch", "merge-patch"])
    func `a change that a document has already is recognised`(format: String) throws {
        let old = try file("old.json", #"{"a": [1, 2], "b": {"x": 1}, "gone": 1}"#)
        let new = try file("new.json", #"{"a": [1, 2, {"id": 3}], "b": {"x": 2}}"#)
        let seal = format == "edn" ? ["--seal"] : []
        let diff = try Godwit.run(["diff", "--format", format, old, new] + seal)
        let change = try file(format == "edn" ? "change.edn" : "change.json", diff.output)
        let option = format == "merge-patch" ? ["--format", format] : []

        let first = try Godwit.run(["patch", old, change] + option)
        #expect(first.status == 0 && first.errors.isEmpty)
        let again = try Godwit.run(["patch", new, change] + option)
        #expect(again.status == 0 && again.errors.hasPrefix("already applied: \(new)"))
        #expect(try Value(json: again.output) == Value(json: contents(new)))
        let json = try Godwit.run(["patch", "--json", "--exit-code", new, change] + option)
        #expect(json.status == 3)
        #expect(try Value(json: json.errors)["outcome"] == "already applied")
    }

    @Test func `a delta that was made for another document is refused`() throws {
        let old = try file("old.json", #"{"a": [1]}"#)
        let new = try file("new.json", #"{"a": [1, 2]}"#)
        let other = try file("other.json", #"{"a": [1], "b": 1}"#)
        let delta = try Godwit.run("diff", "--json", old, new).output
        let refused = try Godwit.run("patch", other, "-", input: delta)
        #expect(refused.status == 1 && refused.errors.contains("digest"))

        let bare = try Godwit.run("diff", "--json", "--no-seal", old, new).output
        let patched = try Godwit.run("patch", other, "-", input: bare)
        #expect(try Value(json: patched.output) == ["a": [1, 2], "b": 1])
    }

    @Test func `EDN documents are diffed and merged like JSON`() throws {
        let base = try file("base.edn", "{:a 1, :b [1 2] ; a comment\n}")
        let ours = try file("ours.edn", "{:a 2 :b [1 2]}")
        let theirs = try file("theirs.json", #"{"a": 1, "b": [1, 2, 3]}"#)
        #expect(try Godwit.run("merge", base, ours, theirs).output == "{:a 2 :b [1 2 3]}\n")
        #expect(try Godwit.run("diff", base, ours).output == "~ /a  1 → 2\n")
        let bad = try Godwit.run("diff", file("bad.edn", "{:a\n  )"), ours)
        #expect(bad.status == 1 && bad.errors.contains("bad.edn:2:3"))
    }

    @Test func `merge follows the rules that it is given`() throws {
        let base = try file(
            "base.json",
            #"{"n": 10, "s": 1, "l": [{"sku": "a", "n": 1}], "t": "x"}"#
        )
        let ours = try file(
            "ours.json",
            #"{"n": 12, "s": 5, "l": [{"sku": "a", "n": 2}], "t": "y"}"#
        )
        let theirs = try file("theirs.json", #"{"n": 11, "s": 4, "l": [], "t": "z"}"#)
        let merged = try Godwit.run(
            "merge",
            "--policy",
            "/n=sum",
            "--policy",
            "/s=max",
            "--policy",
            "/l/*=delete-wins",
            "--policy",
            "/t=ours",
            "--identity",
            "/l=sku",
            base,
            ours,
            theirs
        )
        #expect(merged.status == 0, "\(merged.errors)")
        #expect(try Value(json: merged.output) == ["n": 13, "s": 5, "l": [], "t": "y"])
        let unknown = try Godwit.run("merge", "--policy", "/n=best", base, ours, theirs)
        #expect(unknown.status == 64 && unknown.errors.contains("delete-wins"))
    }

    @Test func `merge prints the document, its conflicts, and says so by its exit code`() throws {
        let base = try file("base.json", #"{"a": 1, "b": 1}"#)
        let ours = try file("ours.json", #"{"a": 2, "b": 1}"#)
        let theirs = try file("theirs.json", #"{"a": 3, "b": 2}"#)

        let clean = try Godwit.run("merge", base, ours, base)
        #expect(clean.status == 0 && clean.errors.isEmpty)
        let merged = try Godwit.run("merge", base, ours, theirs)
        #expect(merged.status == 2)
        #expect(try Value(json: merged.output) == ["a": 3, "b": 2])
        #expect(merged.errors.contains("/a: both sides set it"))
        let json = try Value(json: Godwit.run("merge", "--json", base, ours, theirs).output)
        #expect(json["conflicts"]?.list?.first?["path"] == "/a")
    }

    @Test func `bad input is refused with its place`() throws {
        let bad = try file("bad.json", "{\n  \"a\": 1,\n  \"a\": 2\n}")
        let good = try file("good.json", "{}")
        let diff = try Godwit.run("diff", bad, good)
        #expect(diff.status == 1)
        #expect(diff.errors.contains("bad.json:3:3: the key \"a\" occurs twice"))
        let syntax = try Godwit.run("diff", try file("x.json", "{\n  \"a\": 01\n}"), good)
        #expect(syntax.errors.contains("x.json:2:9:"))
        let delta = try file("delta.json", #"{"a": [{"-": [5]}]}"#)
        let apply = try Godwit.run("apply", try file("list.json", #"{"a": [1]}"#), delta)
        #expect(apply.status == 1 && apply.errors.contains("at /a, there is no item 5"))
        #expect(try Godwit.run("diff", folder.path("none.json"), good).status == 1)
    }

    @Test func `misuse is exit code 64, help is exit code 0`() throws {
        #expect(try Godwit.run("diff").status == 64)
        #expect(try Godwit.run("frobnicate").status == 64)
        #expect(try Godwit.run("serve", "--port", "99999").status == 64)
        for command in [
            "serve", "replay", "diff", "patch", "merge", "merge-driver", "textconv", "git install",
            "log", "graph", "demo",
        ] {
            let help = try Godwit.run(command.split(separator: " ").map(String.init) + ["--help"])
            #expect(help.status == 0)
            #expect(help.output.contains("EXAMPLES"), "\(command) shows examples")
        }
    }

    @Test func `a history is replayed, logged and drawn`() throws {
        let versions = (0..<30).map { #"{"n": \#($0), "list": [\#($0 % 5), "x"]}"# }
        let history = try file("history.jsonl", versions.joined(separator: "\n"))
        let server = try ServerProcess(store: folder.path("server.sqlite"))

        let replay = try Godwit.run("replay", history, "--server", server.url, "--json")
        #expect(replay.status == 0, "\(replay.errors)")
        let report = try Value(json: replay.output)
        #expect(report["edits"] == 29)
        #expect(report["bytesPerEdit"]?["median"]?.integer ?? 0 > 0)
        #expect(report["statesKept"]?.integer ?? 99 <= 5)

        let log = try Value(
            json: Godwit.run("log", folder.path("server.sqlite"), "--json").output
        )
        #expect(log["states"]?.list?.first?["id"] == report["id"])
        let lines = try Godwit.run("log", folder.path("server.sqlite")).output
        #expect(lines.contains("root") && lines.contains("head"))
        let picture = folder.path("states.svg")
        #expect(try Godwit.run("graph", folder.path("server.sqlite"), "--svg", picture).status == 0)
        #expect(try contents(picture).hasPrefix("<svg"))
        #expect(server.terminate() == 0)
    }

    @Test func `the demo ends well and leaves nothing running`() throws {
        let svg = folder.path("demo.svg")
        let demo = try Godwit.run("demo", "--svg", svg)
        #expect(demo.status == 0, "\(demo.errors)")
        #expect(demo.output.contains("the id that all share"))
        #expect(demo.errors.isEmpty)
        #expect(try contents(svg).contains("</svg>"))
    }

    @Test func `a second server on one store is refused`() throws {
        let store = folder.path("server.sqlite")
        let server = try ServerProcess(store: store)
        let second = try Godwit.run("serve", "--port", "0", "--store", store)
        #expect(second.status == 1)
        #expect(second.errors.contains("already open"))
        server.kill()
    }

    private func file(_ name: String, _ text: String) throws -> String {
        let path = folder.path(name)
        try Data(text.utf8).write(to: URL(filePath: path))
        return path
    }

    private func contents(_ path: String) throws -> String {
        try String(contentsOf: URL(filePath: path), encoding: .utf8)
    }
}
