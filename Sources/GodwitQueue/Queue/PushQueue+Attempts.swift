internal import Foundation
internal import GRDB
internal import GodwitStore
internal import GodwitTree
internal import Logging
internal import Synchronization

extension PushQueue {
    /// Marks operations as running, in one transaction, and runs them.
    func perform(_ numbers: [OperationNumber]) async {
        let epoch = state.withLock { $0.epoch }
        let claimed: [QueuedOperation]
        do {
            claimed = try await store.write { transaction in
                try transaction.start(numbers, epoch: epoch)
            }
        } catch QueueError.notTheRunner {
            return change { state, _ in state.loseLease() }
        } catch {
            return giveUp(numbers)
        }
        let missing = Set(numbers).subtracting(claimed.map(\.number))
        if !missing.isEmpty { giveUp(Array(missing)) }
        await withDiscardingTaskGroup { group in
            for operation in claimed { group.addTask { await self.perform(operation) } }
        }
    }

    private func perform(_ operation: QueuedOperation) async {
        let run = OperationRun(operation) { [weak self] fraction in
            self?.change { state, _ in state.progressed(operation.number, to: fraction) }
        }
        guard let outcome = await outcome(of: run) else {
            postponeUnlessCancelled(operation)
            return await putBack(operation)
        }
        do {
            try await record(outcome, of: run)
        } catch {
            await recordFailure(of: run, reason: Self.reason(of: error))
        }
    }

