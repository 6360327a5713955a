import Foundation
import GRDB
import GodwitQueue
import GodwitStore
import GodwitTestKit
import GodwitTree
import GodwitYapDatabase
import Testing

/// The order in which CloudCore's operations come into the queue, and what the queue may do with them.
@Suite struct QueueOrderTests {
    /// What touches the same resource, or has an effect on the same thing, has an order.
    struct Upload: PushOperation {
        static let kind = "upload"
        let name: String
        var effect: Effect? { .create("robbie", of: "contacts") }
        var footprint: Footprint { .resource("robbie") }
    }

    struct Delete: PushOperation {
        static let kind = "delete"
        var effect: Effect? { .delete("robbie", of: "contacts") }
    }

    let folder: TemporaryFolder
    let file: YapFile
    let store: Store

    init() throws {
        folder = try TemporaryFolder()
        file = try YapFile(folder.path("old.sqlite"))
        store = try Store(.memory)
    }

    private var source: YapDatabaseImport {
        var source = YapDatabaseImport(file.path)
        source.translate = { operation, _ in
            Upload(name: operation.fields["contactID"]?.text ?? "")
        }
        return source
    }

    private func names() async throws -> [String] {
        try await store.read { try $0.operations() }.map { try $0.decoded(as: Upload.self).name }
    }

    @Test func `operations that touch the same come in an order that keeps their needs`()
        async throws
    {
        let ids = (0..<4).map { _ in UUID() }
        for (index, needs) in [[2], [], [3], []].enumerated() {
            let after = needs.map { ids[$0] }
            let operation = CloudOperation("\(index)", uuid: ids[index], after: after)
            try file.enqueue(operation, graph: 1)
        }
        let report = try await source.run(into: store)
        #expect(report.operations.enqueued == 4 && report.isComplete)
        #expect(try await names() == ["3", "2", "0", "1"])
        let queued = try await store.read { try $0.operations() }
        let needs = try await store.read { try $0.dependencies(of: queued[2].id) }
        #expect(needs.contains(queued[1].id))
    }

    @Test func `a need that the app adds goes backwards, too`() async throws {
        let (first, second) = (UUID(), UUID())
        try file.enqueue(CloudOperation("first", uuid: first), graph: 1)
        try file.enqueue(CloudOperation("second", uuid: second), graph: 1)
        let id = try #require(
            OperationID(second.uuidString.replacing("-", with: "").lowercased())
        )
        var source = source
        source.translate = { operation, placement in
            if operation.uuid == first { placement.dependencies = [.on(id)] }
            return Upload(name: operation.fields["contactID"]?.text ?? "")
        }
        #expect(try await source.run(into: store).operations.enqueued == 2)
        #expect(try await names() == ["second", "first"])
    }

    @Test func `an imported operation is not undone by a later one, for it may have run`()
        async throws
    {
        try file.enqueue(CloudOperation("robbie"), graph: 1)
        var source = source
        source.translate = { _, placement in
            placement.mayMerge = true
            return Upload(name: "robbie")
        }
        _ = try await source.run(into: store)
        try await store.write { try $0.enqueue(Delete()) }
        let kinds = try await store.read { try $0.operations().map(\.kind) }
        #expect(kinds == ["upload", "delete"])
    }

    @Test(arguments: ["godwit_tag", "godwit_yapdatabase_operation"])
    func `an error of the store is not told as damage of the file`(table: String) async throws {
        try file.enqueue(CloudOperation("robbie"), graph: 1)
        try file.write("INSERT INTO cloudcore_tag_cloud VALUES ('/a', '', 'tag')")
        let other = try YapFile(folder.path("other.sqlite"))
        try other.enqueue(CloudOperation("ann"), graph: 1)
        try other.write("INSERT INTO cloudcore_tag_cloud VALUES ('/b', '', 'tag')")
        var first = YapDatabaseImport(other.path)
        first.translate = source.translate
        _ = try await first.run(into: store)
        try await store.write { transaction in
            try transaction.connection.execute(
                sql: """
                    CREATE TRIGGER refusing BEFORE INSERT ON \(table)
                    BEGIN SELECT RAISE(ABORT, 'refused'); END
                    """
            )
        }
        await #expect {
            try await source.run(into: store)
        } throws: {
            !($0 is YapDatabaseError)
        }
    }
}
