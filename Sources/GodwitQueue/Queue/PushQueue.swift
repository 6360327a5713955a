public import GodwitStore
internal import GodwitTree
internal import Logging
internal import Synchronization

/// Runs the operations of some pipelines: recorded with the objects they push, done later, in
/// order, against any cloud.
///
/// ```swift
/// let queue = try PushQueue(store, pipelines: [
///     Pipeline().on(UploadContact.self) { upload, run in
///         try await cloud.put(upload.contact)
///         return .completed
///     }
/// ])
/// try await queue.run()
/// ```
///
/// Operations are enqueued in any write transaction of the store. Cancelling the task that called
/// ``run()`` stops the queue: what was running stays in the store and runs again later. An
/// executor's work must be safe to do twice, for a crash may come between the work and the
/// moment it is written down; ``QueuedOperation/idempotencyKey`` is there for that.
public final class PushQueue: Sendable {
    public let store: Store
    public let pipelines: [Pipeline]
    let options: Options
    let stopwatch: Stopwatch
    let journal: QueueJournal
    let state: Mutex<QueueState>
    let metrics: QueueMetrics

    /// - Throws: ``QueueError/pipelineExists(_:)``, or what the store throws.
    public init(_ store: Store, options: Options = Options(), pipelines: [Pipeline]) throws {
        try store.prepare(QueueSchema.schema)
        let journal = store.attachment { QueueJournal($0) }
        // Before all properties are set: `deinit` would take back another queue's pipelines.
        try journal.add(pipelines)
        // It knows which operations are in the order of commits.
        store.attachment { _ in FootprintJournal() }.forget()
        self.journal = journal
        self.store = store
        self.pipelines = pipelines
        self.options = options
        stopwatch = Stopwatch(options.clock)
        state = Mutex(
            QueueState(
                pipelines,
                isShared: store.options.processes == .several,
                rateLimit: options.rateLimit
            )
        )
        metrics = QueueMetrics(options.metrics)
        journal.remember(options.fatesMax)
        journal.addListener(
            self,
            transfers: { [weak self] in self?.markedTransfers ?? MarkedTransfers() },
            { [weak self] in self?.take($0) }
        )
        store.setNeighbourListener(of: self) { [weak self] commits in
            self?.change { state, _ in state.fellBehind(commits) }
        }
    }

    deinit {
        store.setNeighbourListener(of: self, nil)
        journal.remove(pipelines)
        store.attachment { _ in FootprintJournal() }.forget()
        journal.removeListener(self)
        state.withLock { $0.events.end() }
    }

    var logger: Logger { options.logger }

    private var markedTransfers: MarkedTransfers { state.withLock(\.attempts.marked) }

    var now: Moment {
        Moment(
            elapsed: stopwatch.elapsed(),
            calendar: store.options.clock.millisecondsSince1970()
        )
    }
}

extension PushQueue {
    /// Takes in what was committed, and does what follows from it.
    private func take(_ entries: [QueueJournal.Entry]?) {
        change { state, now in
            guard let entries else { return state.lostTrack() }
            for entry in entries { state.take(entry, at: now) }
        }
        for change in entries?.flatMap(\.changes) ?? [] {
            metrics.count(change)
            if case .stopped(let number, let state) = change {
                logger.warning("\(Self.notice(number, state))")
            }
        }
        metrics.stands(summary)
    }

    private static func notice(_ number: OperationNumber, _ state: QueuedOperation.State) -> String
    {
        state.isDeadLetter
            ? "operation \(number) is a dead letter: retry, edit or skip it"
            : "operation \(number) is in conflict: resolve it"
    }

    /// Changes the state, then starts what may start, and tells who wants to know.
    func change(_ body: (inout QueueState, Moment) -> Void) {
        let now = now
        let effects = state.withLock { state in
            body(&state, now)
            return state.takeEffects(at: now)
        }
        if effects.mustStop { effects.work?.yield(.stop) }
        if effects.needsLoading { effects.work?.yield(.load) }
        if !effects.starts.isEmpty { effects.work?.yield(.start(effects.starts)) }
        if let delay = effects.delay { effects.work?.yield(.wake(after: delay)) }
        for task in effects.cancelled { task.cancel() }
        for wake in effects.wakes { wake() }
    }
}

/// How long something has gone on, by any clock.
struct Stopwatch: Sendable {
    let elapsed: @Sendable () -> Duration

    init(_ clock: some Clock<Duration>) {
        let start = clock.now
        elapsed = { start.duration(to: clock.now) }
    }
}
