import Foundation
import GRDB
import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

/// What is on disk is what the golden files say, and what older programs left can be opened.
@Suite struct FormatTests {
    let folder: TemporaryFolder
    let golden = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Golden")

    init() throws { folder = try TemporaryFolder() }

    @Test func `the tables of format 2 are as the golden file has them`() async throws {
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
        #expect(try text == contents("store-2.sql"))
        try store.close()
    }

    @Test func `an object of format 2 has the seal of the golden file`() async throws {
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
        #expect(try row == contents("object-2.txt"))
        try store.close()
    }

    @Test func `a store of format 1 is opened with all it holds`() async throws {
        let path = try formatOne(damaged: false)
        let numbers = Store.Collection<Int>("numbers")
        let store = try Store(.file(path))
        let found = try await store.read {
            (try $0.get(["a", "b"], in: numbers), try $0.count(in: numbers), $0.lastCommit)
        }
        #expect(found.0 == ["a": 1, "b": 2])
        #expect(found.1 == 2)
        #expect(found.2 == CommitNumber(rawValue: 7))
        let next = try await store.write {
            try $0.set(3, for: "c", in: numbers)
            return $0.commit
        }
        #expect(next == CommitNumber(rawValue: 8))
        try store.close()
    }

    @Test func `a damaged store of format 1 is refused and stays what it was`() throws {
        let path = try formatOne(damaged: true)
        let key = ObjectKey(collection: "numbers", key: "b")
        #expect(throws: StoreError.damagedObject(key)) { try Store(.file(path)) }
        let queue = try DatabaseQueue(path: path)
        let version = try queue.read {
            try Int.fetchOne($0, sql: "SELECT version FROM godwit_schema")
        }
        #expect(version == 1)
        try queue.close()
    }

    private func contents(_ name: String) throws -> String {
        try String(contentsOf: golden.appending(path: name), encoding: .utf8)
    }

    /// A store as the first version of Godwit left it.
    private func formatOne(damaged: Bool) throws -> String {
        let path = folder.path("old.sqlite")
        let queue = try DatabaseQueue(path: path)
        try queue.write { database in
            try database.execute(sql: contents("store-1.sql"))
            try database.execute(
                sql: """
                    INSERT INTO godwit_schema VALUES ('store', 1);
                    INSERT INTO godwit_commit VALUES (1, 7);
                    """
            )
            for (key, number) in [("a", 1), ("b", 2)] as [(String, Int64)] {
                let bytes = Value.int(number).canonicalBytes
                let digest = Digest(of: [damaged ? [1] : bytes], purpose: "godwit value 1").bytes
                try database.execute(
                    sql: "INSERT INTO godwit_object VALUES ('numbers', ?, ?, ?, 7)",
                    arguments: [
                        key, Data(bytes),
                        Data(
                            key == "a"
                                ? Digest(of: [bytes], purpose: "godwit value 1").bytes : digest
                        ),
                    ]
                )
            }
        }
        try queue.close()
        return path
    }
}
