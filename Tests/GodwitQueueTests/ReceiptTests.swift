import GodwitQueue
import GodwitStore
import GodwitTestKit
import GodwitTree
import MetricsTestKit
import Synchronization
import Testing

/// What an app can learn about what it has enqueued.
@Suite struct ReceiptTests {
    private let things = Store.Collection<Int>("things")

    @Test func `a commit's receipt tells how its operations get on, until all have left`()
        async throws
    {
        let bench = try Workbench()
        let queue = try bench.queue(order: .flat)
        try await queue.running {
            let ticket = try bench.store.writeLater { transaction in
                try ["a", "b"].map { try transaction.enqueue(Upload(name: $0)) }
            }
            let (ids, commit) = try await (ticket.finish().value, ticket.finish().commit)
            var receipts = queue.receipts(of: try #require(commit)).makeAsyncIterator()
            await bench.cloud.starts(2)
            bench.cloud.answer("a")
            bench.cloud.answer("b", .refused(reason: "no"))
            var receipt = try #require(try await receipts.next())
            while receipt.deadLetters.isEmpty || receipt.finished.isEmpty {
                receipt = try #require(try await receipts.next())
            }
            #expect(receipt.finished == [ids[0]: .completed] && receipt.deadLetters == [ids[1]])
            #expect(!receipt.isFinished)
            try await bench.store.write { try $0.skipOperation(ids[1], reason: "after all") }
            receipt = try #require(try await receipts.next())
            #expect(receipt.isFinished)
            #expect(receipt.finished[ids[1]] == .skipped(reason: "after all"))
            #expect(try await receipts.next() == nil)
        }
    }

    @Test func `a receipt outlives the launch, and knows of merged operations`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("store.sqlite")
        let first = try Workbench(.file(path))
        _ = try first.queue()
        let write = ChangeThing(effect: .write("x"))
        _ = try await first.store.write { try $0.enqueue(write) }
        let ticket = try first.store.writeLater { try $0.enqueue(write) }
        let (id, commit) = try await (ticket.finish().value, ticket.finish().commit)
        try first.store.close()
        let second = try Store(.file(path))
        let merged = try #require(commit)
        let receipt = try await second.read { try $0.receipt(of: merged) }
        #expect(receipt.waiting == [id])
        try second.close()
    }

    @Test func `an object is in sync when nothing is left to push`() async throws {
        let bench = try Workbench()
        let queue = try bench.queue()
        let key = things.place("x")
        let things = things
        let edit: @Sendable (borrowing WriteTransaction) throws -> OperationID = { transaction in
            try transaction.set(1, for: "x", in: things)
            return try transaction.enqueue(Upload(name: "x", pushes: ["x"]))
        }
        #expect(try await bench.store.read { try $0.syncState(of: key) } == .synced)
        let id = try await bench.store.write(edit)
        #expect(try await bench.store.read { try $0.syncState(of: key) } == .pending([id]))
        try await queue.running {
            await bench.cloud.starts()
            bench.cloud.answer("x", .conflict(reason: "newer"))
            try await queue.statuses(of: id).reaches { $0 == .conflict }
            #expect(try await bench.store.read { try $0.syncState(of: key) } == .conflict(id))
            try await bench.store.write { try $0.resolveConflict(of: id, .retry) }
            await bench.cloud.starts()
            bench.cloud.answer("x", .refused(reason: "no"))
            try await queue.statuses(of: id).reaches { $0 == .deadLetter }
            #expect(try await bench.store.read { try $0.syncState(of: key) } == .deadLetter(id))
            try await bench.store.write { try $0.retryOperation(id) }
            await bench.cloud.starts()
            bench.cloud.answer("x")
            #expect(try await queue.result(of: id) == .completed)
        }
        #expect(try await bench.store.read { try $0.syncState(of: key) } == .synced)
    }

