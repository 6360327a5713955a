import Foundation
import GRDB
import GodwitStore
import GodwitTestKit
import GodwitTree
import GodwitYapDatabase
import Testing

/// Files that are none of YapDatabase's, or damaged.
@Suite struct ForeignFileTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func error(_ path: String) -> YapDatabaseError? {
        #expect(throws: YapDatabaseError.self) { try YapDatabaseImport(path).check() }
    }

    @Test func `what is no database is refused, and the sentence says what to do`() throws {
        let path = folder.path("file")
        #expect(error(path) == .noFile(path: path))
        #expect(error(folder.url.path) == .noFile(path: folder.url.path))
        try Data("a text, which is long enough to be looked at".utf8).write(to: URL(filePath: path))
        #expect(error(path) == .notADatabase(path: path))
        var random = Seeded(seed: 1)
        let encrypted = (0..<8_192).map { _ in UInt8.random(in: 0...255, using: &random) }
        try Data(encrypted).write(to: URL(filePath: path))
        #expect(error(path) == .notADatabase(path: path))
        #expect(error(path)?.description.contains("SQLCipher") == true)
    }

    @Test func `a database of another kind is refused`() throws {
        let path = folder.path("other.sqlite")
        try DatabaseQueue(path: path).write { try $0.execute(sql: "CREATE TABLE a (b)") }
        #expect(error(path) == .notYapDatabase(path: path, missing: "yap2"))
        let store = folder.path("store.sqlite")
        try Store(.file(store)).close()
        #expect(error(store) == .notYapDatabase(path: store, missing: "yap2"))
        let empty = folder.path("empty.sqlite")
        #expect(FileManager.default.createFile(atPath: empty, contents: nil))
        #expect(error(empty) == .notYapDatabase(path: empty, missing: "yap2"))
    }

    @Test func `other versions of YapDatabase are refused, each with its number`() throws {
        let file = try YapFile(folder.path("old.sqlite"), .none)
        try file.write("PRAGMA user_version = 4")
        #expect(error(file.path) == .newerVersion(path: file.path, found: 4, known: 3))
        try file.write("PRAGMA user_version = 2; ALTER TABLE database2 RENAME TO \"database\"")
        #expect(error(file.path) == .olderVersion(path: file.path, found: 2, oldest: 3))
        try file.write("PRAGMA user_version = 3; DROP TABLE \"database\"")
        #expect(error(file.path) == .notYapDatabase(path: file.path, missing: "database2"))
    }

    @Test func `a damaged page ends the import with an error, and what came before stays`()
        async throws
    {
        let file = try YapFile(folder.path("old.sqlite"), .none)
        for number in 0..<3_000 {
            try file.put("a", "\(number)", json: "\"\(String(repeating: "x", count: 200))\"")
        }
        try file.checkpoint()
        let size = try #require(FileManager.default.contents(atPath: file.path)?.count)
        let handle = try #require(FileHandle(forWritingAtPath: file.path))
        try handle.seek(toOffset: UInt64(size / 2 / 4_096 * 4_096))
        try handle.write(contentsOf: Data(repeating: 0xee, count: 4_096 * 12))
        try handle.close()
        let copy = folder.path("copy.sqlite")
        try FileManager.default.copyItem(atPath: file.path, toPath: copy)
        var source = YapDatabaseImport(copy)
        source.decoder = .json
        let store = try Store(.memory)
        await #expect {
            try await source.run(into: store)
        } throws: {
            guard case .damaged(copy, _)? = $0 as? YapDatabaseError else { return false }
            return true
        }
        let count = try await store.read { try $0.count(in: Store.Collection<String>("a")) }
        #expect(count > 0 && count < 3_000)
    }

    @Test(arguments: 0..<60)
    func `no damaged file stops the program`(seed: UInt64) async throws {
        let file = try YapFile(folder.path("old.sqlite"))
        for number in 0..<60 { try file.put("a", "\(number)", json: "[\(number)]", metadata: "1") }
        for number in 0..<20 {
            try file.enqueue(CloudOperation("\(number)"), graph: Int64(number / 3), pipeline: 2)
        }
        try file.write(
            """
            INSERT INTO cloudcore_tag_cloud VALUES ('/a', '', 'etag');
            INSERT INTO cloudcore_mapping_cloud VALUES (1, '/a'), (2, '/b');
            """
        )
        try file.checkpoint()
        var bytes = Array(try #require(FileManager.default.contents(atPath: file.path)))
        var random = Seeded(seed: seed)
        for _ in 0..<(1 << Int.random(in: 0...9, using: &random)) {
            let start = Int.random(in: 100..<bytes.count, using: &random)
            bytes[start] = UInt8.random(in: 0...255, using: &random)
        }
        let path = folder.path("damaged.sqlite")
        try Data(bytes).write(to: URL(filePath: path))
        var source = YapDatabaseImport(path)
        source.decoder = .json
        source.metadataDecoder = .json
        source.translate = { _, _ in QueueImportTests.Upload(contact: "") }
        let store = try Store(.memory)
        do {
            _ = try await source.run(into: store)
        } catch is YapDatabaseError {
            // A file may be damaged beyond reading.
        }
        #expect(try await store.integrityCheck().isSound)
    }

    @Test func `a connection is prepared before anything is read`() async throws {
        struct NoKey: Error {}
        let file = try YapFile(folder.path("old.sqlite"), .none)
        var source = YapDatabaseImport(file.path)
        source.prepareConnection = { _ in throw NoKey() }
        #expect(throws: NoKey.self) { try source.check() }
    }
}
