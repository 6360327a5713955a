import Foundation
import GRDB
import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

/// The bytes on disk are those of the golden files, and older stores are upgraded.
@Suite struct FormatTests {
    let folder: TemporaryFolder
    let golden = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Golden")

    init() throws { folder = try TemporaryFolder() }

    @Test func `the tables are as the golden file has them`() async throws {
        let store = try Store(.memory)
        let tables = try await store.read {
            try String.fetchAll(
                $0.database,
                sql: """
                    SELECT sql FROM sqlite_schema
                    WHERE name LIKE 'godwit%' AND sql IS NOT NULL ORDER BY name
                    """
            )
        }
        let text = tables.map { $0 + ";\n" }.joined()
        #expect(try text == contents("store-1.sql"))
        try store.close()
    }

    @Test func `an object has the seal of the golden file`() async throws {
        let store = try Store(.memory)
        let objects = Store.Collection<Value>("things", version: 3)
        try await store.write {
            try $0.set(["b": 1, "a": "x"], for: "k", in: objects, metadata: [true])
        }
        let row = try await store.read {
            try Row.fetchOne(
                $0.database,
                sql: """
                    SELECT hex(value), hex(metadata), version, commit_number, hex(seal)
                    FROM godwit_object
                    """
            ).map {
                "\($0[0] as String) \($0[1] as String) \($0[2] as Int) \($0[3] as Int)\n\($0[4] as String)\n"
            }
        }
        #expect(try row == contents("object-1.txt"))
        try store.close()
    }

    @Test func `an older store is brought up to date by the steps that it lacks, once`() throws {
        let path = folder.path("old.sqlite")
        let notes = "CREATE TABLE note (text TEXT); INSERT INTO note VALUES ('a')"
        try Store(.file(path), options: app([.sql(notes)])).close()
        let shout = Schema.Step.change { try $0.execute(sql: "UPDATE note SET text = text || '!'") }
        for _ in 0..<2 { try Store(.file(path), options: app([.sql(notes), shout])).close() }
        #expect(try found(in: path) == ["a!", "2"])
    }

    @Test func `a step that fails leaves the older store as it was`() throws {
        let path = folder.path("old.sqlite")
        let notes = Schema.Step.sql("CREATE TABLE note (text TEXT); INSERT INTO note VALUES ('a')")
        try Store(.file(path), options: app([notes])).close()
        let steps: [Schema.Step] = [
            notes, .sql("DELETE FROM note"), .change { _ in throw CancellationError() },
        ]
        #expect(throws: CancellationError.self) {
            try Store(.file(path), options: app(steps))
        }
        #expect(try found(in: path) == ["a", "1"])
    }

    private func app(_ steps: [Schema.Step]) -> Store.Options {
        var options = Store.Options()
        options.schemas = [Schema(name: "app", steps: steps)]
        return options
    }

    /// The app's note and the version of its tables.
    private func found(in path: String) throws -> [String] {
        let queue = try DatabaseQueue(path: path)
        defer { try? queue.close() }
        let sql = """
            SELECT text FROM note
            UNION ALL SELECT version FROM godwit_schema WHERE name = 'app'
            """
        return try queue.read { try String.fetchAll($0, sql: sql) }
    }

    private func contents(_ name: String) throws -> String {
        try String(contentsOf: golden.appending(path: name), encoding: .utf8)
    }
}
