import Foundation
import GRDB
import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

@Suite struct StoreFaultTests {
    let folder: TemporaryFolder
    let numbers = Store.Collection<Int>("numbers")

    init() throws { folder = try TemporaryFolder() }

    @Test func `a second opener is refused at once, a reader is not`() async throws {
        let path = folder.path("store.sqlite")
        let store = try Store(.file(path))
        try await store.write { [numbers] in try $0.set(1, for: "a", in: numbers) }

        #expect(throws: StoreError.alreadyOpen(path: path)) { try Store(.file(path)) }
        let reader = try Store(.file(path), options: .readOnly)
        let found1 = try await reader.read { [numbers] in try $0.get("a", in: numbers) }
        #expect(found1 == 1)
        await #expect(throws: (any Error).self) {
            try await reader.write { [numbers] in try $0.set(2, for: "a", in: numbers) }
        }
        try reader.close()
        try store.close()
        try Store(.file(path)).close()
    }

    @Test func `a file that is no store is refused and untouched`() throws {
        let path = folder.path("text.sqlite")
        let text = Data(String(repeating: "This is not a database. ", count: 100).utf8)
        try text.write(to: URL(filePath: path))

        #expect(throws: StoreError.notADatabase(path: path)) { try Store(.file(path)) }
        #expect(try Data(contentsOf: URL(filePath: path)) == text)
        let missing = folder.path("missing.sqlite")
        #expect(throws: StoreError.noStore(path: missing)) {
            try Store(.file(missing), options: .readOnly)
        }
        #expect(throws: StoreError.self) { try Store(.file("/no/such/folder/store.sqlite")) }
    }

    @Test func `a store from a newer program is refused and untouched`() throws {
        let path = folder.path("store.sqlite")
        try Store(.file(path)).close()
        let queue = try DatabaseQueue(path: path)
        try queue.write { try $0.execute(sql: "UPDATE godwit_schema SET version = 99") }
        try queue.close()

        #expect(throws: StoreError.newerSchema(name: "store", found: 99, known: 1)) {
            try Store(.file(path))
        }
    }

    @Test func `tables of a version that is no longer upgraded are refused and untouched`() throws {
        let old = TableSchema(name: "part", steps: [.sql("CREATE TABLE note (text TEXT)")])
        let steps = [TableSchema.Step.sql("CREATE TABLE note (text TEXT, seal BLOB)")]
        let new = TableSchema(name: "part", oldest: 3, steps: steps)
        let store = try Store(.file(folder.path("store.sqlite")))
        try store.prepare(old)
        #expect(throws: StoreError.olderSchema(name: "part", found: 1, oldest: 3)) {
            try store.prepare(new)
        }
        try store.prepare(old)

        let other = try Store(.file(folder.path("new.sqlite")))
        for _ in 0..<2 { try other.prepare(new) }
        #expect(throws: StoreError.newerSchema(name: "part", found: 3, known: 1)) {
            try other.prepare(old)
        }
    }

    @Test func `damage inside an object is seen when it is read`() async throws {
        let path = folder.path("store.sqlite")
        let store = try Store(.file(path))
        try await store.write { [numbers] in
            try $0.set(1_000, for: "a", in: numbers)
            try $0.set(2_000, for: "b", in: numbers)
        }
        try store.close()
        try await damage(path, "UPDATE godwit_object SET value = x'1903e9' WHERE key = 'a'")
        let reopened = try Store(.file(path))

        let key = ObjectKey(collection: "numbers", key: "a")
        await #expect(throws: StoreError.damagedObject(key)) {
            try await reopened.read { [numbers] in try $0.get("a", in: numbers) }
        }
        let found2 = try await reopened.read { [numbers] in try $0.get("b", in: numbers) }
        #expect(found2 == 2_000)
        try reopened.close()
    }

    private func damage(_ path: String, _ sql: String) async throws {
        let queue = try DatabaseQueue(path: path)
        try await queue.write { try $0.execute(sql: sql) }
        try queue.close()
    }

    @Test func `what cannot be stored is refused with its reason`() async throws {
        let store = try Store(.memory)
        var deep: Value = 1
        for _ in 0..<WriteTransaction.objectDepthMax + 1 { deep = [deep] }
        let tooDeep = deep
        let values = Store.Collection<Value>("values")
        await #expect(throws: StoreError.self) {
            try await store.write { try $0.set(tooDeep, for: "a", in: values) }
        }
        let doubles = Store.Collection<Double>("doubles")
        await #expect(throws: EncodingError.self) {
            try await store.write { try $0.set(.nan, for: "a", in: doubles) }
        }
        let large = Store.Collection<UInt64>("large")
        await #expect(throws: EncodingError.self) {
            try await store.write { try $0.set(.max, for: "a", in: large) }
        }
        let strings = Store.Collection<String>("doubles")
        try await store.write { try $0.set(1.5, for: "b", in: doubles) }
        let reason = "there is a double"
        await #expect(throws: StoreError.unreadableObject(strings.place("b"), reason: reason)) {
            try await store.read { try $0.get("b", in: strings) }
        }
        try store.close()
    }
}
