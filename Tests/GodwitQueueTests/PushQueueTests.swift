import GodwitQueue
import GodwitStore
import GodwitTestKit
import GodwitTree
import Synchronization
import Testing

struct Upload: PushOperation {
    static let kind = "upload"
    let name: String
    /// Keys of the collection "things".
    var pushes: [String]?

    var objects: [ObjectKey] {
        (pushes ?? []).map { ObjectKey(collection: "things", key: Key($0)) }
    }
}

/// What an executor was asked to do, and what it answers.
final class Cloud: Sendable {
    private let calls = Mutex<[String]>([])
    private let answer: @Sendable (QueuedOperation) async throws -> Outcome

    init(_ answer: @escaping @Sendable (QueuedOperation) async throws -> Outcome) {
        self.answer = answer
    }

    var names: [String] { calls.withLock { $0 } }

    /// A pipeline that asks this cloud.
    func pipeline(
        _ name: String = Pipeline.defaultName,
        order: Pipeline.Order = .commit,
        maxConcurrent: Int = 8
    ) -> Pipeline {
        var pipeline = Pipeline(name, order: order, maxConcurrent: maxConcurrent)
            .on(Upload.self) { upload, run in
                self.calls.withLock { $0.append(upload.name) }
                return try await self.answer(run.operation)
            }
        pipeline.backoff = Backoff(delayMin: .seconds(1), jitter: { 0 })
        return pipeline
    }
}

extension PushQueue {
    /// Runs the queue for as long as `body` takes.
    func running(_ body: () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.run() }
            try await self.summaries().reaches { $0.isRunning }
            try await body()
            group.cancelAll()
            while let result = await group.nextResult() {
                if case .failure(let error) = result, !(error is CancellationError) { throw error }
            }
        }
    }

    convenience init(_ store: Store, _ cloud: Cloud, clock: ManualClock? = nil) throws {
        try self.init(store, clock: clock, pipelines: [cloud.pipeline()])
    }

    convenience init(_ store: Store, clock: ManualClock?, pipelines: [Pipeline]) throws {
        var options = Options()
        if let clock { options.clock = clock }
        try self.init(store, options: options, pipelines: pipelines)
    }
}

extension OperationID {
    static func number(_ number: Int) -> OperationID {
        let bytes = [UInt8](repeating: 0, count: 15) + [UInt8(number)]
        guard let identifier = Identifier(bytes: bytes) else { preconditionFailure("16 bytes") }
        return OperationID(identifier)
    }
}

@Suite struct PushQueueTests {
    let folder: TemporaryFolder
    let tags = Store.Collection<String>("tags")

    init() throws { folder = try TemporaryFolder() }

    @Test func `operations run in the order of commits, dependencies first`() async throws {
        let store = try Store(.memory)
        let cloud = Cloud { _ in .completed }
        let queue = try PushQueue(store, pipelines: [cloud.pipeline(maxConcurrent: 1)])
        try await store.write { transaction in
            let late = OperationID(transaction.newIdentifier())
            try transaction.enqueue(Upload(name: "b"), after: [late])
            try transaction.enqueue(Upload(name: "a"), Placement(id: late))
        }
        let commit = try await store.write { transaction in
            try transaction.enqueue(Upload(name: "c"))
            try transaction.enqueue(Upload(name: "first of its commit"), Placement(priority: 5))
            return transaction.commit
        }

        try await queue.running { try await queue.finish(through: commit) }

        #expect(cloud.names == ["a", "b", "first of its commit", "c"])
        try store.close()
    }

    @Test func `an executor tells how much is done, from 0 to 1`() async throws {
        let store = try Store(.memory)
        let asked = Mutex<PushQueue?>(nil)
        let told = Mutex<[OperationStatus?]>([])
        let pipeline = Pipeline().on(Upload.self) { _, run in
            for fraction in [-1, 0.25, 2] {
                run.progress(fraction)
                let status = try await asked.withLock(\.self)?.status(of: run.operation.id)
                told.withLock { $0.append(status) }
            }
            return .completed
        }
        let queue = try PushQueue(store, pipelines: [pipeline])
        asked.withLock { $0 = queue }
        let commit = try await store.write { transaction in
            try transaction.enqueue(Upload(name: "a"))
            return transaction.commit
        }
        try await queue.running { try await queue.finish(through: commit) }
        let wanted: [OperationStatus?] = [0, 0.25, 1].map { .running(progress: $0) }
        #expect(told.withLock(\.self) == wanted)
        asked.withLock { $0 = nil }
        try store.close()
    }

