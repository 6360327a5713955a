import GodwitQueue
import GodwitStore
import GodwitTestKit
import GodwitTree
import Synchronization
import Testing

/// Executors that do several operations at once.
@Suite struct BatchTests {
    struct Other: PushOperation {
        static let kind = "other"
    }

    /// What each call of the executor was given.
    private let calls = Log()
    private let store: Store

    init() throws { store = try Store(.memory) }

    private func queue(
        max: Int = 3,
        maxConcurrent: Int = 0,
        _ answer: @escaping @Sendable ([BatchItem<Upload>]) async throws -> [Outcome]
    ) throws -> PushQueue {
        let calls = calls
        var pipeline = Pipeline(order: .flat, maxConcurrent: maxConcurrent)
            .onBatch(of: Upload.self, max: max) { batch in
                calls.append(batch.map(\.work.name).joined())
                return try await answer(batch)
            }
            .on(Other.self) { _, _ in
                calls.append("other")
                return .completed
            }
        pipeline.backoff = Backoff(delayMin: .zero, delayMax: .zero)
        return try PushQueue(store, pipelines: [pipeline])
    }

    private func enqueue(_ names: String) async throws -> [OperationID] {
        try await store.write { transaction in
            try names.map { try transaction.enqueue(Upload(name: String($0))) }
        }
    }

    private func fates(_ ids: [OperationID], _ queue: PushQueue) async throws -> [OperationResult] {
        var fates: [OperationResult] = []
        for id in ids { fates.append(try await queue.result(of: id)) }
        return fates
    }

    @Test func `operations that start together are done together, and the rest after them`()
        async throws
    {
        let queue = try queue { $0.map { _ in .completed } }
        let ids = try await enqueue("abcdefgh")
        let other = try await store.write { try $0.enqueue(Other()) }
        try await queue.running {
            let done = try await fates(ids + [other], queue)
            #expect(done == Array(repeating: .completed, count: 9))
        }
        #expect(Set(calls.entries) == ["abc", "def", "gh", "other"])
    }

    @Test func `a batch has no more operations than may run at once`() async throws {
        let queue = try queue(max: 100, maxConcurrent: 2) { $0.map { _ in .completed } }
        let ids = try await enqueue("abcd")
        try await queue.running { _ = try await fates(ids, queue) }
        #expect(calls.entries == ["ab", "cd"])
    }

    @Test func `each operation has its own outcome, and all are recorded in one commit`()
        async throws
    {
        let tags = Store.Collection<String>("tags")
        let queue = try queue { batch in
            batch.map { item in
                switch item.work.name {
                case "a": .completed { try $0.set("1", for: "a", in: tags) }
                case "b": .refused(reason: "no")
                default: .skipped(reason: "not needed")
                }
            }
        }
        let ids = try await enqueue("abc")
        try await queue.running {
            let done = try await fates([ids[0], ids[2]], queue)
            #expect(done == [.completed, .skipped(reason: "not needed")])
            try await queue.statuses(of: ids[1]).reaches { $0 == .deadLetter }
        }
        let (commit, last) = try await store.read { transaction in
            (try transaction.commit(of: "a", in: tags), transaction.lastCommit)
        }
        #expect(commit == last, "the outcomes of the others are in no later commit")
    }

    @Test func `a completion that throws is retried alone, and the others are completed`()
        async throws
    {
        struct Failure: Error {}
        let tries = Mutex(0)
        let queue = try queue { batch in
            batch.map { item in
                guard item.work.name == "b" else { return .completed }
                let count = tries.withLock { tries in
                    tries += 1
                    return tries
                }
                return .completed { _ in if count == 1 { throw Failure() } }
            }
        }
        let ids = try await enqueue("abc")
        try await queue.running {
            let done = try await fates(ids, queue)
            #expect(done == Array(repeating: .completed, count: 3))
        }
        #expect(calls.entries == ["abc", "b"])
    }

    @Test(arguments: [0, 2, 4])
    func `an executor that answers for too few or too many is asked again`(
        count: Int
    ) async throws {
        let isFirst = Mutex(true)
        let queue = try queue { batch in
            let wasFirst = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            return Array(repeating: .completed, count: wasFirst ? count : batch.count)
        }
        let ids = try await enqueue("abc")
        try await queue.running {
            let done = try await fates(ids, queue)
            #expect(done == Array(repeating: .completed, count: 3))
        }
        #expect(calls.entries.count >= 2 && calls.entries[0] == "abc")
        let reasons = try await store.read { try $0.attempts(of: ids[0]).count }
        #expect(reasons == 0, "what is completed has no attempts")
    }

    @Test func `one that cannot be read is set aside, and the others are done`() async throws {
        struct Newer: PushOperation {
            static let kind = Upload.kind
            let title: String
        }
        let queue = try queue { $0.map { _ in .completed } }
        let (first, newer, last) = try await store.write { transaction in
            (
                try transaction.enqueue(Upload(name: "a")),
                try transaction.enqueue(Newer(title: "b")),
                try transaction.enqueue(Upload(name: "c"))
            )
        }
        try await queue.running {
            let done = try await fates([first, last], queue)
            #expect(done == [.completed, .completed])
            try await queue.statuses(of: newer).reaches { $0 == .deadLetter }
        }
        #expect(calls.entries == ["ac"])
        let state = try await store.read { try $0.operation(newer)?.state }
        #expect(state == .unreadable)
    }

    @Test func `a batch that is cancelled with the queue is no attempt`() async throws {
        let started = AsyncStream.makeStream(of: Void.self)
        let queue = try queue { batch in
            started.continuation.yield()
            for await _ in AsyncStream<Void>.makeStream().stream {}
            try Task.checkCancellation()
            return batch.map { _ in .completed }
        }
        let ids = try await enqueue("ab")
        try await queue.running { for await _ in started.stream { break } }
        let operations = try await store.read { transaction in
            try ids.map { try transaction.operation($0) }
        }
        #expect(operations.map { $0?.state } == [.waiting, .waiting])
        #expect(operations.map { $0?.attempts } == [0, 0])
    }

    @Test func `one that is skipped meanwhile does not end its batch`() async throws {
        let started = AsyncStream.makeStream(of: Void.self)
        let go = AsyncStream.makeStream(of: Void.self)
        let queue = try queue { batch in
            started.continuation.yield()
            for await _ in go.stream { break }
            return batch.map { _ in .completed }
        }
        let ids = try await enqueue("ab")
        try await queue.running {
            for await _ in started.stream { break }
            try await store.write { try $0.skipOperation(ids[0], reason: "no") }
            go.continuation.yield()
            let done = try await fates(ids, queue)
            #expect(done == [.skipped(reason: "no"), .completed])
        }
    }
}
