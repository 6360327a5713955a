import GodwitQueue
import GodwitStore
import GodwitTestKit
import Synchronization
import Testing

/// A cloud that a test answers for by hand: each operation runs until the test says how it ends.
final class HandCloud: Sendable {
    private struct State {
        var answers: [String: Outcome] = [:]
        var waiting: [String: CheckedContinuation<Outcome, any Error>] = [:]
        var started: [String] = []
        var cancelled: [String] = []
        var runs: [String: QueuedOperation] = [:]
    }

    private let state = Mutex(State())
    private let starts = AsyncStream.makeStream(of: String.self)
    private let cancels = AsyncStream.makeStream(of: String.self)

    /// The names of all that were started, in order.
    var started: [String] { state.withLock { $0.started } }

    /// The operation as it was handed to the executor.
    func operation(_ name: String) -> QueuedOperation? { state.withLock { $0.runs[name] } }

    /// Waits until so many operations have been started since the last call.
    @discardableResult
    func starts(_ count: Int = 1) async -> Set<String> {
        var names: Set<String> = []
        guard count > 0 else { return names }
        for await name in starts.stream {
            names.insert(name)
            if names.count == count { break }
        }
        return names
    }

    /// Waits until a running operation is cancelled.
    func cancellation() async -> String? {
        for await name in cancels.stream { return name }
        return nil
    }

    /// Ends an operation that runs, or that will.
    func answer(_ name: String, _ outcome: Outcome = .completed) {
        let waiting = state.withLock { state in
            let waiting = state.waiting.removeValue(forKey: name)
            if waiting == nil { state.answers[name] = outcome }
            return waiting
        }
        waiting?.resume(returning: outcome)
    }

    func pipeline(
        _ name: String = Pipeline.defaultName,
        order: Pipeline.Order = .commit,
        maxConcurrent: Int = 8,
        previousNames: Set<String> = []
    ) -> Pipeline {
        var pipeline = Pipeline(name, order: order, maxConcurrent: maxConcurrent)
            .on(Upload.self) { upload, run in try await self.run(upload.name, run.operation) }
        pipeline.backoff = Backoff(delayMin: .seconds(1), jitter: { 0 })
        pipeline.previousNames = previousNames
        return pipeline
    }

    private func run(_ name: String, _ operation: QueuedOperation) async throws -> Outcome {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let answer = state.withLock { state in
                    state.started.append(name)
                    state.runs[name] = operation
                    let answer = state.answers.removeValue(forKey: name)
                    if answer == nil { state.waiting[name] = continuation }
                    return answer
                }
                if let answer { continuation.resume(returning: answer) }
                starts.continuation.yield(name)
                if Task.isCancelled { cancel(name) }
            }
        } onCancel: {
            cancel(name)
        }
    }

    private func cancel(_ name: String) {
        let waiting = state.withLock { $0.waiting.removeValue(forKey: name) }
        guard let waiting else { return }
        cancels.continuation.yield(name)
        waiting.resume(throwing: CancellationError())
    }
}

/// A store in memory, a clock moved by hand, a cloud answered by hand.
final class Workbench {
    let store: Store
    /// A queue is there as long as somebody holds it.
    private(set) var queues: [PushQueue] = []
    let clock = ManualClock()
    let cloud = HandCloud()

    init(_ location: Store.Location = .memory) throws { store = try Store(location) }

    func queue(
        order: Pipeline.Order = .commit,
        maxConcurrent: Int = 8
    ) throws -> PushQueue {
        try queue([cloud.pipeline(order: order, maxConcurrent: maxConcurrent)])
    }

    func queue(_ pipelines: [Pipeline]) throws -> PushQueue {
        let queue = try PushQueue(store, clock: clock, pipelines: pipelines)
        queues.append(queue)
        return queue
    }

    /// Enqueues operations of these names in one commit, each after those named before it.
    @discardableResult
    func enqueue(
        _ names: String...,
        placement: Placement = Placement()
    ) async throws -> [OperationID] {
        try await store.write { transaction in
            try names.map { try transaction.enqueue(Upload(name: $0), placement) }
        }
    }

    func operation(_ id: OperationID) async throws -> QueuedOperation {
        let found = try await store.read { try $0.operation(id) }
        return try #require(found)
    }

    func first() async throws -> QueuedOperation {
        let found = try await store.read { try $0.operations().first }
        return try #require(found)
    }

    func last() async throws -> QueuedOperation {
        let found = try await store.read { try $0.operations().last }
        return try #require(found)
    }

    func names(in pipeline: String? = nil) async throws -> [String] {
        try await store.read { transaction in
            try transaction.operations(in: pipeline).map { try $0.decoded(as: Upload.self).name }
        }
    }

    /// Proves quiet at the end: nothing is left in any table of operations.
    func expectEmpty(_ comment: Comment? = nil) async throws {
        let left = try await store.read { transaction in
            try [
                "operation", "dependency", "hold", "attempt", "operation_object", "conflict",
                "effect", "attachment",
            ].filter { try transaction.rowCount(of: "godwit_\($0)") > 0 }
        }
        #expect(left == [], comment)
        try store.close()
    }
}

extension OperationStatus {
    var reasons: Set<WaitReason> {
        if case .waiting(let reasons) = self { reasons } else { [] }
    }
}
