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

    private func contents(_ name: String) throws -> String {
        try String(contentsOf: golden.appending(path: name), encoding: .utf8)
    }
}
