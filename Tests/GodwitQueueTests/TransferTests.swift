import GodwitQueue
import GodwitStore
import GodwitTestKit
import GodwitTree
import Synchronization
import Testing

/// Transfers that go on while the app is not there.
@Suite struct TransferTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A launch that started an operation and ended before the cloud's answer.
    private func interrupted() async throws -> OperationID {
        let bench = try Workbench(.file(folder.path("store.sqlite")))
        let queue = try bench.queue()
        let id = try await bench.enqueue("a")[0]
        let running = Task { try await queue.run() }
        await bench.cloud.starts()
        // The process ends: nothing of what it still does is written.
        try bench.store.close()
        bench.cloud.answer("a")
        _ = await running.result
        return id
    }

    @Test
    func `C71: an operation that is marked active before the queue runs is not started again`()
        async throws
    {
        let id = try await interrupted()
        let bench = try Workbench(.file(folder.path("store.sqlite")))
        let queue = try bench.queue()
        try await queue.markActive(id)
        try await queue.running {
            let other = try await bench.enqueue("b")[0]
            #expect(try await queue.status(of: id) == .running(progress: nil))
            #expect(!(try await queue.status(of: other).reasons.isEmpty), "commit order holds")
            try await queue.report(0.5, of: id)
            #expect(try await queue.status(of: id) == .running(progress: 0.5))
            try await queue.finish(id, with: .completed)
            await bench.cloud.starts()
            bench.cloud.answer("b")
            #expect(try await queue.result(of: other) == .completed)
        }
        #expect(bench.cloud.started == ["b"])
        try await bench.expectEmpty()
    }

    @Test func `a transfer that ends before the queue runs is not started again`() async throws {
        let id = try await interrupted()
        let bench = try Workbench(.file(folder.path("store.sqlite")))
        let queue = try bench.queue()
        let isCancelled = Mutex(false)
        try await queue.markActive(id) { isCancelled.withLock { $0 = true } }
        try await queue.finish(id, with: .completed { try $0.setTag(.int(1), for: "a") })
        #expect(!isCancelled.withLock { $0 }, "it has ended by itself")
        try await queue.running {
            #expect(try await queue.result(of: id) == .completed)
            let next = try await bench.enqueue("next")[0]
            await bench.cloud.starts()
            bench.cloud.answer("next")
            #expect(try await queue.result(of: next) == .completed)
        }
        #expect(bench.cloud.started == ["next"])
        #expect(try await bench.store.read { try $0.tag(for: "a") } == .int(1))
        try await bench.expectEmpty()
    }

    @Test func `a transfer that fails while the queue begins to run is tried again`() async throws {
        for _ in 0..<20 {
            let id = try await interrupted()
            let bench = try Workbench(.file(folder.path("store.sqlite")))
            let queue = try bench.queue()
            try await queue.markActive(id)
            let gate = AsyncStream.makeStream(of: Void.self)
            let writer = Task { [store = bench.store] in
                // The end of the transfer and the beginning of the run come while this writes.
                try await store.write { transaction in
                    gate.continuation.finish()
                    for number in 0..<200 { try transaction.setTag(.int(1), for: "\(number)") }
                }
            }
            for await _ in gate.stream {}
            async let end: Void = queue.finish(id, with: .retry(after: .zero, reason: "cut"))
            try await queue.running {
                await bench.cloud.starts()
                bench.cloud.answer("a")
                let fate = try await queue.result(of: id)
                #expect(fate == .completed)
            }
            try await end
            try await writer.value
            try await bench.expectEmpty()
        }
    }

    @Test func `what nobody has marked active is not ended from outside`() async throws {
        let bench = try Workbench()
        let queue = try bench.queue()
        let id = try await bench.enqueue("a")[0]
        await #expect(throws: QueueError.wrongState(id, .waiting)) {
            try await queue.finish(id, with: .completed)
        }
    }

    @Test func `a transfer that failed is tried again by the executor`() async throws {
        let id = try await interrupted()
        let bench = try Workbench(.file(folder.path("store.sqlite")))
        let queue = try bench.queue()
        try await queue.markActive(id)
        try await queue.running {
            try await queue.finish(id, with: .retry(after: .zero, reason: "the network is gone"))
            await bench.cloud.starts()
            bench.cloud.answer("a")
            #expect(try await queue.result(of: id) == .completed)
        }
        try await bench.expectEmpty()
    }

    @Test func `a transfer whose operation is skipped is cancelled`() async throws {
        let id = try await interrupted()
        let bench = try Workbench(.file(folder.path("store.sqlite")))
        let queue = try bench.queue()
        let isCancelled = Mutex(false)
        try await queue.markActive(id) { isCancelled.withLock { $0 = true } }
        try await queue.running {
            try await bench.store.write { try $0.skipOperation(id) }
            #expect(try await queue.result(of: id) == .skipped(reason: nil))
        }
        #expect(isCancelled.withLock { $0 })
        try await bench.expectEmpty()
    }

    @Test func `an operation that is marked active while the queue runs is running`() async throws {
        let bench = try Workbench()
        let queue = try bench.queue()
        try await bench.store.write { try $0.suspendPipeline(reason: "no network") }
        let id = try await bench.enqueue("a")[0]
        try await queue.running {
            #expect(try await !queue.status(of: id).reasons.isEmpty)
            try await queue.markActive(id)
            #expect(try await queue.status(of: id) == .running(progress: nil))
            try await queue.finish(id, with: .completed)
        }
        try await bench.expectEmpty()
    }

    @Test func `C52: to mark an operation active that nobody knows is an error, and does no harm`()
        async throws
    {
        let bench = try Workbench()
        let queue = try bench.queue()
        let unknown = OperationID.number(7)
        await #expect(throws: QueueError.unknownOperation(unknown)) {
            try await queue.markActive(unknown)
        }
        try await queue.running {
            let id = try await bench.enqueue("a")[0]
            await bench.cloud.starts()
            bench.cloud.answer("a")
            #expect(try await queue.result(of: id) == .completed)
        }
        try await bench.expectEmpty()
    }

    @Test func `a transfer that one queue has marked is no interrupted attempt to another`()
        async throws
    {
        let id = try await interrupted()
        let bench = try Workbench(.file(folder.path("store.sqlite")))
        let queue = try bench.queue()
        let other = try bench.queue([bench.cloud.pipeline("other")])
        try await queue.markActive(id)
        try await other.running {
            let attempts = try await bench.store.read { try $0.attempts(of: id) }
            #expect(attempts.isEmpty)
            try await queue.running {
                #expect(try await queue.status(of: id) == .running(progress: nil))
                try await queue.finish(id, with: .completed)
            }
        }
        #expect(bench.cloud.started == [])
        try await bench.expectEmpty()
    }
}
