internal import Foundation
internal import GRDB
internal import GodwitStore
internal import GodwitTree
internal import Logging
internal import Synchronization

// What an executor has answered, written down. Each outcome is a part of a transaction, so that those
// of a batch are one; it does nothing for an attempt that does not count any more.

extension PushQueue {
    typealias Settlement = @Sendable (borrowing WriteTransaction) throws -> Void

    /// Writes down an outcome, or that this was not possible.
    func settle(_ outcome: Outcome, of run: OperationRun) async {
        await settle(settlement(of: outcome, of: run), of: run)
    }

    func settle(_ settlement: @escaping Settlement, of run: OperationRun) async {
        do {
            try await write(settlement)
        } catch {
            await recordFailure(of: run, reason: Self.reason(of: error))
        }
    }

    /// Writes down an outcome.
    ///
    /// - Throws: What the completion's body throws, or the store.
    func record(_ outcome: Outcome, of run: OperationRun) async throws {
        try await write(settlement(of: outcome, of: run))
    }

    /// The completion's body has thrown, or the store could not write.
    private func recordFailure(of run: OperationRun, reason: String) async {
        do {
            try await write(retry(run, after: nil, reason: reason))
        } catch {
            giveUp([run.operation.number])
        }
    }

    /// Writes down what is known, also when the task is cancelled meanwhile: to forget it would be
    /// to do it again.
    func write(_ settlement: @escaping Settlement) async throws {
        _ = try await store.submit(.durable, isAwaited: true, settlement).finish()
    }

    /// What an outcome means for the store; what it means for memory alone is done at once.
    func settlement(of outcome: Outcome, of run: OperationRun) -> Settlement {
        let operation = run.operation
        switch outcome {
        case .completed(let completion):
            change { $0.succeeded(operation.host, at: $1) }
            return ifRunning(operation) { transaction in
                try completion(transaction)
                try transaction.finish(operation.number, .completed)
            }
        case .retry(let asked, let slowDown, let reason):
            let delay = asked.map { min(max($0, .zero), Outcome.delayMax) }
            if slowDown { change { $0.throttled(operation, for: delay, at: $1) } }
            return retry(run, after: delay, reason: reason)
        case .conflict(let theirs, let tag, let reason):
            return stop(run, theirs: theirs, tag: tag, reason: reason)
        case .refused(let reason): return refuse(run, as: .deadLetter, reason: reason)
        case .unreadable(let reason): return refuse(run, as: .unreadable, reason: reason)
        case .skipped(let reason):
            return ifRunning(operation) { transaction in
                try transaction.finish(operation.number, .skipped(reason: reason))
            }
        case .suspendPipeline(let reason):
            // A request that was sent before the pipeline was resumed says nothing about now.
            let isOutdated = state.withLock {
                $0.suspensions.wasResumed(operation.pipeline, since: run.began)
            }
            return ifRunning(operation) { transaction in
                if !isOutdated {
                    try transaction.suspendPipeline(operation.pipeline, reason: reason)
                }
                try transaction.putBack(operation, mayHaveRun: operation.mayHaveRun)
            }
        }
    }
}

// MARK: - Outcomes

extension PushQueue {
    private func ifRunning(
        _ operation: QueuedOperation,
        _ body: @escaping Settlement
    ) -> Settlement {
        { transaction in
            guard try transaction.isRunning(operation) else { return }
            try body(transaction)
        }
    }

    private func retry(_ run: OperationRun, after delay: Duration?, reason: String) -> Settlement {
        let operation = run.operation
        let pipeline = pipeline(of: operation)
        let attempts = operation.attempts + 1
        if let max = pipeline.attemptsMax, attempts >= max {
            return refuse(run, as: .deadLetter, reason: reason)
        }
        let delay = pipeline.delay(asked: delay, attempts: attempts)
        logger.debug("operation \(operation.number) is tried again after \(delay): \(reason)")
        let (recorded, now) = (run.recorded, now)
        return ifRunning(operation) { transaction in
            try transaction.recordAttempt("retry", of: operation, recorded, reason, at: now)
            let verdict = OperationTable.Verdict(
                state: .waiting,
                attempts: attempts,
                mayHaveRun: true,
                reason: reason
            )
            try OperationTable.record(verdict, of: operation.number, in: transaction.connection)
            try transaction.hold(operation.number, for: delay, at: now)
            try transaction.note(.requeued(operation.number))
            try transaction.releaseNextSuspect(after: operation)
        }
    }

    private func refuse(
        _ run: OperationRun,
        as state: QueuedOperation.State,
        reason: String
    ) -> Settlement {
        let (operation, recorded, now) = (run.operation, run.recorded, now)
        return ifRunning(operation) { transaction in
            try transaction.recordAttempt("refused", of: operation, recorded, reason, at: now)
            try transaction.refuse(operation.number, reason: reason, as: state)
        }
    }

    private func stop(
        _ run: OperationRun,
        theirs: Value?,
        tag: CloudTag?,
        reason: String
    ) -> Settlement {
        let (operation, recorded, now) = (run.operation, run.recorded, now)
        let (pipeline, attempts) = (pipeline(of: operation), operation.attempts + 1)
        if let max = pipeline.attemptsMax, attempts >= max {
            return refuse(run, as: .deadLetter, reason: reason)
        }
        // The first merge is pushed at once. A cloud that refuses that too may refuse any.
        let delay = attempts > 1 ? pipeline.delay(asked: nil, attempts: attempts - 1) : nil
        return ifRunning(operation) { transaction in
            try transaction.recordAttempt("conflict", of: operation, recorded, reason, at: now)
            try transaction.stop(operation, theirs: theirs, tag: tag, reason: reason)
            guard let conflict = try transaction.conflict(of: operation.id),
                let decision = self.decision(about: conflict, by: pipeline),
                // What the app could not read again waits for a person.
                let resolution = try? transaction.typed(decision, of: conflict)
            else { return }
            if let delay { try transaction.hold(operation.number, for: delay, at: now) }
            try transaction.resolveConflict(of: operation.id, resolution)
        }
    }

    /// What the app decides about a conflict; one that its resolver cannot judge waits for a person.
    private func decision(
        about conflict: PushConflict,
        by pipeline: Pipeline
    ) -> PushConflict.Resolution? {
        do {
            return try pipeline.resolve(conflict)
        } catch {
            logger.warning(
                """
                the resolver of pipeline \(pipeline.name) failed, and operation \
                \(conflict.operation.number) waits: \(Self.reason(of: error))
                """
            )
            return nil
        }
    }

    func pipeline(of operation: QueuedOperation) -> Pipeline {
        pipelines.first { $0.name == operation.pipeline } ?? Pipeline()
    }

    /// What an error says to people; some say it only when they are asked for a description.
    static func reason(of error: any Error) -> String {
        let isFoundations = error is any CustomNSError || type(of: error) is NSError.Type
        return isFoundations || error is any LocalizedError
            ? error.localizedDescription : "\(error)"
    }
}
