internal import Foundation
internal import GRDB
internal import GodwitStore
internal import GodwitTree
internal import Synchronization

extension PushQueue {
    /// Runs operations until the surrounding task is cancelled, or the store is closed.
    ///
    /// - Precondition: One at a time.
    /// - Throws: `CancellationError`; what the store throws when the operations cannot be read.
    public func run() async throws {
        let epoch = try await takeOver()
        try await load()
        let work = AsyncStream.makeStream(of: Work.self)
        change { state, _ in state.began(epoch: epoch, work.continuation) }
        defer { change { state, _ in state.ended() } }
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { await self.followConditions() }
            group.addTask {
                for await _ in self.store.changes() {}
                self.change { state, _ in state.stopWaiting() }
                throw CancellationError()
            }
            for await work in work.stream {
                switch work {
                case .start(let numbers): group.addTask { await self.perform(numbers) }
                case .sleep(let delay): group.addTask { await self.wake(after: delay) }
                }
            }
            try Task.checkCancellation()
        }
    }

    /// Becomes the one launch whose answers count, and takes back what the last one has left
    /// running.
    private func takeOver() async throws -> Int64 {
        let (pipelines, journal, owner) = (pipelines, journal, journal.launch)
        let calendar = now.calendar
        let epoch = try await store.write { transaction in
            let database = transaction.database
            let last = try RunnerTable.row(in: database)
            let isSame = last?.owner == String(owner, radix: 16)
            let epoch = (last?.epoch ?? 0) + (isSame ? 0 : 1)
            let row = RunnerTable.Row(
                owner: String(owner, radix: 16),
                epoch: epoch,
                until: calendar
            )
            try RunnerTable.set(row, in: database)
            try PipelineSetup.apply(pipelines, isKnown: journal.isRegistered, in: database)
            if !isSame { try transaction.recoverInterrupted(pipelines, at: calendar) }
            try transaction.reviveReadable(pipelines)
            try transaction.journal().update(in: transaction) { _ in }
            return epoch
        }
        journal.stored(pipelines)
        return epoch
    }

    /// Reads all operations.
    func load() async throws {
        let loading = state.withLock { $0.beginLoading() }
        do {
            let commit = try await store.read { [self] transaction in
                let now = now
                try LoadedQueue.read(transaction.database) { piece in
                    state.withLock { $0.load(piece, loading, at: now) }
                }
                return transaction.lastCommit
            }
            change { state, now in state.endLoading(loading, through: commit, at: now) }
        } catch {
            change { state, _ in state.failLoading(loading) }
            throw error
        }
    }

    /// Reads all operations unless they are known, or somebody is just reading them.
    func loadIfNeeded() async throws {
        while !state.withLock(\.isLoaded) {
            let isLoading = await withCheckedContinuation { continuation in
                let isLoading = state.withLock { state in
                    state.waitForLoading { continuation.resume(returning: true) }
                }
                if !isLoading { continuation.resume(returning: false) }
            }
            if !isLoading { try await load() }
        }
    }

    private func followConditions() async {
        for await conditions in options.monitor.conditions() {
            change { state, _ in state.control { machine, _ in machine.setConditions(conditions) } }
        }
    }

    private func wake(after delay: Duration) async {
        guard (try? await options.clock.sleep(for: delay)) != nil else { return }
        change { _, _ in }
    }
}

// MARK: - Attempts

extension PushQueue {
    /// Marks operations as running, in one transaction, and runs them.
    private func perform(_ numbers: [OperationNumber]) async {
        let epoch = state.withLock { $0.epoch }
        let claimed: [QueuedOperation]
        do {
            claimed = try await store.write { transaction in
                try transaction.start(numbers, epoch: epoch)
            }
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
        guard let outcome = await outcome(of: run) else { return await putBack(operation) }
        do {
            try await record(outcome, of: run)
        } catch is CancellationError {
            await putBack(operation)
        } catch {
            await recordFailure(of: run, reason: "\(error)")
        }
    }

    /// What the executor answers; nil when it was cancelled.
    private func outcome(of run: OperationRun) async -> Outcome? {
        let operation = run.operation
        guard let pipeline = pipelines.first(where: { $0.name == operation.pipeline }),
            let executor = pipeline.executor(of: operation.kind)
        else { return .unreadable(reason: "nobody runs operations of kind '\(operation.kind)'") }
        let task = Task { try await executor(run) }
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
            return .retry(reason: "\(error)")
        }
    }