    /// In the commit order of the pipeline that adopts them, the second waits for the first, which waited
    /// for the second.
    @Test func `operations of a pipeline that is gone run, whatever they waited for there`()
        async throws
    {
        let path = folder.path("store.sqlite")
        let cloud = Cloud { _ in .completed }
        let store = try Store(.file(path))
        let former = try PushQueue(
            store,
            pipelines: [cloud.pipeline(), cloud.pipeline("old", order: .flat)]
        )
        // The database knows its pipelines once it was run.
        try await former.running {}
        let old = Placement(pipeline: "old")
        let first = try await store.write { try $0.enqueue(Upload(name: "a"), old) }
        let second = try await store.write { try $0.enqueue(Upload(name: "b"), old) }
        let commit = try await store.write { transaction in
            try transaction.modifyOperation(first) { $0.addDependency(.on(second)) }
            return transaction.commit
        }
        #expect(try await store.read { try $0.operations().map(\.pipeline) } == ["old", "old"])
        withExtendedLifetime(former) {}
        try store.close()
        let reopened = try Store(.file(path))
        let queue = try PushQueue(reopened, pipelines: [cloud.pipeline()])
        try await queue.running { try await queue.finish(through: commit) }
        #expect(cloud.names == ["a", "b"])
        try reopened.close()
    }

    @Test func `an operation enqueued while the pipeline runs is run`() async throws {
        let store = try Store(.memory)
        let cloud = Cloud { _ in .completed }
        let queue = try PushQueue(store, cloud)
        try await queue.running {
            for name in ["a", "b", "c"] {
                let commit = try await store.write {
                    try $0.enqueue(Upload(name: name))
                    return $0.commit
                }
                try await queue.finish(through: commit)
            }
        }
        #expect(cloud.names == ["a", "b", "c"])
        try store.close()
    }

    @Test func `what is not completed comes back after a relaunch`() async throws {
        let path = folder.path("store.sqlite")
        let first = try Store(.file(path))
        let stuck = Cloud { _ in throw CancellationError() }
        let before = try PushQueue(first, stuck)
        let commit = try await first.write {
            try $0.enqueue(Upload(name: "a"), Placement(priority: -3))
            return $0.commit
        }
        try await before.running {
            while stuck.names.isEmpty { await Task.yield() }
        }
        try first.close()

        let second = try Store(.file(path))
        let seen = Mutex<[QueuedOperation]>([])
        let after = try PushQueue(
            second,
            Cloud { operation in
                seen.withLock { $0.append(operation) }
                return .completed
            }
        )
        try await after.running { try await after.finish(through: commit) }

        let operation = try #require(seen.withLock { $0 }.first)
        #expect(operation.commit == commit)
        #expect(operation.priority == -3)
        #expect(operation.attempts == 0, "a cancelled attempt is no failed one")
        try second.close()
    }

    @Test func `completion and its body are one transaction`() async throws {
        struct Refusal: Error {}
        let store = try Store(.memory)
        let clock = ManualClock()
        let attempts = Mutex(0)
        let tags = tags
        let cloud = Cloud { _ in
            let attempt = attempts.withLock { count in
                count += 1
                return count
            }
            return .completed { transaction in
                try transaction.set("etag \(attempt)", for: "a", in: tags)
                if attempt == 1 { throw Refusal() }
            }
        }
        let queue = try PushQueue(store, cloud, clock: clock)
        let commit = try await store.write {
            try $0.enqueue(Upload(name: "a"))
            return $0.commit
        }

        try await queue.running {
            #expect(await clock.nextDelay() == .seconds(1))
            let found1 = try await store.read { try $0.count(in: tags) }
            #expect(found1 == 0)
            clock.advance(by: .seconds(1))
            try await queue.finish(through: commit)
        }

        let found2 = try await store.read { try $0.get("a", in: tags) }
        #expect(found2 == "etag 2")
        try store.close()
    }

