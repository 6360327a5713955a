import Foundation
import GRDB
import GodwitQueue
import GodwitStore
import GodwitTestKit
import GodwitTree
import GodwitYapDatabase
import Testing

/// Collections, keys, objects and metadata.
@Suite struct ObjectImportTests {
    struct Contact: Codable, Equatable, Sendable {
        var id: UUID
        var name: String
        var born: Date
        var photo: Data?
    }

    let folder: TemporaryFolder
    let file: YapFile
    let store: Store
    let contacts = Store.Collection<Contact>("contacts")

    init() throws {
        folder = try TemporaryFolder()
        file = try YapFile(folder.path("old.sqlite"), .none)
        store = try Store(.memory)
    }

    private func source(_ path: String? = nil) -> YapDatabaseImport {
        var source = YapDatabaseImport(path ?? file.path)
        source.decoder = .json
        source.metadataDecoder = .json
        return source
    }

    private func value(_ collection: Key, _ key: Key) async throws -> Value? {
        try await store.read { try $0.value(of: ObjectKey(collection: collection, key: key)) }
    }

    @Test func `objects and metadata come over, those without a collection too`() async throws {
        try file.put("contacts", "robbie", json: #"{"name": "Robbie"}"#, metadata: "[1, 2]")
        try file.put("", "version", json: "7")
        // A decomposed letter and a zero: GRDB would end the text there.
        let key = Data("Zoe\u{308}\u{0}!".utf8)
        try file.write(
            "INSERT INTO database2 VALUES (9, 'contacts', CAST(? AS TEXT), '\"zero\"', NULL)",
            [key]
        )
        let report = try await source().run(into: store)
        #expect(report.objects["contacts"]?.imported == 2 && report.objects[""]?.imported == 1)
        #expect(report.isComplete && report.objectTotal.imported == 3)
        #expect(try await value("contacts", "robbie") == ["name": "Robbie"])
        #expect(try await value("", "version") == 7)
        #expect(try await value("contacts", "Zoe\u{308}\u{0}!") == "zero")
        let metadata = try await store.read { transaction in
            try transaction.metadataValue(of: ObjectKey(collection: "contacts", key: "robbie"))
        }
        #expect(metadata == [1, 2])
    }

    @Test func `a log that was not checkpointed is read, and file and log stay what they were`()
        async throws
    {
        for number in 0..<50 { try file.put("numbers", "\(number)", json: "\(number)") }
        let path = try file.abandoned(in: folder)
        let before = [path, path + "-wal"].map { FileManager.default.contents(atPath: $0) }
        #expect(before.allSatisfy { ($0?.count ?? 0) > 0 })
        let report = try await source(path).run(into: store)
        #expect(report.objects["numbers"]?.imported == 50)
        let after = [path, path + "-wal"].map { FileManager.default.contents(atPath: $0) }
        #expect(before == after)
    }

    @Test func `what another program writes meanwhile is not part of the import`() async throws {
        for number in 0..<1_200 { try file.put("numbers", "\(number)", json: "\(number)") }
        var source = source()
        source.decoder = YapObjectDecoder { [file] bytes, place in
            if place.key == "0" { try file.put("numbers", "late", json: "0") }
            return try Value(json: bytes)
        }
        let report = try await source.run(into: store)
        #expect(report.objects["numbers"]?.imported == 1_200)
        #expect(try await value("numbers", "late") == nil)
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `thousands of objects come over, each as it was`(seed: UInt64) async throws {
        var random = Seeded(seed: seed)
        var expected: [ObjectKey: Value] = [:]
        for number in 0..<4_000 {
            let collection = "c\(Int.random(in: 0..<5, using: &random))"
            let value = random.value()
            expected[ObjectKey(collection: Key(collection), key: Key("\(number)"))] = value
        }
        let rows = expected
        try await file.queue.write { database in
            for (key, value) in rows {
                try database.execute(
                    sql: "INSERT INTO database2 (collection, key, data) VALUES (?, ?, ?)",
                    arguments: [key.collection.text, key.key.text, Data(value.jsonText().utf8)]
                )
            }
        }
        let report = try await source().run(into: store)
        #expect(report.objectTotal.imported == 4_000 && report.isComplete)
        let found = try await store.read { transaction in
            try rows.keys.map { ($0, try transaction.value(of: $0)) }
        }
        for (key, value) in found {
            // JSON writes a double without a fraction as an integer.
            #expect(value?.jsonText() == rows[key]?.jsonText())
        }
    }

    @Test func `what cannot be decoded is left out and named, and the rest comes`() async throws {
        try file.put("a", "sound", json: "1")
        try file.put("a", "text", json: "{")
        try file.put(
            "a",
            "deep",
            json: String(repeating: "[", count: 63) + String(repeating: "]", count: 63)
        )
        try file.put("a", "none", nil)
        try file.put("godwit.conflicts.a", "reserved", json: "1")
        try file.put("a", "metadata", json: "2", metadata: "{")
        try file.write("INSERT INTO database2 VALUES (99, 'a', CAST(x'66ff' AS TEXT), '3', NULL)")
        let report = try await source().run(into: store)
        let count = report.objects["a"]
        #expect(count?.imported == 2 && count?.leftOut == 4 && count?.withoutMetadata == 1)
        let reasons = Dictionary(uniqueKeysWithValues: report.leftOutObjects.map { ($0.key, $0) })
        #expect(reasons["text"]?.reason.contains("JSON") == true)
        #expect(reasons["deep"]?.reason.contains("deeper") == true)
        #expect(reasons["none"]?.reason == "the row has no data")
        #expect(reasons["reserved"]?.collection == "godwit.conflicts.a")
        #expect(reasons["metadata"]?.isMetadata == true)
        #expect(reasons["f\u{fffd}"]?.reason == "its name is no text")
        #expect(!report.isComplete)
        #expect(try await value("a", "metadata") == 2)
    }

    @Test func `a second import keeps what the app has changed, unless it is told to replace it`()
        async throws
    {
        try file.put("a", "one", json: "1")
        #expect(try await source().run(into: store).isComplete)
        try await store.write { try $0.set("mine", for: "one", in: .init("a")) }
        try file.put("a", "two", json: "2")
        let again = try await source().run(into: store)
        #expect(again.objects["a"]?.kept == 1 && again.objects["a"]?.imported == 1)
        #expect(try await value("a", "one") == "mine")
        var replacing = source()
        replacing.replacesExisting = true
        #expect(try await replacing.run(into: store).objects["a"]?.imported == 2)
        #expect(try await value("a", "one") == 1)
    }

    @Test func `objects of a type are what the store's own coder writes`() async throws {
        let robbie = Contact(
            id: UUID(),
            name: "Robbie",
            born: Date(timeIntervalSinceReferenceDate: 12_345),
            photo: Data([0, 255])
        )
        try file.put("contacts", "a", PropertyListEncoder().encode(robbie))
        try file.put("contacts", "b", JSONEncoder().encode(robbie))
        try file.put("contacts", "c", PropertyListEncoder().encode(["name": "no contact"]))
        var source = source()
        source.decoders["contacts"] = .codable(Contact.self)
        let report = try await source.run(into: store)
        #expect(report.objects["contacts"]?.leftOut == 2)
        #expect(report.leftOutObjects.allSatisfy { !$0.reason.isEmpty })
        #expect(try await store.read { try $0.get("a", in: contacts) } == robbie)

        var json = self.source()
        json.decoders["contacts"] = .codable(Contact.self) {
            try JSONDecoder().decode(Contact.self, from: $0)
        }
        #expect(try await json.run(into: store).objects["contacts"]?.imported == 1)
        #expect(try await store.read { try $0.get("b", in: contacts) } == robbie)
    }

    @Test func `a store that knows the type of a collection takes no other objects into it`()
        async throws
    {
        var options = Store.Options()
        options.collections = [CollectionRules(Store.Collection<Contact>("contacts"))]
        let typed = try Store(.memory, options: options)
        try file.put("contacts", "a", json: #"{"name": 7}"#)
        try file.put("others", "a", json: #"{"name": 7}"#)
        let report = try await source().run(into: typed)
        #expect(report.objects["contacts"]?.leftOut == 1)
        #expect(report.objects["others"]?.imported == 1)
    }

    @Test func `the wanted collections come, under the names that the app wants`() async throws {
        for name in ["", "a", "b"] { try file.put(name, "x", json: "\"\(name)\"") }
        var source = source()
        source.collections = ["", "a"]
        source.collectionNames = ["": "settings"]
        let report = try await source.run(into: store)
        #expect(Set(report.objects.keys) == ["", "a"])
        let names = try await store.read { try $0.collections() }
        #expect(Set(names) == ["settings", "a"])
    }

    @Test func `a decoder may decline objects`() async throws {
        for number in 0..<10 { try file.put("a", "\(number)", json: "\(number)") }
        var source = source()
        source.decoders["a"] = YapObjectDecoder { bytes, place in
            place.key.text > "4" ? nil : try Value(json: bytes)
        }
        let report = try await source.run(into: store)
        #expect(report.objects["a"]?.declined == 5 && report.objects["a"]?.imported == 5)
        #expect(report.isComplete)
    }

    @Test func `a survey counts the same, and changes nothing`() async throws {
        try file.put("a", "one", json: "1")
        try file.put("a", "two", json: "{")
        let survey = try await source().survey()
        let report = try await source().run(into: store)
        #expect(survey == report)
    }

    @Test func `an import that was finished under a name is not done again`() async throws {
        try file.put("a", "one", json: "1")
        #expect(try await source().runOnce("first", into: store)?.objectTotal.imported == 1)
        try await store.write { try $0.removeEverything() }
        #expect(try await source().runOnce("first", into: store) == nil)
        #expect(try await value("a", "one") == nil)
        #expect(try await source().runOnce("second", into: store)?.objectTotal.imported == 1)
    }

    @Test func `an import that was interrupted goes on when it is run again`() async throws {
        for number in 0..<1_300 { try file.put("numbers", "\(number)", json: "\(number)") }
        var interrupted = source()
        interrupted.decoder = YapObjectDecoder { bytes, place in
            if place.key == "700" { withUnsafeCurrentTask { $0?.cancel() } }
            return try Value(json: bytes)
        }
        let attempt = Task { [store, interrupted] in try await interrupted.run(into: store) }
        await #expect(throws: CancellationError.self) { try await attempt.value }
        let report = try await source().run(into: store)
        let count = report.objects["numbers"]
        #expect(count?.kept == 1_000 || count?.kept == 500)
        #expect((count?.kept ?? 0) + (count?.imported ?? 0) == 1_300)
    }

    @Test func `hooks that push every change do not push what was imported`() async throws {
        struct Push: PushOperation { static let kind = "push" }
        let push = AutomaticOperations(of: Store.Collection<Value>("a")) { _ in [Push()] }
        try store.addHook(push, named: "push")
        try file.put("a", "one", json: "1")
        _ = try await source().run(into: store)
        #expect(try await store.read { try $0.operations().count } == 0)
        try await store.write { try $0.set(2, for: "one", in: Store.Collection<Value>("a")) }
        #expect(try await store.read { try $0.operations().count } == 1)
    }
}
