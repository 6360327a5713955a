import Foundation
import GodwitStore
import GodwitTestKit
import GodwitTree
import Synchronization
import Testing

@testable import GodwitQueue

/// What the documents that the queue grew from promise, as a user of each would look for it.
@Suite struct SeedTests {
    private func expectCompleted(_ id: OperationID, by queue: PushQueue) async throws {
        let fate = try await queue.result(of: id)
        #expect(fate == .completed)
    }

    // MARK: - Suspending

    @Test func `an executor suspends its pipeline with a reason, over launches too`() async throws {
        let folder = try TemporaryFolder()
        let location = Store.Location.file(folder.path("store.sqlite"))
        let bench = try Workbench(location)
        let queue = try bench.queue([bench.cloud.pipeline(), bench.cloud.pipeline("other")])
        let id = try await bench.enqueue("a", "b")[0]
        let other = try await bench.enqueue("c", placement: Placement(pipeline: "other"))[0]
        try await queue.running {
            await bench.cloud.starts(3)
            bench.cloud.answer("a", .suspendPipeline(reason: "sign in"))
            bench.cloud.answer("b")
            bench.cloud.answer("c")
            try await expectCompleted(other, by: queue)
            try await queue.statuses(of: id).reaches {
                $0.reasons == [.suspended(reason: "sign in")]
            }
            let attempts = try await bench.operation(id).attempts
            #expect(attempts == 0)
        }
        try bench.store.close()

        let again = try Workbench(location)
        let second = try again.queue([again.cloud.pipeline(), again.cloud.pipeline("other")])
        try await second.running {
            let status = try await second.status(of: id)
            #expect(status.reasons == [.suspended(reason: "sign in")])
            try await again.store.write { try $0.resumePipeline("default", reason: "sign in") }
            await again.cloud.starts()
            again.cloud.answer("a")
            try await expectCompleted(id, by: second)
        }
        try await again.expectEmpty()
    }

    @Test func `a transfer that ends with a suspension waits, and is started again`() async throws {
        let bench = try Workbench()
        let queue = try bench.queue()
        let id = try await bench.enqueue("a")[0]
        try await queue.markActive(id)
        try await queue.running {
            try await queue.finish(id, with: .suspendPipeline(reason: "sign in"))
            let operation = try await bench.operation(id)
            #expect(operation.state == .waiting && operation.attempts == 0)
            try await bench.store.write { try $0.resumePipeline("default", reason: "sign in") }
            await bench.cloud.starts()
            bench.cloud.answer("a")
            try await expectCompleted(id, by: queue)
        }
        try await bench.expectEmpty()
    }

    @Test func `a late answer does not suspend a pipeline that was resumed meanwhile`() async throws
    {
        let bench = try Workbench()
        let queue = try bench.queue()
        let ids = try await bench.enqueue("a", "b")
        try await queue.running {
            await bench.cloud.starts(2)
            bench.cloud.answer("a", .suspendPipeline(reason: "sign in"))
            try await queue.statuses(of: ids[0]).reaches {
                $0.reasons == [.suspended(reason: "sign in")]
            }
            bench.clock.advance(by: .seconds(1))
            try await bench.store.write { try $0.resumePipeline("default", reason: "sign in") }
            await bench.cloud.starts()
            bench.cloud.answer("b", .suspendPipeline(reason: "sign in"))
            await bench.cloud.starts()
            bench.cloud.answer("a")
            bench.cloud.answer("b")
            for id in ids { try await expectCompleted(id, by: queue) }
        }
        try await bench.expectEmpty()
    }

    @Test func `an operation that needs another on the disk is not started`() async throws {
        let bench = try Workbench()
        _ = try bench.queue(order: .flat)
        let ids = try await bench.enqueue("a", "b")
        let started = try await bench.store.write { transaction in
            try transaction.modifyOperation(ids[1]) { $0.addDependency(.on(ids[0])) }
            let numbers = try ids.compactMap { try transaction.operation($0)?.number }
            return try transaction.start(numbers, epoch: 1, lease: (0, 0), at: .zero).map(\.id)
        }
        #expect(started == [ids[0]])
    }

