import Foundation
import GodwitQueue
import GodwitStore
import GodwitTestKit
import GodwitTree
import GodwitYapDatabase
import Synchronization
import Testing

/// CloudCore's queue.
@Suite struct QueueImportTests {
    struct Upload: PushOperation {
        static let kind = "upload"
        let contact: String
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
            Upload(contact: operation.fields["contactID"]?.text ?? "")
        }
        return source
    }

    private func queued() async throws -> [QueuedOperation] {
        try await store.read { try $0.operations() }
    }

    private func contacts() async throws -> [String] {
        try await queued().map { try $0.decoded(as: Upload.self).contact }
    }

    private func id(_ uuid: UUID) throws -> OperationID {
        try #require(OperationID(uuid.uuidString.replacing("-", with: "").lowercased()))
    }

    @Test func `an operation keeps its name, pipeline, priority and user info`() async throws {
        let uuid = UUID()
        let operation = CloudOperation("robbie", uuid: uuid, priority: -3, userInfo: ["a": "b"])
        try file.enqueue(operation, graph: 5, pipeline: 2)
        try file.enqueue(CloudOperation("ann"), graph: 5, pipeline: 77)
        let report = try await source.run(into: store)
        #expect(report.operations.enqueued == 2 && report.isComplete)
        let found = try await queued()
        #expect(try found.first?.id == id(uuid) && found.first?.priority == -3)
        #expect(found.map(\.pipeline) == ["photos", "default"])
        #expect(found.first?.userInfo == ["a": "b"])
    }

    @Test func `each graph is a commit, from the oldest to the newest`() async throws {
        for (name, graph) in [("c", 9), ("a", 2), ("d", 9), ("b", 4)] as [(String, Int64)] {
            try file.enqueue(CloudOperation(name), graph: graph)
        }
        _ = try await source.run(into: store)
        #expect(try await contacts() == ["a", "b", "c", "d"])
        let commits = try await queued().map(\.commit)
        #expect(commits[0] < commits[1] && commits[1] < commits[2] && commits[2] == commits[3])
    }

    @Test func `a queue runs what was imported in the order of graphs, priorities and needs`()
        async throws
    {
        let (last, first) = (UUID(), UUID())
        try file.enqueue(CloudOperation("1 low", priority: -1), graph: 1)
        try file.enqueue(CloudOperation("1 high", priority: 1), graph: 1)
        try file.enqueue(
            CloudOperation("2 last", uuid: last, priority: 9, after: [first]),
            graph: 2
        )
        try file.enqueue(CloudOperation("2 first", uuid: first), graph: 2)
        _ = try await source.run(into: store)
        let ran = Ran()
        let pipeline = Pipeline(maxConcurrent: 1).on(Upload.self) { upload, _ in
            ran.names.withLock { $0.append(upload.contact) }
            return .completed
        }
        let queue = try PushQueue(store, options: .always, pipelines: [pipeline])
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try? await queue.run() }
            try await queue.statuses(of: id(last)).reaches { $0 == .finished(.completed) }
            group.cancelAll()
        }
        #expect(ran.names.withLock(\.self) == ["1 high", "1 low", "2 first", "2 last"])

        // All of it has left the queue, and does not come back.
        let again = try await source.run(into: store)
        #expect(again.operations.known == 4 && again.operations.enqueued == 0)
        #expect(try await queued().isEmpty)
    }

    @Test func `a queue that runs already takes the operations that are imported on disk`()
        async throws
    {
        let store = try Store(.file(folder.path("app.sqlite")))
        let last = UUID()
        for number in 0..<20 {
            let uuid = number == 19 ? last : UUID()
            try file.enqueue(CloudOperation("\(number)", uuid: uuid), graph: Int64(number))
        }
        let ran = Ran()
        let pipeline = Pipeline().on(Upload.self) { upload, _ in
            ran.names.withLock { $0.append(upload.contact) }
            return .completed
        }
        let queue = try PushQueue(store, options: .always, pipelines: [pipeline])
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try? await queue.run() }
            let report = try await source.run(into: store)
            #expect(report.operations.enqueued == 20)
            try await queue.statuses(of: id(last)).reaches { $0 == .finished(.completed) }
            #expect(try await queue.audit().isSound)
            group.cancelAll()
        }
        #expect(ran.names.withLock(\.self) == (0..<20).map { "\($0)" })
        try store.close()
    }

    final class Ran: Sendable { let names = Mutex<[String]>([]) }

    @Test
    func `needs within a graph, of earlier graphs and of none are what CloudCore made of them`()
        async throws
    {
        let (early, later, now) = (UUID(), UUID(), UUID())
        try file.enqueue(CloudOperation("early", uuid: early), graph: 1)
        try file.enqueue(CloudOperation("a", uuid: now, after: [early, later, UUID()]), graph: 2)
        try file.enqueue(CloudOperation("later", uuid: later), graph: 3)
        let report = try await source.run(into: store)
        #expect(report.isComplete)
        let needs = try await store.read { [id] in try $0.dependencies(of: id(now)) }
        #expect(try needs == [id(early)])
    }

    @Test func `a circle loses the dependency that closes it, and the report says which`()
        async throws
    {
        let ids = (0..<4).map { _ in UUID() }
        for (index, needs) in [[1], [2], [0, 3], []].enumerated() {
            let operation = CloudOperation(
                "\(index)",
                uuid: ids[index],
                after: needs.map { ids[$0] }
            )
            try file.enqueue(operation, graph: 1)
        }
        let report = try await source.run(into: store)
        #expect(report.operations.enqueued == 4 && report.droppedDependencies.count == 1)
        let dropped = try #require(report.droppedDependencies.first)
        #expect(dropped.operation == ids[2] && dropped.need == ids[0])
        #expect(!report.isComplete)
    }

    @Test func `what cannot be translated is left out, with the names of what needed it`()
        async throws
    {
        let (broken, needing) = (UUID(), UUID())
        try file.enqueue(CloudOperation("broken", uuid: broken), graph: 1)
        try file.enqueue(CloudOperation("needing", uuid: needing, after: [broken]), graph: 1)
        try file.enqueue(Data("no archive".utf8), graph: 1)
        try file.enqueue(nil as Data?, graph: 2)
        try file.enqueue(CloudOperation("again", uuid: needing), graph: 3)
        try file.enqueue(CloudOperation("unwanted"), graph: 3)
        var source = source
        source.translate = { operation, _ in
            struct Unknown: Error {}
            let contact = operation.fields["contactID"]?.text ?? ""
            if contact == "broken" { throw Unknown() }
            return contact == "unwanted" ? nil : Upload(contact: contact)
        }
        let report = try await source.run(into: store)
        #expect(report.operations.enqueued == 1 && report.operations.declined == 1)
        #expect(report.operations.leftOut == 4 && report.leftOutOperations.count == 4)
        let left = report.leftOutOperations.first { $0.uuid == broken }
        #expect(left?.dependents == [needing] && left?.reason.contains("Unknown") == true)
        #expect(report.leftOutOperations.contains { $0.reason == "the row is damaged" })
        #expect(report.leftOutOperations.contains { $0.reason.contains("has its uuid") })
        #expect(try await contacts() == ["needing"])
    }

    @Test func `an app that requires all operations gets all of them, or nothing of the cloud`()
        async throws
    {
        try file.write("INSERT INTO cloudcore_tag_cloud VALUES ('/a', '', 'tag')")
        try file.enqueue(CloudOperation("sound"), graph: 1)
        try file.enqueue(Data([1]), graph: 2)
        var source = source
        source.requiresAllOperations = true
        await #expect(throws: YapDatabaseError.self) { try await source.run(into: store) }
        #expect(try await queued().isEmpty)
        #expect(try await store.read { try $0.tag(for: "/a") } == nil)
        try file.write("DELETE FROM cloudcore_queue2_cloud WHERE graphID = 2")
        #expect(try await source.run(into: store).operations.enqueued == 1)
        #expect(try await store.read { try $0.tag(for: "/a") } == "tag")
    }

    @Test func `an operation that the queue refuses takes the whole queue back`() async throws {
        let unknown = try id(UUID())
        let refused = UUID()
        try file.enqueue(CloudOperation("sound"), graph: 1)
        try file.enqueue(CloudOperation("refused", uuid: refused), graph: 2)
        var source = source
        source.translate = { operation, placement in
            if operation.uuid == refused { placement.dependencies = [.on(unknown)] }
            return Upload(contact: "")
        }
        await #expect(throws: (any Error).self) { try await source.run(into: store) }
        #expect(try await queued().isEmpty)
        // The store goes on.
        #expect(try await self.source.run(into: store).operations.enqueued == 2)
    }

    @Test func `thousands of operations come once, however often the import is run`() async throws {
        var random = Seeded(seed: 5)
        var uuids: [UUID] = []
        for graph in 0..<60 {
            for _ in 0..<Int.random(in: 1...60, using: &random) {
                let needs = (0..<2).compactMap { _ in uuids.randomElement(using: &random) }
                let operation = CloudOperation("\(uuids.count)", after: needs)
                uuids.append(operation.uuid)
                try file.enqueue(operation, graph: Int64(graph))
            }
        }
        let report = try await source.run(into: store)
        #expect(report.operations.enqueued == uuids.count && report.isComplete)
        #expect(try await source.run(into: store).operations.known == uuids.count)
        #expect(try await contacts() == uuids.indices.map { "\($0)" })
    }

    @Test func `without a translation the operations stay in the file, and are counted`()
        async throws
    {
        for number in 0..<3 { try file.enqueue(CloudOperation("\(number)"), graph: 1) }
        let report = try await YapDatabaseImport(file.path).run(into: store)
        #expect(report.operations.waiting == 3 && !report.isComplete)
        #expect(try await queued().isEmpty)
        #expect(try await source.run(into: store).operations.enqueued == 3)
    }

    @Test func `an app with a serializer of its own reads its operations itself`() async throws {
        let uuid = UUID()
        try file.enqueue(Data(uuid.uuidString.utf8), graph: 1)
        var source = source
        source.readOperation = { bytes in
            let uuid = UUID(uuidString: String(decoding: bytes, as: UTF8.self))
            return .init(uuid: try #require(uuid), priority: 4)
        }
        #expect(try await source.run(into: store).operations.enqueued == 1)
        #expect(try await queued().map(\.priority) == [4])
    }

    @Test func `a survey of the queue changes nothing and counts the same`() async throws {
        try file.enqueue(CloudOperation("a"), graph: 1)
        try file.enqueue(Data([1]), graph: 1)
        let survey = try await source.survey()
        #expect(try await source.run(into: store) == survey)
    }
}

extension PushQueue.Options {
    /// On any network, or none.
    fileprivate static var always: Self {
        var options = Self()
        options.monitor = ConstantConditions()
        return options
    }
}
