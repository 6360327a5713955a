import Foundation
import GodwitQueue
import GodwitStore
import GodwitTestKit
import GodwitTree
import GodwitYapDatabase
import Testing

/// CloudCore's tags and attachments, and its versions.
@Suite struct CloudImportTests {
    let folder: TemporaryFolder
    let store: Store

    init() throws {
        folder = try TemporaryFolder()
        store = try Store(.memory)
    }

    private func source(_ path: String) -> YapDatabaseImport {
        var source = YapDatabaseImport(path)
        source.decoder = .json
        source.translate = { _, _ in QueueImportTests.Upload(contact: "") }
        return source
    }

    private func tag(_ key: String, _ identifier: String = "") async throws -> Value? {
        try await store.read { try $0.tag(for: key, identifier: identifier) }
    }

    @Test func `tags keep their types, and those that the store has stay`() async throws {
        let file = try YapFile(folder.path("old.sqlite"))
        try file.write(
            """
            INSERT INTO cloudcore_tag_cloud VALUES ('/a', '', 'etag'), ('/a', 'rev', 7),
                ('/b', '', 1.5), ('/c', '', x'00ff'), ('/d', '', 9e999)
            """
        )
        let report = try await source(file.path).run(into: store)
        #expect(report.tags.imported == 4 && report.tags.leftOut == 1)
        #expect(try await tag("/a") == "etag")
        #expect(try await tag("/a", "rev") == 7)
        #expect(try await tag("/b") == 1.5)
        #expect(try await tag("/c") == .bytes([0, 255]))

        try await store.write { try $0.setTag("newer", for: "/a") }
        #expect(try await source(file.path).run(into: store).tags.kept == 4)
        #expect(try await tag("/a") == "newer")
        var replacing = source(file.path)
        replacing.replacesExisting = true
        #expect(try await replacing.run(into: store).tags.imported == 4)
        #expect(try await tag("/a") == "etag")
    }

    @Test func `attachments come with their objects`() async throws {
        let file = try YapFile(folder.path("old.sqlite"))
        for key in ["robbie", "ann"] { try file.put("contacts", key, json: "1") }
        try file.put("contacts", "broken", json: "{")
        try file.write(
            """
            INSERT INTO cloudcore_mapping_cloud VALUES (1, '/a'), (1, '/b'), (2, '/a'), (3, '/c'),
                (99, '/d'), (1, '/a')
            """
        )
        var source = source(file.path)
        source.collectionNames = ["contacts": "people"]
        let report = try await source.run(into: store)
        #expect(report.attachments.imported == 3 && report.attachments.kept == 1)
        #expect(report.attachments.leftOut == 2)
        let robbie = ObjectKey(collection: "people", key: "robbie")
        #expect(try await store.read { try $0.attachments(of: robbie) } == ["/a", "/b"])
        #expect(try await store.read { try $0.objects(attachedTo: "/a").count } == 2)
        #expect(try await source.run(into: store).attachments.kept == 4)
    }

    @Test func `attachments of objects that the app declined are not left out`() async throws {
        let file = try YapFile(folder.path("old.sqlite"))
        for key in ["robbie", "ann"] { try file.put("contacts", key, json: "1") }
        try file.write("INSERT INTO cloudcore_mapping_cloud VALUES (1, '/a'), (2, '/b')")
        var source = source(file.path)
        source.decoder = YapObjectDecoder { bytes, place in
            place.key == "ann" ? nil : try Value(json: bytes)
        }
        let survey = try await source.survey()
        let report = try await source.run(into: store)
        #expect(report.attachments.imported == 1 && report.attachments.leftOut == 0)
        #expect(report.isComplete && survey == report)
    }

    @Test(.timeLimit(.minutes(1)))
    func `an object with thousands of attachments costs as much as thousands of objects`()
        async throws
    {
        let file = try YapFile(folder.path("old.sqlite"))
        try file.put("contacts", "robbie", json: "1")
        try file.write(
            """
            INSERT INTO cloudcore_mapping_cloud
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000)
            SELECT 1, '/' || i FROM n
            """
        )
        #expect(try await source(file.path).run(into: store).attachments.imported == 30_000)
        #expect(try await source(file.path).run(into: store).attachments.kept == 30_000)
    }

    @Test func `the tables of CloudCore's second version are read, those of the first are refused`()
        async throws
    {
        let second = try YapFile(folder.path("2.sqlite"), .cloudCore(version: 2))
        try second.enqueue(CloudOperation("a"), graph: 1, pipeline: 2)
        #expect(try await source(second.path).run(into: store).operations.enqueued == 1)
        #expect(try await store.read { try $0.operations().first?.pipeline } == "photos")

        let first = try YapFile(folder.path("1.sqlite"), .cloudCore(version: 1))
        try first.put("a", "b", json: "1")
        await #expect(throws: YapDatabaseError.olderQueue(name: "cloud", found: 1, oldest: 2)) {
            try await source(first.path).run(into: store)
        }
        var objects = source(first.path)
        objects.parts = [.objects]
        #expect(try await objects.run(into: store).objectTotal.imported == 1)

        let newer = try YapFile(folder.path("4.sqlite"), .cloudCore(version: 4))
        #expect(throws: YapDatabaseError.newerQueue(name: "cloud", found: 4, known: 3)) {
            try source(newer.path).check()
        }
    }

    @Test func `of several extensions one has to be named`() async throws {
        let file = try YapFile(folder.path("old.sqlite"))
        let other = "a \"quoted\" name"
        try file.addCloudCore(other)
        try file.write("INSERT INTO cloudcore_tag_cloud VALUES ('/a', '', 1)")
        #expect(throws: YapDatabaseError.severalCloudCores([other, "cloud"])) {
            try source(file.path).check()
        }
        var named = source(file.path)
        named.cloudCore = "nothing"
        #expect(throws: YapDatabaseError.noCloudCore(name: "nothing", found: [other, "cloud"])) {
            try named.check()
        }
        named.cloudCore = "cloud"
        #expect(try await named.run(into: store).tags.imported == 1)
    }

    @Test func `a queue with other tables or columns is refused by name`() async throws {
        let file = try YapFile(folder.path("old.sqlite"))
        try file.write("ALTER TABLE cloudcore_queue2_cloud RENAME COLUMN graphID TO other")
        try file.put("a", "b", json: "1")
        await #expect(throws: YapDatabaseError.self) {
            try await source(file.path).run(into: store)
        }
        try file.write("DROP TABLE cloudcore_pipeline3_cloud")
        let reason = "it has no table cloudcore_pipeline3_cloud"
        #expect(throws: YapDatabaseError.unusableQueue(name: "cloud", reason: reason)) {
            try source(file.path).check()
        }
    }

    @Test func `a file without tags and attachments has none`() async throws {
        let file = try YapFile(folder.path("old.sqlite"))
        try file.write("DROP TABLE cloudcore_tag_cloud; DROP TABLE cloudcore_mapping_cloud")
        try file.enqueue(CloudOperation("a"), graph: 1)
        let report = try await source(file.path).run(into: store)
        #expect(report.operations.enqueued == 1 && report.isComplete)
    }
}
