import Foundation
import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

/// `godwit import yapdatabase`, called as a person would call it.
@Suite struct ImportCommandTests {
    let folder: TemporaryFolder
    let file: YapFile

    init() throws {
        folder = try TemporaryFolder()
        file = try YapFile(folder.path("old.sqlite"))
        try file.put("contacts", "robbie", json: #"{"name": "Robbie"}"#, metadata: "1")
        try file.put("notes", "first", json: "\"text\"")
        try file.enqueue(CloudOperation("robbie"), graph: 1)
        try file.write("INSERT INTO cloudcore_tag_cloud VALUES ('/a', '', 'etag')")
    }

    private var app: String { folder.path("app.sqlite") }

    private func run(
        _ arguments: String...
    ) throws -> (status: Int32, output: String, errors: String) {
        let process = Process()
        process.executableURL = BuiltProgram.url("godwit")
        process.arguments = ["import", "yapdatabase"] + arguments
        let (output, errors) = (Pipe.make(), Pipe.make())
        (process.standardOutput, process.standardError) = (output, errors)
        try process.start()
        let texts = [output, errors].map { pipe in
            String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        }
        process.waitUntilExit()
        return (process.terminationStatus, texts[0], texts[1])
    }

    @Test func `a file is imported, and how many operations wait is told`() async throws {
        let result = try run(file.path, "--into", app, "--decode", "json")
        #expect(result.status == 0 && result.errors == "")
        #expect(result.output.contains("2 objects imported\n1 tags imported"))
        #expect(result.output.contains("1 operations wait in CloudCore's queue"))
        let store = try Store(.file(app), options: .readOnly)
        let place = ObjectKey(collection: "contacts", key: "robbie")
        #expect(try await store.read { try $0.value(of: place) } == ["name": "Robbie"])
        #expect(try await store.read { try $0.metadataValue(of: place) } == 1)
        try store.close()
        let again = try run(file.path, "--into", app, "--decode", "json", "--json")
        let json = try Value(json: again.output)
        #expect(json["collections"]?["contacts"]?["kept"] == 1)
        #expect(json["operations"]?["waiting"] == 1)
    }

    @Test func `a dry run writes nothing`() throws {
        let result = try run(file.path, "--dry-run", "--decode", "json", "--collection", "notes")
        #expect(result.status == 0 && result.output.contains("1 objects readable"))
        #expect(!FileManager.default.fileExists(atPath: app))
    }

    @Test func `what is left out is named, and the status says so`() throws {
        let result = try run(file.path, "--into", app)
        #expect(result.status == 2)
        #expect(result.errors.contains("left out: contacts/robbie: this is no property list"))
    }

    @Test func `the app's classes become maps, and other bytes stay what they are`() async throws {
        try file.put("uploads", "a", CloudOperation("ann").archived())
        #expect(try run(file.path, "--into", app, "--collection", "uploads").status == 0)
        let bytes = folder.path("bytes.sqlite")
        let result = try run(file.path, "--into", bytes, "--decode", "bytes")
        #expect(result.status == 0)
        let store = try Store(.file(app), options: .readOnly)
        let place = ObjectKey(collection: "uploads", key: "a")
        let value = try await store.read { try $0.value(of: place) }
        #expect(value?["$class"]?.text == CloudOperation.archivedName)
        #expect(value?["contactID"] == "ann")
    }

    @Test func `a file with an unusable queue gives its objects`() throws {
        try file.write("DROP TABLE cloudcore_pipeline3_cloud")
        let whole = try run(file.path, "--into", app, "--decode", "json")
        #expect(whole.status == 1 && whole.errors.contains("--objects-only"))
        let result = try run(file.path, "--into", app, "--decode", "json", "--objects-only")
        #expect(result.status == 0 && result.output.contains("2 objects imported"))
    }

    @Test func `misuse is told before anything is written`() throws {
        #expect(try run(file.path).status == 64)
        let missing = try run(folder.path("nothing"), "--into", app)
        #expect(missing.status == 1 && missing.errors.contains("there is no file at"))
        #expect(!FileManager.default.fileExists(atPath: app))
        // The arguments in the wrong order, and a file that is imported into itself.
        let before = FileManager.default.contents(atPath: file.path)
        let itself = try run(file.path, "--into", file.path, "--decode", "json")
        #expect(itself.status == 1 && itself.errors.contains("is no store"))
        #expect(FileManager.default.contents(atPath: file.path) == before)
    }
}
