internal import Foundation
internal import GRDB
internal import GodwitStore
internal import Logging
internal import Synchronization

extension PushQueue {
    /// Marks operations as running, in one transaction, and runs them.
    func perform(_ numbers: [OperationNumber]) async {
        let epoch = state.withLock { $0.epoch }
        let claimed: [QueuedOperation]
        do {
            claimed = try await store.write { [self] transaction in
                try transaction.start(numbers, epoch: epoch, lease: lease, at: now)
            }
        } catch QueueError.notTheRunner {
            return change { state, _ in state.loseLease() }
        } catch {
            return giveUp(numbers)
        }
        let missing = Set(numbers).subtracting(claimed.map(\.number))
        if !missing.isEmpty { giveUp(Array(missing)) }
        let (singles, batches) = shares(of: claimed)
        await withDiscardingTaskGroup { group in
            for operation in singles { group.addTask { await self.perform(operation) } }
            for batch in batches { group.addTask { await self.perform(batch) } }
        }
    }

    /// What is done by one call of an executor each.
    private func shares(
        of operations: [QueuedOperation]
    ) -> (singles: [QueuedOperation], batches: [Batch]) {
        var singles: [QueuedOperation] = []
        var batches: [Batch] = []
        var open: [String: Int] = [:]
        for operation in operations {
            guard case .batch(let max, let executor)? = executor(of: operation) else {
                singles.append(operation)
                continue
            }
            let name = "\(operation.pipeline) \(operation.kind)"
            if let index = open[name], batches[index].runs.count < max {
                batches[index].runs.append(run(of: operation))
            } else {
                open[name] = batches.count
                batches.append(Batch(executor: executor, runs: [run(of: operation)]))
            }
        }
        return (singles, batches)
    }

    private func executor(of operation: QueuedOperation) -> OperationExecutor? {
        pipelines.first { $0.name == operation.pipeline }?.executor(of: operation.kind)
    }

    private func run(of operation: QueuedOperation) -> OperationRun {
        OperationRun(operation, began: now.elapsed) { [weak self] fraction in
            self?.change { state, _ in state.progressed(operation.number, to: fraction) }
        }
    }
}

// MARK: - One operation

extension PushQueue {
    private func perform(_ operation: QueuedOperation) async {
        let run = run(of: operation)
        guard let outcome = await outcome(of: run) else {
            postponeUnlessCancelled(operation)
            return await putBack(operation)
        }
        await settle(outcome, of: run)
    }

    /// What the executor answers; nil when it was cancelled.
    private func outcome(of run: OperationRun) async -> Outcome? {
        let (operation, around) = (run.operation, options.around)
        guard case .single(let executor)? = executor(of: operation) else {
            return .unreadable(reason: "no executor runs operations of kind '\(operation.kind)'")
        }
        let task = Task(executorPreference: options.taskExecutor) {
            try await around(run) { try await executor(run) }
        }
        change { state, _ in
            state.started(operation.number, CancellableRun { task.cancel() })
        }
        do {
            return try await value(of: task)
        } catch is CancellationError {
            return nil
        } catch let error as UnreadableOperation {
            return .unreadable(reason: error.reason)
        } catch {
            return .retry(reason: Self.reason(of: error))
        }
    }

    /// What a task returns that is cancelled with this one.
    private func value<Result: Sendable>(of task: Task<Result, any Error>) async throws -> Result {
        let start = now.elapsed
        defer { metrics.attempted(now.elapsed - start) }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }
}

// MARK: - A batch

/// Operations that one call of an executor does together.
private struct Batch {
    let executor: @Sendable ([OperationRun]) async throws -> [Outcome]
    var runs: [OperationRun]
}

extension PushQueue {
    private func perform(_ batch: Batch) async {
        let runs = batch.runs
        guard let outcomes = await outcomes(of: batch) else {
            for run in runs { postponeUnlessCancelled(run.operation) }
            for run in runs { await putBack(run.operation) }
            return
        }
        let settlements = zip(outcomes, runs).map { settlement(of: $0, of: $1) }
        do {
            try await write { transaction in
                for settlement in settlements { try settlement(transaction) }
            }
        } catch {
            // One of them may be to blame: each by itself.
            for (settlement, run) in zip(settlements, runs) { await settle(settlement, of: run) }
        }
    }

    /// What the executor answers for each of them; nil when it was cancelled.
    private func outcomes(of batch: Batch) async -> [Outcome]? {
        let (executor, runs) = (batch.executor, batch.runs)
        let task = Task(executorPreference: options.taskExecutor) { try await executor(runs) }
        change { state, _ in
            // The others go on when one of them is skipped.
            for run in runs { state.started(run.operation.number, CancellableRun {}) }
        }
        do {
            return try await value(of: task)
        } catch is CancellationError {
            return nil
        } catch {
            return runs.map { _ in .retry(reason: Self.reason(of: error)) }
        }
    }
}

// MARK: - Attempts that are none

extension PushQueue {
    /// An attempt that was cancelled is none: the operation waits as it did before.
    private func putBack(_ operation: QueuedOperation) async {
        let ticket = try? store.writeLater { transaction in
            guard try transaction.isRunning(operation) else { return }
            try transaction.putBack(operation.number, of: operation.epoch)
        }
        if (try? await ticket?.finish()) == nil { giveUp([operation.number]) }
    }

    /// An executor that gives up although no task has cancelled it must not be asked again at once,
    /// and again.
    private func postponeUnlessCancelled(_ operation: QueuedOperation) {
        guard !Task.isCancelled else { return }
        let delay = pipeline(of: operation).backoff.delay(attempts: 1)
        change { state, now in state.postpone(operation.number, for: delay, at: now) }
    }

    /// Nothing can be written down: the operations are tried again after a while.
    func giveUp(_ numbers: [OperationNumber]) {
        change { state, now in
            for number in numbers {
                state.gaveUp(number, retryAfter: Self.storeRetryDelay, at: now)
            }
        }
    }

    static let storeRetryDelay = Duration.seconds(1)
}
