internal import GodwitStore
internal import Metrics

/// What a queue tells the app's metrics system (swift-metrics); labels begin with `godwit.queue`.
struct QueueMetrics: Sendable {
    private let enqueued: Counter
    private let completed: Counter
    private let skipped: Counter
    private let merged: Counter
    private let retried: Counter
    private let conflicts: Counter
    private let deadLetters: Counter
    private let pending: Gauge
    private let running: Gauge
    private let attemptDuration: Metrics.Timer

    init(_ factory: any MetricsFactory) {
        let counter = { Counter(label: "godwit.queue." + $0, factory: factory) }
        enqueued = counter("enqueued")
        completed = counter("completed")
        skipped = counter("skipped")
        merged = counter("merged")
        retried = counter("retried")
        conflicts = counter("conflicts")
        deadLetters = counter("dead_letters")
        pending = Gauge(label: "godwit.queue.pending", factory: factory)
        running = Gauge(label: "godwit.queue.running", factory: factory)
        attemptDuration = Metrics.Timer(label: "godwit.queue.attempt.duration", factory: factory)
    }

    func count(_ change: QueueChange) {
        switch change {
        case .enqueued: enqueued.increment()
        case .finished(_, _, .completed): completed.increment()
        case .finished(_, _, .skipped): skipped.increment()
        case .finished(_, _, .merged): merged.increment()
        case .requeued: retried.increment()
        case .stopped(_, .conflict): conflicts.increment()
        case .stopped: deadLetters.increment()
        case .started, .resumed, .reprioritized, .needsChanged, .held, .released, .suspended,
            .unsuspended, .reordered:
            break
        }
    }

    func stands(_ summary: QueueSummary) {
        pending.record(summary.unfinished)
        running.record(summary.running)
    }

    func attempted(_ duration: Duration) {
        attemptDuration.recordNanoseconds(Int64(duration / .nanoseconds(1)))
    }
}
