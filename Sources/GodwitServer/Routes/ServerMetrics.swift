#if Server
internal import Metrics
internal import Synchronization

/// What the server counts of its requests.
final class ServerMetrics: Sendable {
    private struct Answered: Hashable {
        let route: String
        let status: Int
    }

    private let factory: any MetricsFactory
    private let requests = Mutex<[Answered: Counter]>([:])
    private let durations: [ServerRoute: Metrics.Timer]
    private let streams: Meter

    init(_ factory: any MetricsFactory) {
        self.factory = factory
        durations = Dictionary(
            uniqueKeysWithValues: ServerRoute.allCases.map { route in
                let dimensions = [("route", "\(route)")]
                let label = "godwit.server.request"
                return (
                    route, Metrics.Timer(label: label, dimensions: dimensions, factory: factory)
                )
            }
        )
        streams = Meter(label: "godwit.server.streams", factory: factory)
        streams.set(0)
    }

    /// Counts a request with the status of its answer.
    func count(_ route: ServerRoute?, status: Int, duration: Duration) {
        let answered = Answered(route: route.map { "\($0)" } ?? "unknown", status: status)
        let counter = requests.withLock { requests in
            if let known = requests[answered] { return known }
            let dimensions = [("route", answered.route), ("status", "\(status)")]
            let new = Counter(
                label: "godwit.server.requests",
                dimensions: dimensions,
                factory: factory
            )
            requests[answered] = new
            return new
        }
        counter.increment()
        if let route { durations[route]?.recordNanoseconds(Int64(duration / .nanoseconds(1))) }
    }

    /// Counts a stream of events until the lease is freed.
    func stream() -> Lease {
        streams.increment()
        return Lease { [streams] in streams.decrement() }
    }
}
#endif
