import GodwitStore
import GodwitTestKit
import GodwitTree
import Synchronization
import Testing

@testable import GodwitQueue

private struct Hosted: PushOperation {
    static let kind = "hosted"
    let name: String
    var host: String? { "cloud.example" }
}

/// What the queue's documentation promises besides order: pipelines, rates, waiting, merging.
@Suite struct QueuePromiseTests {
    @Test func `a queue that could not be made leaves the pipelines of another alone`() throws {
        let store = try Store(.memory)
        let cloud = Cloud { _ in .completed }
        let first = try PushQueue(store, cloud)
        for attempt in 1...3 {
            #expect(throws: QueueError.pipelineExists(Pipeline.defaultName), "attempt \(attempt)") {
                try PushQueue(store, cloud)
            }
        }
        withExtendedLifetime(first) {}
        try store.close()
    }

    @Test func `a pipeline may be had again when its queue is gone`() throws {
        let store = try Store(.memory)
        let cloud = Cloud { _ in .completed }
        for _ in 1...3 { _ = try PushQueue(store, cloud) }
        try store.close()
    }

    @Test(.timeLimit(.minutes(Soak.minutesMax)))
    func `a throttled host gets its rate back by successes`() async throws {
        let store = try Store(.memory)
        var options = PushQueue.Options()
        options.rateLimit = { _ in
            RateLimit(perSecondMax: 1_000, perSecondMin: 1, burstMax: 1_000, increase: 100)
        }
        let pipeline = Pipeline(order: .flat, maxConcurrent: 1).on(Hosted.self) { work, run in
            work.name == "0" && run.operation.attempts == 0
                ? .retry(after: .zero, slowDown: true, reason: "429") : .completed
        }
        let queue = try PushQueue(store, options: options, pipelines: [pipeline])
        let rate = { queue.state.withLock { $0.machine.perSecond(ofHost: "cloud.example") } }
        try await queue.running {
            for names in [0..<1, 1..<4, 4..<6] {
                let commit = try await store.write { transaction in
                    for name in names { try transaction.enqueue(Hosted(name: "\(name)")) }
                    return transaction.commit
                }
                try await queue.finish(through: commit)
                #expect(rate() == 500 + 100 * Double(min(names.upperBound, 5)))
            }
        }
        try store.close()
    }

    @Test(arguments: [false, true], [false, true])
    func `in the merge of a conflict an edit beats a removal, and a removal beats no edit`(
        weRemoved: Bool,
        isEdited: Bool
    ) async throws {
        let bench = try Workbench()
        _ = try bench.queue()
        try await bench.enqueue("x")
        let base: Value = ["a": 1, "b": "text"]
        let other: Value = isEdited ? ["a": 2, "b": "text"] : base
        let conflict = PushConflict(
            operation: try await bench.first(),
            key: ObjectKey(collection: "things", key: "x"),
            base: base,
            ours: weRemoved ? nil : other,
            theirs: weRemoved ? other : .null,
            tag: nil,
            policy: .standard
        )
        #expect(conflict.merged().value == (isEdited ? other : nil))
    }

    @Test(.timeLimit(.minutes(Soak.minutesMax)))
    func `waiting for operations ends when the task is cancelled, before or while it waits`()
        async throws
    {
        let bench = try Workbench()
        let queue = try bench.queue()
        try await bench.enqueue("x")
        let commit = try await bench.store.read { $0.lastCommit }
        let early = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await queue.finish(through: commit)
        }
        await #expect(throws: CancellationError.self) { try await early.value }
        try await queue.running {
            await bench.cloud.starts()
            let late = Task { try await queue.finish(through: commit) }
            while !queue.state.withLock({ $0.waiters.isWaitedFor }) { await Task.yield() }
            late.cancel()
            await #expect(throws: CancellationError.self) { try await late.value }
        }
        try bench.store.close()
    }

    @Test(.timeLimit(.minutes(Soak.minutesMax)))
    func `waiting for operations says so when the queue stops before they are through`()
        async throws
    {
        let bench = try Workbench()
        let queue = try bench.queue()
        try await bench.enqueue("x")
        let commit = try await bench.store.read { $0.lastCommit }
        let running = Task { try await queue.run() }
        await bench.cloud.starts()
        let waiting = Task { try await queue.finish(through: commit) }
        while !queue.state.withLock({ $0.waiters.isWaitedFor }) { await Task.yield() }
        running.cancel()
        await #expect(throws: QueueError.stopped) { try await waiting.value }
        _ = await running.result
        try bench.store.close()
    }

    @Test func `an operation of another queue's pipeline does not say that it is about to start`()
        async throws
    {
        let bench = try Workbench()
        let queue = try bench.queue()
        _ = try bench.queue([bench.cloud.pipeline("other")])
        let id = try await bench.store.write {
            try $0.enqueue(Upload(name: "x"), Placement(pipeline: "other"))
        }
        #expect(try await queue.status(of: id) == .waiting([.otherPipeline("other")]))
        try bench.store.close()
    }

    @Test(.timeLimit(.minutes(Soak.minutesMax)))
    func `waiting for a commit waits for what its operations enqueue in it, too`() async throws {
        let bench = try Workbench()
        let (queue, cloud) = (try bench.queue(), bench.cloud)
        try await bench.enqueue("x")
        let commit = try await bench.store.read { $0.lastCommit }
        try await queue.running {
            let waiting = Task {
                try await queue.finish(through: commit)
                return cloud.started
            }
            while !queue.state.withLock({ $0.waiters.isWaitedFor }) { await Task.yield() }
            await cloud.starts()
            let completion = Outcome.completed { transaction in
                _ = try transaction.enqueue(Upload(name: "y"), Placement(commit: commit))
            }
            bench.cloud.answer("x", completion)
            await bench.cloud.starts()
            #expect(queue.state.withLock { $0.waiters.isWaitedFor })
            bench.cloud.answer("y")
            let started = try await waiting.value
            #expect(started == ["x", "y"])
        }
        try bench.store.close()
    }

    @Test func `a listener that is too slow is told what it has missed, also when nothing follows`()
        async throws
    {
        let bench = try Workbench()
        let queue = try bench.queue()
        let events = queue.events()
        try await bench.store.write { transaction in
            for number in 0..<(EventBuffer.countMax + 5) {
                try transaction.enqueue(Upload(name: "\(number)"))
            }
        }
        var (count, missed) = (0, 0)
        for await event in events {
            guard case .missed(let number) = event else {
                count += 1
                continue
            }
            missed = number
            break
        }
        #expect(count == EventBuffer.countMax && missed == 5)
        try bench.store.close()
    }

    @Test func `the events end with the queue, and with the task that reads them`() async throws {
        let bench = try Workbench()
        let cloud = bench.cloud
        let store = bench.store
        let ends = AsyncStream.makeStream(of: Void.self)
        do {
            let queue = try PushQueue(store, pipelines: [cloud.pipeline()])
            let events = queue.events()
            let cancelled = Task { for await _ in events {} }
            cancelled.cancel()
            await cancelled.value
            let rest = queue.events()
            Task {
                for await _ in rest {}
                ends.continuation.finish()
            }
        }
        for await _ in ends.stream {}
        try store.close()
    }
}
