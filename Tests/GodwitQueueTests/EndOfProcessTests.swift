import Foundation
import GodwitQueue
import GodwitStore
import GodwitTestKit
import GodwitTree
import Synchronization
import Testing

/// Q1: a process ends at any instant, and the work is done once.
@Suite struct EndOfProcessTests {
    // Q1 with real processes: PushKillTests. In all orders of events: QueueSimulationTests.
    @Test(arguments: EndOfProcess.allCases)
    private func `Q1: whenever the process ends, the work is done once`(
        end: EndOfProcess
    )
        async throws
    {
        let folder = try TemporaryFolder()
        let path = folder.path("store.sqlite")
        let cloud = KeyCloud()
        let first = try Workbench(.file(path))
        let store = first.store
        var pipeline = Pipeline().on(Upload.self) { upload, run in
            if end == .beforeSending { try store.close() }
            cloud.put(upload.name, run.operation.idempotencyKey)
            if end == .afterSending { throw CancellationError() }
            if end == .afterTheAnswer { try store.close() }
            return .completed { _ in if end == .withinTheRecord { throw CancellationError() } }
        }
        pipeline.backoff = Backoff(delayMin: .zero, delayMax: .zero)
        let queue = try first.queue([pipeline])
        let id = try await first.enqueue("a")[0]
        let running = Task { try await queue.run() }
        if end == .afterTheRecord { _ = try await queue.result(of: id) }
        if end == .afterSending || end == .withinTheRecord { await cloud.done() }
        running.cancel()
        _ = await running.result
        try first.store.close()

        let second = try Workbench(.file(path))
        let again = try second.queue([
            Pipeline().on(Upload.self) { upload, run in
                cloud.put(upload.name, run.operation.idempotencyKey)
                return .completed
            }
        ])
        try await again.running {
            let fate = try await again.result(of: id)
            #expect(fate == .completed)
        }
        #expect(cloud.log == ["a"])
        try await second.expectEmpty()
    }

    fileprivate enum EndOfProcess: CaseIterable {
        case beforeSending, afterSending, afterTheAnswer, withinTheRecord, afterTheRecord
    }

    @Test func `Q1: an answer that is known is written down although the queue is cancelled`()
        async throws
    {
        let bench = try Workbench()
        let queue = try bench.queue()
        let id = try await bench.enqueue("a")[0]
        let running = Task { try await queue.run() }
        await bench.cloud.starts()
        await bench.store.suspend()
        bench.cloud.answer("a", .completed { try $0.setTag(.int(1), for: "a") })
        while try await bench.store.statistics().queueDepth == 0 { await Task.yield() }
        running.cancel()
        bench.store.resume()
        _ = await running.result
        let (fate, tag) = try await bench.store.read { transaction in
            (try transaction.operation(id), try transaction.tag(for: "a"))
        }
        #expect(fate == nil && tag == .int(1))
    }
}

/// A cloud that knows idempotency keys.
private final class KeyCloud: Sendable {
    private let state = Mutex((keys: Set<String>(), log: [String]()))
    private let dones = AsyncStream.makeStream(of: Void.self)

    var log: [String] { state.withLock { $0.log } }

    func put(_ name: String, _ key: String) {
        state.withLock { state in
            if state.keys.insert(key).inserted { state.log.append(name) }
        }
        dones.continuation.yield()
    }

    func done() async { for await _ in dones.stream { break } }
}