    @Test(.timeLimit(.minutes(Soak.minutesMax))) @MainActor
    func `a monitor shows the queue to a user interface`() async throws {
        let bench = try Workbench()
        let queue = try bench.queue()
        let monitor = QueueMonitor(queue)
        try await queue.running {
            let ids = try await bench.enqueue("a", "b")
            await bench.cloud.starts(2)
            try await queue.summaries().reaches { $0.running == 2 }
            while monitor.summary.running != 2 { await Task.yield() }
            #expect(monitor.summary.unfinished == 2 && monitor.summary.deadLetters == 0)
            bench.cloud.answer("a")
            #expect(try await queue.result(of: ids[0]) == .completed)
            while monitor.summary.running != 1 { await Task.yield() }
            #expect(monitor.summary.unfinished == 1 && monitor.summary.deadLetters == 0)
            bench.cloud.answer("b", .refused(reason: "no"))
            try await queue.statuses(of: ids[1]).reaches { $0 == .deadLetter }
            while monitor.summary.deadLetters != 1 { await Task.yield() }
            #expect(monitor.summary.unfinished == 1 && monitor.summary.running == 0)
        }
    }

    @Test func `a queue tells the app's metrics system what it does`() async throws {
        let metrics = TestMetrics()
        let bench = try Workbench()
        var options = PushQueue.Options()
        options.clock = bench.clock
        options.metrics = metrics
        let queue = try PushQueue(
            bench.store,
            options: options,
            pipelines: [bench.cloud.pipeline()]
        )
        try await queue.running {
            let ids = try await bench.enqueue("a", "b")
            await bench.cloud.starts(2)
            bench.cloud.answer("a")
            bench.cloud.answer("b", .refused(reason: "no"))
            _ = try await queue.result(of: ids[0])
            try await queue.statuses(of: ids[1]).reaches { $0 == .deadLetter }
        }
        #expect(try metrics.expectCounter("godwit.queue.enqueued").values.reduce(0, +) == 2)
        #expect(try metrics.expectCounter("godwit.queue.completed").values.reduce(0, +) == 1)
        #expect(try metrics.expectCounter("godwit.queue.dead_letters").values.reduce(0, +) == 1)
        #expect(try metrics.expectGauge("godwit.queue.pending").values.last == 1)
        #expect(try metrics.expectTimer("godwit.queue.attempt.duration").values.count == 2)
    }

    @Test func `a queue says why, down to what is waited for in the end`() async throws {
        let bench = try Workbench()
        let queue = try bench.queue(order: .flat)
        try await queue.running {
            let ids = try await bench.store.write { transaction in
                let first = try transaction.enqueue(Upload(name: "first"))
                let second = try transaction.enqueue(Upload(name: "second"), after: [first])
                try transaction.holdOperation(first, until: nil, context: "login")
                return [first, second]
            }
            let first = try await bench.operation(ids[0]).number
            let second = try await bench.operation(ids[1]).number
            let why = try await queue.why(ids[1])
            #expect(
                why == [
                    "\(second) waits for \(first)",
                    "\(first) is held by login until it is released",
                ]
            )
            try await bench.store.write { transaction in
                for id in ids { try transaction.skipOperation(id, reason: "enough") }
            }
            #expect(try await queue.why(ids[0]) == ["\(ids[0]) was skipped: enough"])
        }
    }

    @Test func `an attempt can be wrapped, to trace it`() async throws {
        let bench = try Workbench()
        let seen = Mutex<[String]>([])
        var options = PushQueue.Options()
        options.clock = bench.clock
        options.around = { run, attempt in
            seen.withLock { $0.append("begins \(run.operation.kind)") }
            defer { seen.withLock { $0.append("ends") } }
            return try await attempt()
        }
        let queue = try PushQueue(
            bench.store,
            options: options,
            pipelines: [bench.cloud.pipeline()]
        )
        try await queue.running {
            let ids = try await bench.enqueue("a")
            await bench.cloud.starts()
            bench.cloud.answer("a")
            #expect(try await queue.result(of: ids[0]) == .completed)
        }
        #expect(seen.withLock { $0 } == ["begins upload", "ends"])
    }

    @Test func `only the last ones of those that have left the queue are remembered`()
        async throws
    {
        let bench = try Workbench()
        _ = try bench.queue()
        for _ in 0..<12 {
            let ids = try await bench.store.write { transaction in
                try (0..<1_000).map { try transaction.enqueue(Upload(name: "\($0)")) }
            }
            try await bench.store.write { transaction in
                for id in ids { try transaction.completeOperation(id) }
            }
        }
        let count = try await bench.store.read { try $0.rowCount(of: "godwit_fate") }
        #expect(count >= 10_000 && count <= 11_000)
    }
}