    private func record(_ outcome: Outcome, of run: OperationRun) async throws {
        let number = run.operation.number
        switch outcome {
        case .completed(let completion):
            try await store.write { transaction in
                guard try transaction.isRunning(run.operation) else { return }
                try completion(transaction)
                try transaction.finish(number, .completed)
            }
            change { state, _ in state.succeeded(number) }
        case .retry(let delay, let slowDown, let reason):
            if slowDown { change { $0.throttled(number, for: delay, at: $1) } }
            try await retry(run, after: delay, reason: reason)
        case .conflict(let theirs, let tag, let reason):
            try await stop(run, theirs: theirs, tag: tag, reason: reason)
        case .refused(let reason):
            try await refuse(run, as: .refused, reason: reason)
        case .unreadable(let reason):
            try await refuse(run, as: .unreadable, reason: reason)
        case .skipped(let reason):
            try await store.write { transaction in
                guard try transaction.isRunning(run.operation) else { return }
                try transaction.finish(number, .skipped(reason: reason))
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
        let delay = delay ?? pipeline.backoff.delay(attempts: attempts)
        let (recorded, now) = (run.recorded, now)
        try await store.write { transaction in
            guard try transaction.isRunning(operation) else { return }
            try transaction.recordAttempt("retry", of: operation, recorded, reason, at: now)
            let verdict = OperationTable.Verdict(
                state: .waiting,
                attempts: attempts,
                mayHaveRun: true,
                reason: reason
            )
            try OperationTable.record(verdict, of: operation.number, in: transaction.database)
            let milliseconds = Int64(delay / .milliseconds(1))
            try transaction.hold(
                HoldTable.Row(
                    operation: operation.number,
                    context: HoldTable.retryContext,
                    until: now.calendar + milliseconds,
                    delay: milliseconds
                )
            )
            try transaction.note(.requeued(operation.number))
        }
    }

    private func refuse(
        _ run: OperationRun,
        as state: QueuedOperation.State,
        reason: String
    ) async throws {
        let (operation, recorded, now) = (run.operation, run.recorded, now)
        try await store.write { transaction in
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
        let resolve = pipeline(of: operation).resolve
        try await store.write { transaction in
            guard try transaction.isRunning(operation) else { return }
            try transaction.recordAttempt("conflict", of: operation, recorded, reason, at: now)
            try transaction.stop(operation, theirs: theirs, tag: tag, reason: reason)
            let conflict = try transaction.conflict(of: operation.id)
            if let conflict, let resolution = try resolve(conflict) {
                try transaction.resolveConflict(of: operation.id, resolution)
            }
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
            let verdict = OperationTable.Verdict(
                state: .waiting,
                attempts: operation.attempts,
                mayHaveRun: true,
                reason: operation.reason
            )
            try OperationTable.record(verdict, of: operation.number, in: transaction.database)
            try transaction.note(.requeued(operation.number))
        }
        if (try? await ticket?.finish()) == nil { giveUp([operation.number]) }
    }

    /// Nothing can be written down: the operations are tried again after a while.
    private func giveUp(_ numbers: [OperationNumber]) {
        change { state, now in
            for number in numbers {
                state.gaveUp(number, retryAfter: Self.storeRetryDelay, at: now)
            }
        }
    }

    private static let storeRetryDelay = Duration.seconds(1)

    func pipeline(of operation: QueuedOperation) -> Pipeline {
        pipelines.first { $0.name == operation.pipeline } ?? Pipeline()
    }
}