    @Test func `a pipeline that gets commit order lets go of needs of later commits`() async throws
    {
        let folder = try TemporaryFolder()
        let location = Store.Location.file(folder.path("store.sqlite"))
        let bench = try Workbench(location)
        _ = try bench.queue(order: .flat)
        let first = try await bench.enqueue("a")[0]
        let second = try await bench.enqueue("b")[0]
        try await bench.store.write { transaction in
            try transaction.modifyOperation(first) { $0.addDependency(.on(second)) }
        }
        try bench.store.close()

        let again = try Workbench(location)
        let queue = try again.queue(order: .commit)
        again.cloud.answer("a")
        again.cloud.answer("b")
        try await queue.running {
            try await expectCompleted(second, by: queue)
            #expect(again.cloud.started == ["a", "b"])
        }
    }

    @Test func `what came after a modified operation comes after what that came after`()
        async throws
    {
        struct Put: PushOperation {
            static let kind = "put"
            let path: String
            var footprint: Footprint { .put(RemotePath(path)) }
        }
        let bench = try Workbench()
        _ = try bench.queue(order: .flat)
        let ids = try await bench.store.write { transaction in
            try (0..<3).map { _ in try transaction.enqueue(Put(path: "/p")) }
        }
        try await bench.store.write { transaction in
            try transaction.modifyOperation(ids[1]) { try $0.replace(with: Put(path: "/q")) }
        }
        let needs = try await bench.store.read { try $0.dependencies(of: ids[2]) }
        #expect(needs.contains(ids[0]), "both write one path")
    }

    #if os(Linux)
    @Test func `operations wait while the system has no network, and run when it comes`()
        async throws
    {
        let folder = try TemporaryFolder()
        let file = URL(filePath: folder.path("proc/net/route"))
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        let device = URL(filePath: folder.path("sys/class/net/eth0"))
        try FileManager.default.createDirectory(at: device, withIntermediateDirectories: true)
        let header = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\n"
        try header.write(to: file, atomically: true, encoding: .utf8)
        let routes = AsyncStream.makeStream(of: Void.self)
        var options = PushQueue.Options()
        options.monitor = SystemConditions(
            root: folder.path(""),
            routeChanges: { routes.stream },
            clock: ManualClock()
        )
        let (store, cloud) = (try Store(.memory), HandCloud())
        let queue = try PushQueue(store, options: options, pipelines: [cloud.pipeline()])
        let id = try await store.write { try $0.enqueue(Upload(name: "a")) }
        try await queue.running {
            try await queue.statuses(of: id).reaches { $0.reasons == [.lacks(.network)] }
            let route = "eth0\t00000000\t0100A8C0\t0003\t0\t0\t0\t00000000\t0\n"
            try (header + route).write(to: file, atomically: true, encoding: .utf8)
            routes.continuation.yield()
            await cloud.starts()
            cloud.answer("a")
            try await expectCompleted(id, by: queue)
        }
        try store.close()
    }
    #endif

    // MARK: - Changing what is queued

