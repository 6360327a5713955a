import Foundation
import GRDB
import GodwitStore
import GodwitTestKit
import GodwitTree
import GodwitYapDatabase
import Testing

/// Objects that the store refuses, and what a second import makes good.
@Suite struct ObjectRefusalTests {
    struct Refused: Error {}

    /// Refuses the objects whose value is "bad".
    struct Guardian: TransactionHook {
        var collections: Set<Key>? { nil }

        func willCommit(
            _ changes: [ObjectChange],
            in transaction: borrowing WriteTransaction
        ) throws {
            for change in changes where try transaction.value(of: change.key) == "bad" {
                throw Refused()
            }
        }

        func didCommit(_ changes: ChangeSet) {}
    }

    let folder: TemporaryFolder
    let file: YapFile
    let store: Store

    init() throws {
        folder = try TemporaryFolder()
        file = try YapFile(folder.path("old.sqlite"), .none)
        store = try Store(.memory)
    }

    private var source: YapDatabaseImport {
        var source = YapDatabaseImport(file.path)
        source.decoder = .json
        source.metadataDecoder = .json
        return source
    }

    private func value(_ collection: Key, _ key: Key) async throws -> Value? {
        try await store.read { try $0.value(of: ObjectKey(collection: collection, key: key)) }
    }

    private func metadata(_ key: Key) async throws -> Value? {
        try await store.read { try $0.metadataValue(of: ObjectKey(collection: "a", key: key)) }
    }

    private func addTrigger(_ statement: String) async throws {
        try await store.write { transaction in
            try transaction.connection.execute(
                sql: """
                    CREATE TRIGGER refusing BEFORE INSERT ON godwit_object WHEN NEW.key = 'bad'
                    BEGIN SELECT \(statement); END
                    """
            )
        }
    }

    @Test(arguments: ["length(zeroblob(2100000000))", "RAISE(ABORT, 'refused')"])
    func `an object that SQLite refuses is left out and named, and the others come`(
        statement: String
    ) async throws {
        try await addTrigger(statement)
        for key in ["good", "bad", "better"] { try file.put("a", key, json: "1") }
        let report = try await source.run(into: store)
        #expect(report.objects["a"]?.imported == 2 && report.objects["a"]?.leftOut == 1)
        #expect(report.leftOutObjects.map(\.key) == ["bad"])
        #expect(report.leftOutObjects.first?.reason.isEmpty == false)
        #expect(try await value("a", "better") == 1)
    }

    @Test func `an object that a hook refuses is left out and named, and the others come`()
        async throws
    {
        try store.addHook(Guardian(), named: "guardian")
        for key in ["good", "better"] { try file.put("a", key, json: "1", metadata: "2") }
        try file.put("a", "refused", json: "\"bad\"")
        try file.put("a", "last", json: "3")
        let report = try await source.run(into: store)
        #expect(report.objects["a"]?.imported == 3 && report.objects["a"]?.leftOut == 1)
        #expect(report.leftOutObjects.map(\.key) == ["refused"])
        #expect(report.leftOutObjects.first?.reason.contains("Refused") == true)
        #expect(try await value("a", "last") == 3)
        #expect(try await value("a", "refused") == nil)
        #expect(try await metadata("good") == 2)
    }

    @Test func `a store that has failed ends the import`() async throws {
        for key in ["good", "other"] { try file.put("a", key, json: "1") }
        try store.close()
        await #expect(throws: StoreError.closed) { try await source.run(into: store) }
    }

    @Test func `metadata that could not be read comes with a second import`() async throws {
        try file.put("a", "one", json: "1", metadata: "[7]")
        try file.put("a", "changed", json: "1", metadata: "[7]")
        try file.put("a", "other", json: "1", metadata: "[7]")
        var broken = source
        broken.metadataDecoder = YapObjectDecoder { _, _ in throw Refused() }
        #expect(try await broken.run(into: store).objects["a"]?.withoutMetadata == 3)
        let a = Store.Collection<Value>("a")
        try await store.write { transaction in
            try transaction.set(2, for: "changed", in: a)
            try transaction.set(1, for: "other", in: a, metadata: "mine")
        }
        let report = try await source.run(into: store)
        #expect(report.objects["a"]?.kept == 3 && report.isComplete)
        #expect(try await metadata("one") == [7])
        #expect(try await metadata("changed") == nil)
        #expect(try await metadata("other") == "mine")
    }

    @Test func `of two collections that become one, the first object stays, also if it replaces`()
        async throws
    {
        for number in 0..<600 { try file.put("new", "\(number)", json: "1") }
        try file.put("old", "0", json: "2")
        try file.put("old", "599", json: "2")
        var source = source
        source.collectionNames = ["old": "new"]
        source.replacesExisting = true
        for _ in 0..<2 {
            let report = try await source.run(into: store)
            #expect(report.objects["new"]?.imported == 600 && report.objects["old"]?.kept == 2)
            #expect(try await value("new", "0") == 1)
            #expect(try await value("new", "599") == 1)
        }
    }
}
