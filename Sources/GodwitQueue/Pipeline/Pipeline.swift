internal import GRDB
public import GodwitStore

/// Runs the operations of one pipeline: commit by commit, dependencies first, a few at once.
///
/// ```swift
/// let pipeline = try Pipeline(store: store) { operation in
///     let upload = try operation.decoded(as: UploadContact.self)
///     try await cloud.put(upload.contact)
///     return .completed
/// }
/// try await pipeline.run()
/// ```
///
/// Cancelling the task that called ``run()`` stops the pipeline. What was running stays in the
/// store and runs again at the next launch: an executor's work must be safe to do twice.
public actor Pipeline {
    /// Performs one operation.
    ///
    /// What it throws, other than `CancellationError`, is a retry.
    public typealias Executor = @Sendable (QueuedOperation) async throws -> Outcome

    public static let defaultName = "default"

    public nonisolated let name: String
    private let store: Store
    private let backoff: Backoff
    private let clock: any Clock<Duration>
    private let execute: Executor

    // The schedule decides, the pipeline carries out. Between two awaits it takes the schedule
    // from one consistent state to the next, which makes the actor's reentrancy harmless.
    private var schedule: Schedule
    private var operations: [OperationID: QueuedOperation] = [:]
    private var lastLoaded: CommitNumber = .none
    private var watchers: [(commit: CommitNumber, continuation: CheckedContinuation<Void, Never>)] =
        []
    private let started = AsyncStream.makeStream(of: QueuedOperation.self)

    /// - Parameter maxConcurrent: How many operations run at once; 0 for any number.
    public init(
        store: Store,
        name: String = Pipeline.defaultName,
        maxConcurrent: Int = 8,
        backoff: Backoff = Backoff(),
        clock: any Clock<Duration> = ContinuousClock(),
        execute: @escaping Executor
    ) throws {
        try store.prepare(OperationTable.schema)
        self.store = store
        self.name = name
        self.backoff = backoff
        self.clock = clock
        self.execute = execute
        schedule = Schedule(limit: maxConcurrent)
    }

    /// Runs operations until the surrounding task is cancelled.
    ///
    /// - Precondition: Called once.
    /// - Throws: What the store throws when the operations cannot be read.
    public func run() async throws {
        let changes = store.changes()
        try await loadOperations()
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask {
                for await _ in changes { try await self.loadOperations() }
                await self.stop()
            }
            for await operation in started.stream {
                group.addTask { await self.perform(operation) }
            }
        }
    }

    /// Waits until no operation of this commit, or of an earlier one, is left.
    public func finish(through commit: CommitNumber) async {
        guard !isFinished(through: commit) else { return }
        await withCheckedContinuation { watchers.append((commit, $0)) }
    }
}

extension Pipeline {
    private func loadOperations() async throws {
        let (name, after) = (name, lastLoaded)
        let (loaded, last) = try await store.read { transaction in
            let rows = try OperationTable.operations(
                in: name,
                after: after,
                in: transaction.database
            )
            return (rows, transaction.lastCommit)
        }
        guard last > lastLoaded else { return notifyWatchers() }
        lastLoaded = last
        for operation in loaded { operations[operation.id] = operation }
        schedule.insert(
            loaded.map {
                Schedule.Item(
                    id: $0.id,
                    commit: $0.commit,
                    sequence: $0.sequence,
                    priority: $0.priority,
                    dependencies: $0.dependencies
                )
            }
        )
        startAll()
    }

    private func perform(_ operation: QueuedOperation) async {
        do {
            switch try await outcome(of: operation) {
            case .completed(let completion):
                try await complete(operation.id, completion)
                operations[operation.id] = nil
                schedule.finish(operation.id)
            case .retry(let delay, let reason):
                try await retry(operation, after: delay, reason: reason)
            }
            startAll()
        } catch is CancellationError {
            // The operation keeps its place, and is still in the store.
        } catch {
            await retryUnrecorded(operation, reason: "\(error)")
        }
    }

    private func outcome(of operation: QueuedOperation) async throws -> Outcome {
        do {
            return try await execute(operation)
        } catch let error as CancellationError {
            throw error
        } catch {
            return .retry(after: nil, reason: "\(error)")
        }
    }

    private func complete(
        _ id: OperationID,
        _ completion: @escaping Outcome.Completion
    ) async throws {
        try await store.write { transaction in
            try completion(transaction)
            try OperationTable.remove(id, in: transaction.database)
            transaction.touch()
        }
    }

    private func retry(
        _ operation: QueuedOperation,
        after delay: Duration?,
        reason: String
    ) async throws {
        let (id, attempts) = (operation.id, operation.attempts + 1)
        schedule.hold(id)
        startAll()
        operations[id] = operation.failed(reason: reason)
        // A store that cannot record the attempt now must not keep the operation from its next.
        try? await store.write { transaction in
            try OperationTable.recordFailure(of: id, reason: reason, in: transaction.database)
            transaction.touch()
        }
        try await clock.sleep(for: delay ?? backoff.delay(attempts: attempts))
        schedule.release(id)
    }

    /// The completion, or the store itself, failed: the attempt is remembered in memory only.
    private func retryUnrecorded(_ operation: QueuedOperation, reason: String) async {
        schedule.hold(operation.id)
        operations[operation.id] = operation.failed(reason: reason)
        startAll()
        do {
            try await clock.sleep(for: backoff.delay(attempts: operation.attempts + 1))
        } catch {
            return
        }
        schedule.release(operation.id)
        startAll()
    }

    private func startAll() {
        while let id = schedule.startNext(), let operation = operations[id] {
            started.continuation.yield(operation)
        }
        notifyWatchers()
    }

    private func notifyWatchers() {
        let done = watchers.filter { isFinished(through: $0.commit) }
        watchers.removeAll { isFinished(through: $0.commit) }
        for watcher in done { watcher.continuation.resume() }
    }

    private func isFinished(through commit: CommitNumber) -> Bool {
        lastLoaded >= commit && (schedule.firstUnfinished.map { $0 > commit } ?? true)
    }

    /// Nobody can commit any more; whoever waits is let go.
    private func stop() {
        started.continuation.finish()
        for watcher in watchers { watcher.continuation.resume() }
        watchers = []
    }
}

extension QueuedOperation {
    fileprivate func failed(reason: String) -> QueuedOperation {
        QueuedOperation(
            id: id,
            commit: commit,
            pipeline: pipeline,
            kind: kind,
            dependencies: dependencies,
            priority: priority,
            attempts: attempts + 1,
            lastError: reason,
            sequence: sequence,
            body: body
        )
    }
}