    /// What the executor answers; nil when it was cancelled.
    private func outcome(of run: OperationRun) async -> Outcome? {
        let operation = run.operation
        guard let pipeline = pipelines.first(where: { $0.name == operation.pipeline }),
            let executor = pipeline.executor(of: operation.kind)
        else { return .unreadable(reason: "nobody runs operations of kind '\(operation.kind)'") }
        let around = options.around
        let task = Task(executorPreference: options.taskExecutor) {
            try await around(run) { try await executor(run) }
        }
        let start = now.elapsed
        defer { metrics.attempted(now.elapsed - start) }
        change { state, _ in
            state.started(operation.number, CancellableRun { task.cancel() })
        }
        do {
            return try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                task.cancel()
            }
        } catch is CancellationError {
            return nil
        } catch let error as UnreadableOperation {
            return .unreadable(reason: error.reason)
        } catch {
            return .retry(reason: Self.reason(of: error))
        }
    }

    func record(_ outcome: Outcome, of run: OperationRun) async throws {
        let number = run.operation.number
        switch outcome {
        case .completed(let completion):
            // Before the operation is gone, and its host with it.
            change { state, _ in state.succeeded(number) }
            try await settle { transaction in
                guard try transaction.isRunning(run.operation) else { return }
                try completion(transaction)
                try transaction.finish(number, .completed)
            }
        case .retry(let asked, let slowDown, let reason):
            let delay = asked.map { min(max($0, .zero), Outcome.delayMax) }
            if slowDown { change { $0.throttled(number, for: delay, at: $1) } }
            try await retry(run, after: delay, reason: reason)
        case .conflict(let theirs, let tag, let reason):
            try await stop(run, theirs: theirs, tag: tag, reason: reason)
        case .refused(let reason):
            try await refuse(run, as: .refused, reason: reason)
        case .unreadable(let reason):
            try await refuse(run, as: .unreadable, reason: reason)
        case .skipped(let reason):
            try await settle { transaction in
                guard try transaction.isRunning(run.operation) else { return }
                try transaction.finish(number, .skipped(reason: reason))
            }
        case .suspendPipeline(let reason):
            let operation = run.operation
            try await settle { transaction in
                guard try transaction.isRunning(operation) else { return }
                try transaction.suspendPipeline(operation.pipeline, reason: reason)
                try transaction.putBack(number, of: operation.epoch)
            }
        }
    }

    private func retry(
        _ run: OperationRun,
        after delay: Duration?,
        reason: String
    ) async throws {
        let operation = run.operation
        let pipeline = pipeline(of: operation)
        let attempts = operation.attempts + 1
        if let max = pipeline.attemptsMax, attempts >= max {
            return try await refuse(run, as: .refused, reason: reason)
        }
        let delay = pipeline.delay(asked: delay, attempts: attempts)
        logger.debug("operation \(operation.number) is tried again after \(delay): \(reason)")
        let (recorded, now) = (run.recorded, now)
        try await settle { transaction in
            guard try transaction.isRunning(operation) else { return }
            try transaction.recordAttempt("retry", of: operation, recorded, reason, at: now)
            let verdict = OperationTable.Verdict(
                state: .waiting,
                attempts: attempts,
                mayHaveRun: true,
                reason: reason
            )
            try OperationTable.record(verdict, of: operation.number, in: transaction.database)
            try transaction.hold(operation.number, for: delay, at: now)
            try transaction.note(.requeued(operation.number))
            try transaction.releaseNextSuspect(after: operation)
        }
    }

    private func refuse(
        _ run: OperationRun,
        as state: QueuedOperation.State,
        reason: String
    ) async throws {
        let (operation, recorded, now) = (run.operation, run.recorded, now)
        try await settle { transaction in
            guard try transaction.isRunning(operation) else { return }
            try transaction.recordAttempt("refused", of: operation, recorded, reason, at: now)
            try transaction.refuse(operation.number, reason: reason, as: state)
        }
    }

    private func stop(
        _ run: OperationRun,
        theirs: Value?,
        tag: Tag?,
        reason: String
    ) async throws {
        let (operation, recorded, now) = (run.operation, run.recorded, now)
        let (pipeline, attempts) = (pipeline(of: operation), operation.attempts + 1)
        if let max = pipeline.attemptsMax, attempts >= max {
            return try await refuse(run, as: .refused, reason: reason)
        }
        // The first merge is pushed at once. A cloud that refuses that too may refuse any.
        let delay = attempts > 1 ? pipeline.delay(asked: nil, attempts: attempts - 1) : nil
        try await settle { transaction in
            guard try transaction.isRunning(operation) else { return }
            try transaction.recordAttempt("conflict", of: operation, recorded, reason, at: now)
            try transaction.stop(operation, theirs: theirs, tag: tag, reason: reason)
            guard let conflict = try transaction.conflict(of: operation.id),
                let decision = try pipeline.resolve(conflict),
                // What the app could not read again waits for a person.
                let resolution = try? transaction.typed(decision, of: conflict)
            else { return }
            if let delay { try transaction.hold(operation.number, for: delay, at: now) }
            try transaction.resolveConflict(of: operation.id, resolution)
        }
    }

    /// The completion's body has thrown, or the store could not write.
    private func recordFailure(of run: OperationRun, reason: String) async {
        do {
            try await retry(run, after: nil, reason: reason)
        } catch {
            giveUp([run.operation.number])
        }
    }

    /// An attempt that was cancelled is none: the operation waits as it did before.
    private func putBack(_ operation: QueuedOperation) async {
        let ticket = try? store.writeLater { transaction in
            guard try transaction.isRunning(operation) else { return }
            try transaction.putBack(operation.number, of: operation.epoch)
        }
        if (try? await ticket?.finish()) == nil { giveUp([operation.number]) }
    }

    /// An executor that gives up although nobody has cancelled it must not be asked again at once,
    /// and again.
    private func postponeUnlessCancelled(_ operation: QueuedOperation) {
        guard !Task.isCancelled else { return }
        let delay = pipeline(of: operation).backoff.delay(attempts: 1)
        change { state, now in state.postpone(operation.number, for: delay, at: now) }
    }

    /// Nothing can be written down: the operations are tried again after a while.
    private func giveUp(_ numbers: [OperationNumber]) {
        change { state, now in
            for number in numbers {
                state.gaveUp(number, retryAfter: Self.storeRetryDelay, at: now)
            }
        }
    }

    /// Writes down what is known, also when the task is cancelled meanwhile: to forget it would be
    /// to do it again.
    private func settle(
        _ body: @escaping @Sendable (borrowing WriteTransaction) throws -> Void
    ) async throws {
        _ = try await store.writeLater(.durable, body).finish()
    }

    /// What an error says to people; some say it only when they are asked for a description.
    private static func reason(of error: any Error) -> String {
        let isFoundations = error is any CustomNSError || type(of: error) is NSError.Type
        return isFoundations || error is any LocalizedError
            ? error.localizedDescription : "\(error)"
    }

    static let storeRetryDelay = Duration.seconds(1)

    func pipeline(of operation: QueuedOperation) -> Pipeline {
        pipelines.first { $0.name == operation.pipeline } ?? Pipeline()
    }
}
