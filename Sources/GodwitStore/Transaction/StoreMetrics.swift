internal import Metrics

/// What a store tells the app's metrics system (swift-metrics); labels begin with `godwit.store`.
struct StoreMetrics: Sendable {
    private let queueDepth: Recorder
    private let groupRequests: Recorder
    private let groupObjects: Recorder
    private let groupDuration: Metrics.Timer
    private let commits: Counter
    private let failures: Counter
    private let scans: Counter
    private let walPages: Gauge
    private let cacheBytes: Gauge
    private let cacheHits: Gauge
    private let cacheMisses: Gauge
    private let viewBytes: Gauge

    init(_ factory: any MetricsFactory) {
        let label = { "godwit.store." + $0 }
        queueDepth = Recorder(label: label("queue.depth"), factory: factory)
        groupRequests = Recorder(label: label("group.requests"), factory: factory)
        groupObjects = Recorder(label: label("group.objects"), factory: factory)
        groupDuration = Metrics.Timer(label: label("group.duration"), factory: factory)
        commits = Counter(label: label("commits"), factory: factory)
        failures = Counter(label: label("failures"), factory: factory)
        scans = Counter(label: label("scans"), factory: factory)
        walPages = Gauge(label: label("wal.pages"), factory: factory)
        cacheBytes = Gauge(label: label("cache.bytes"), factory: factory)
        cacheHits = Gauge(label: label("cache.hits"), factory: factory)
        cacheMisses = Gauge(label: label("cache.misses"), factory: factory)
        viewBytes = Gauge(label: label("view.bytes"), factory: factory)
    }

    func waiting(_ count: Int) { queueDepth.record(count) }

    func finished(_ group: WriteGroup, took duration: Duration) {
        groupRequests.record(group.members.count)
        groupObjects.record(group.size.objectCount)
        commits.increment(by: group.members.count { $0.changes != nil })
        groupDuration.recordNanoseconds(Int64(duration / .nanoseconds(1)))
    }

    /// A group that was rolled back as a whole.
    func failed() { failures.increment() }

    /// A query that no index could answer.
    func scanned() { scans.increment() }

    /// What the store holds after a group.
    func stands(walPageCount: Int, cache: VersionCache.Counts) {
        walPages.record(walPageCount)
        cacheBytes.record(cache.cost)
        cacheHits.record(cache.hits)
        cacheMisses.record(cache.misses)
        viewBytes.record(cache.pastCost)
    }
}
