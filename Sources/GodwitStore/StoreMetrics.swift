internal import Metrics

/// What a store tells the app's metrics system (swift-metrics); labels begin with `godwit.store`.
struct StoreMetrics: Sendable {
    private let depth = Recorder(label: "godwit.store.queue.depth", aggregate: false)
    private let requests = Recorder(label: "godwit.store.group.requests")
    private let objects = Recorder(label: "godwit.store.group.objects")
    private let duration = Metrics.Timer(label: "godwit.store.group.duration")
    private let commits = Counter(label: "godwit.store.commits")
    private let failures = Counter(label: "godwit.store.failures")

    func queueDepth(_ count: Int) { depth.record(count) }

    func group(_ group: WriteGroup, took duration: Duration) {
        requests.record(group.members.count)
        objects.record(group.size.objectCount)
        commits.increment(by: group.members.count { $0.changes != nil })
        self.duration.recordNanoseconds(Int64(duration / .nanoseconds(1)))
    }

    func failure() { failures.increment() }
}
