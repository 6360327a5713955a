import Foundation
import GRDB
import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

/// `godwit store`, called as a person would call it.
@Suite struct StoreCommandTests {
    let folder: TemporaryFolder
    let store: String

    init() throws {
        folder = try TemporaryFolder()
        store = folder.path("app.sqlite")
    }

    private func run(
        _ command: String,
        _ arguments: String...,
        input: String = ""
    ) throws
        -> Godwit.Result
    {
        try Godwit.run(["store", command, store] + arguments, input: input)
    }

    @Test func `what is set is listed, got and removed`() throws {
        let robbie = #"{"name": "Robbie", "age": 40}"#
        #expect(try run("set", "contacts", "robbie", robbie).status == 1, "there is no store")
        #expect(try run("set", "contacts", "robbie", robbie, "--create").status == 0)
        let again = try run("set", "contacts", "robbie", "-", "--json", input: robbie)
        #expect(try Value(json: again.output) == ["commit": .null], "nothing has changed")
        #expect(try run("set", "contacts", "rita", "[1]").output == "contacts/rita: commit 2\n")

        #expect(try run("ls").output == "  contacts  2\n")
        #expect(try run("ls", "contacts").output == "rita\nrobbie\n")
        #expect(try run("ls", "contacts", "--reverse", "--limit", "1").output == "robbie\n")
        let all = try run("ls", "contacts", "--values", "--json").output
        #expect(try Value(json: all) == ["rita": [1], "robbie": Value(json: robbie)])
        let got = try Value(json: run("get", "contacts", "robbie", "--json").output)
        #expect(got["commit"] == 1 && got["value"]?["age"] == 40)
        let none = try run("get", "contacts", "nobody")
        #expect(none.status == 1 && none.errors.contains("there is no object contacts/nobody"))

        #expect(try run("rm", "contacts", "rita", "nobody").output == "1 removed\n")
        #expect(try run("rm", "contacts").status == 64, "keys, or --all")
        #expect(try run("rm", "contacts", "--all", "--json").output.contains("\"removed\": 1"))
        #expect(try run("ls").output == "no objects\n")
    }

    @Test func `what get prints is what set takes, bytes and metadata included`() async throws {
        let open = try Store(.file(store))
        let things = Store.Collection<Value>("things")
        let object: Value = [
            "photo": .bytes([0, 1, 255]), "one": 1.0, "list": [.bytes([])],
            "odd": ["$bytes": "AA=="], "odder": ["$map": ["$bytes": "AA=="]], "date": .null,
        ]
        try await open.write { try $0.set(object, for: "a", in: things, metadata: ["m": object]) }
        try open.close()
        let got = try run("get", "things", "a").output
        #expect(try run("set", "things", "b", "-", input: got).status == 0)
        let whole = try run("get", "things", "a", "--json").output
        #expect(try run("set", "things", "c", "-", "--whole", input: whole).status == 0)
        #expect(try run("set", "things", "c", "[]", "--whole").status == 1)

        let again = try Store(.file(store))
        let copies = try await again.read { try $0.get(["b", "c"], in: things) }
        let metadata = try await again.read { try $0.metadata(Value.self, of: "c", in: things) }
        #expect(copies == ["b": object, "c": object] && metadata == ["m": object])
        try again.close()
    }

    @Test func `a store in use can be looked at, and is not written to`() async throws {
        let open = try Store(.file(store))
        let lists = Store.Collection<[Int]>("lists")
        try await open.write { try $0.set([1], for: "a", in: lists) }
        #expect(try run("get", "lists", "a").output == "[\n  1\n]\n")
        let refused = try run("set", "lists", "b", "[]")
        #expect(refused.status == 1 && refused.errors.contains("already open"))
        let stats = try Value(json: run("stats", "--json").output)
        #expect(stats["objects"] == 1 && stats["commit"] == 1)

        let copy = folder.path("copy.sqlite")
        #expect(try run("backup", copy).status == 0)
        #expect(try run("backup", copy).status == 1, "a copy does not replace a file")
        #expect(try Godwit.run("store", "get", copy, "lists", "a").output == "[\n  1\n]\n")
        try open.close()
        #expect(try run("compact").status == 0)
    }

    @Test func `check says what is damaged, by its exit code too`() async throws {
        let open = try Store(.file(store))
        let lists = Store.Collection<[Int]>("lists")
        try await open.write { try $0.set([1], for: "a", in: lists) }
        #expect(try run("check").output == "1 objects, 0 problems\n")
        try await open.write {
            try $0.database.execute(sql: "UPDATE godwit_object SET value = x'8102'")
        }
        let check = try run("check", "--json")
        #expect(check.status == 2)
        let problems = try Value(json: check.output)["problems"]?.list ?? []
        #expect(problems.contains("the stored object lists/a is damaged"))
        try open.close()
        try Data("no database".utf8).write(to: URL(filePath: folder.path("text")))
        let text = try Godwit.run("store", "check", folder.path("text"))
        #expect(text.status == 1 && text.errors.contains("is not an SQLite database"))
    }

    @Test func `watch prints each change as it happens`() async throws {
        let open = try Store(.file(store))
        let lists = Store.Collection<[Int]>("lists")
        try await open.write { try $0.set([1], for: "a", in: lists) }
        let watch = Godwit.command(["store", "watch", store, "--commits", "2", "--json"])
        let (output, errors) = (Pipe.make(), Pipe.make())
        watch.standardOutput = output
        watch.standardError = errors
        try watch.start()
        _ = errors.fileHandleForReading.availableData  // "watching ...": it has begun
        try await open.write { try $0.set([2], for: "b", in: lists) }
        let first = output.fileHandleForReading.availableData
        let line = try Value(json: Array(first))
        #expect(line == ["commit": 2, "inserted": ["lists/b"], "updated": [], "removed": []])
        try await open.write { try $0.remove("a", in: lists) }
        let second = output.fileHandleForReading.readDataToEndOfFile()
        #expect(try Value(json: Array(second))["removed"] == ["lists/a"])
        watch.waitUntilExit()
        #expect(watch.terminationStatus == 0)
        try open.close()
    }
}