    @Test func `a retry waits as long as the cloud says, or as the backoff does`() async throws {
        let store = try Store(.memory)
        let clock = ManualClock()
        let cloud = Cloud { operation in
            switch operation.attempts {
            case 0: .retry(after: .seconds(30), reason: "busy")
            case 1: .retry(after: nil, reason: "still busy")
            case 2: .retry(after: nil, reason: operation.reason ?? "no error")
            default: .completed
            }
        }
        let queue = try PushQueue(store, cloud, clock: clock)
        let commit = try await store.write {
            try $0.enqueue(Upload(name: "a"))
            return $0.commit
        }

        try await queue.running {
            for seconds in [30, 2, 4] {
                #expect(await clock.nextDelay() == .seconds(seconds))
                clock.advance(by: .seconds(seconds))
            }
            try await queue.finish(through: commit)
        }
        #expect(cloud.names.count == 4)
        try store.close()
    }

    @Test func `no more than maxConcurrent run at once, and independent ones do`() async throws {
        let store = try Store(.memory)
        let gauge = Mutex((now: 0, most: 0))
        let gates = AsyncStream.makeStream(of: Void.self)
        let cloud = Cloud { _ in
            let isThird = gauge.withLock { gauge in
                gauge.now += 1
                gauge.most = max(gauge.most, gauge.now)
                return gauge.most == 3
            }
            if isThird { gates.continuation.finish() }
            for await _ in gates.stream {}
            gauge.withLock { $0.now -= 1 }
            return .completed
        }
        let queue = try PushQueue(store, pipelines: [cloud.pipeline(maxConcurrent: 3)])
        let commit = try await store.write { transaction in
            for number in 0..<10 { try transaction.enqueue(Upload(name: "\(number)")) }
            return transaction.commit
        }
        try await queue.running { try await queue.finish(through: commit) }
        #expect(gauge.withLock { $0.most } == 3)
        try store.close()
    }

    @Test func `an operation that is read at the start waits for one of another queue`()
        async throws
    {
        let bench = try Workbench()
        let queues = try ["first", "second"].map { try bench.queue([bench.cloud.pipeline($0)]) }
        let (first, second) = try await bench.store.write { transaction in
            let first = try transaction.enqueue(Upload(name: "a"), Placement(pipeline: "first"))
            let placement = Placement(pipeline: "second")
            let second = try transaction.enqueue(Upload(name: "b"), after: [first], placement)
            return (first, second)
        }
        try await queues[1].running {
            let number = try #require(try await bench.store.read { try $0.operation(first) }).number
            #expect(try await queues[1].status(of: second) == .waiting([.dependencies([number])]))
            try await queues[0].running {
                await bench.cloud.starts()
                bench.cloud.answer("a")
                await bench.cloud.starts()
                bench.cloud.answer("b")
                let fate = try await queues[1].result(of: second)
                #expect(fate == .completed)
            }
        }
        #expect(bench.cloud.started == ["a", "b"])
        try await bench.expectEmpty()
    }

    @Test func `operations of a transaction that is rolled back never run`() async throws {
        let store = try Store(.memory)
        let cloud = Cloud { _ in .completed }
        let queue = try PushQueue(store, cloud)
        let twice = OperationID.number(1)
        await #expect(throws: QueueError.duplicateOperation(twice)) {
            try await store.write {
                try $0.enqueue(Upload(name: "a"), Placement(id: twice))
                try $0.enqueue(Upload(name: "b"), Placement(id: twice))
            }
        }
        await #expect(throws: QueueError.circularDependency([.number(3), .number(1), .number(2)])) {
            try await store.write {
                try $0.enqueue(Upload(name: "a"), after: [.number(2)], Placement(id: .number(1)))
                try $0.enqueue(Upload(name: "b"), after: [.number(3)], Placement(id: .number(2)))
                try $0.enqueue(Upload(name: "c"), after: [.number(1)], Placement(id: .number(3)))
            }
        }
        let commit = try await store.write {
            try $0.enqueue(Upload(name: "c"))
            return $0.commit
        }
        try await queue.running { try await queue.finish(through: commit) }
        #expect(cloud.names == ["c"])
        try store.close()
    }
}