    @Test func `a dependency is added to those that are there, with its policy`() async throws {
        let bench = try Workbench()
        let queue = try bench.queue(order: .flat)
        let ids = try await bench.enqueue("a", "b", "c")
        try await bench.store.write { transaction in
            try transaction.modifyOperation(ids[2]) { $0.addDependency(.on(ids[0])) }
            try transaction.modifyOperation(ids[2]) {
                $0.addDependency(.on(ids[1], otherwise: .skip))
            }
        }
        let needs = try await bench.store.read { try $0.recordedDependencies(of: ids[2]) }
        #expect(needs.map(\.id) == [ids[0], ids[1]] && needs.map(\.policy) == [.wait, .skip])
        #expect(needs.allSatisfy { $0.isExplicit && !$0.isDerived })
        await #expect(throws: QueueError.self, "a circle") {
            try await bench.store.write { transaction in
                try transaction.modifyOperation(ids[0]) { $0.addDependency(.on(ids[2])) }
            }
        }
        await #expect(throws: QueueError.unknownDependency(.number(9))) {
            try await bench.store.write { transaction in
                try transaction.modifyOperation(ids[0]) { $0.addDependency(.on(.number(9))) }
            }
        }
        try await queue.running {
            await bench.cloud.starts(2)
            #expect(Set(bench.cloud.started) == ["a", "b"])
            bench.cloud.answer("b", .skipped(reason: "not needed"))
            let fate = try await queue.result(of: ids[2])
            #expect(fate.isSkipped)
            bench.cloud.answer("a")
            try await expectCompleted(ids[0], by: queue)
        }
    }

    @Test func `the user info has values by key`() async throws {
        let bench = try Workbench()
        _ = try bench.queue()
        let id = try await bench.enqueue("a")[0]
        for (key, value) in [("color", Value.string("red")), ("size", 7), ("color", "blue")] {
            try await bench.store.write { transaction in
                try transaction.modifyOperation(id) { $0.setUserInfo(value, for: Key(key)) }
            }
        }
        #expect(try await bench.operation(id).userInfo == ["color": "blue", "size": 7])
        try await bench.store.write { transaction in
            try transaction.modifyOperation(id) { $0.setUserInfo(nil, for: "size") }
        }
        #expect(try await bench.operation(id).userInfo == ["color": "blue"])
    }

    // MARK: - Finding

    @Test func `operations are found by the object that they push`() async throws {
        let bench = try Workbench()
        _ = try bench.queue()
        try await bench.store.write { transaction in
            try transaction.enqueue(Upload(name: "a", pushes: ["1"]))
            try transaction.enqueue(Upload(name: "b", pushes: ["2"]))
            try transaction.enqueue(Upload(name: "c", pushes: ["1", "2"]))
        }
        let names = try await bench.store.read { transaction in
            try ["1", "2", "3"].map { key in
                try transaction.operations(pushing: ObjectKey(collection: "things", key: Key(key)))
                    .map { try $0.decoded(as: Upload.self).name }
            }
        }
        #expect(names == [["a", "c"], ["b", "c"], []])
    }

    // MARK: - Conflicts

    @Test func `a conflict keeps waiting what depends on it`() async throws {
        let bench = try Workbench()
        var pipeline = bench.cloud.pipeline(order: .flat)
        pipeline.resolve = { _ in nil }
        let queue = try bench.queue([pipeline])
        let (first, second) = try await bench.store.write { transaction in
            let first = try transaction.enqueue(Upload(name: "a"))
            return (first, try transaction.enqueue(Upload(name: "b"), after: [first]))
        }
        try await queue.running {
            await bench.cloud.starts()
            bench.cloud.answer("a", .conflict(reason: "newer"))
            try await queue.statuses(of: first).reaches { $0 == .conflict }
            let needs = try await bench.store.read { try $0.dependencies(of: second) }
            #expect(needs == [first] && bench.cloud.started == ["a"])
            try await bench.store.write { try $0.resolveConflict(of: first, .retry) }
            await bench.cloud.starts()
            bench.cloud.answer("a")
            await bench.cloud.starts()
            bench.cloud.answer("b")
            try await expectCompleted(second, by: queue)
        }
    }

    // MARK: - Files

    struct Photo: Codable, Sendable {
        var title: String
        /// The name of the file that has the picture.
        var file: String
    }

    struct UploadFile: PushOperation {
        static let kind = "file"
        let name: String
    }

    struct UploadPhoto: PushOperation {
        static let kind = "photo"
        let id: String
        let file: String
    }

    @Test func `a file beside a record is pushed before the record that names it`() async throws {
        let (folder, photos) = (try TemporaryFolder(), Store.Collection<Photo>("photos"))
        let store = try Store(.file(folder.path("store.sqlite")))
        let remote = Mutex<[String: String]>([:])
        var pipeline = Pipeline(order: .flat)
            .on(UploadFile.self) { upload, _ in
                let text = try String(contentsOfFile: folder.path(upload.name), encoding: .utf8)
                remote.withLock { $0[upload.name] = text }
                return .completed
            }
            .on(UploadPhoto.self) { upload, _ in
                let photo = try await store.read { try $0.get(upload.id, in: photos) }
                guard let photo else { return .skipped(reason: "the photo is gone") }
                let isThere = remote.withLock { $0[photo.file] != nil }
                guard isThere else { return .refused(reason: "it names a file that is not there") }
                remote.withLock { $0[upload.id] = photo.title }
                return .completed
            }
        pipeline.rules = [
            DependencyRule(UploadFile.self, { $0.name }, before: UploadPhoto.self, { $0.file })
        ]
        let queue = try PushQueue(store, pipelines: [pipeline])
        try "picture".write(toFile: folder.path("1.jpg"), atomically: true, encoding: .utf8)
        let id = try await store.write { transaction in
            try transaction.set(Photo(title: "Godwit", file: "1.jpg"), for: "1", in: photos)
            let id = try transaction.enqueue(UploadPhoto(id: "1", file: "1.jpg"))
            try transaction.enqueue(UploadFile(name: "1.jpg"))
            return id
        }
        try await queue.running { _ = try await queue.result(of: id) }
        #expect(remote.withLock { $0 } == ["1.jpg": "picture", "1": "Godwit"])
        try store.close()
    }
}

extension OperationResult {
    fileprivate var isSkipped: Bool { if case .skipped = self { true } else { false } }
}
