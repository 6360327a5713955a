public import Logging
public import Metrics

extension PushQueue {
    public struct Options: Sendable {
        /// What delays are measured with.
        public var clock: any Clock<Duration> = ContinuousClock()
        /// How fast each host may be asked.
        public var rateLimit: @Sendable (_ host: String) -> RateLimit = { _ in RateLimit() }
        /// What the device has; a server may say ``ConstantConditions``.
        public var monitor: any ConditionsMonitor = SystemConditions()
        /// How many of those that have left the queue are remembered.
        public var fatesMax = 10_000
        /// For how long a process that runs the queue may be silent before another one takes its
        /// place, where several share the store.
        public var lease: Duration = .seconds(15)
        public var leaseClock: LeaseClock = .system
        /// How often to look what other processes have done.
        public var lookInterval: Duration = .milliseconds(200)
        public var logger = Logger(label: "godwit.queue")
        /// Where the queue's metrics go; their labels begin with `godwit.queue`.
        public var metrics: any MetricsFactory = MetricsSystem.factory
        /// Runs around each attempt, to trace it for instance, but not around a batch.
        public var around: Wrapper = { _, attempt in try await attempt() }

        /// Does something before an attempt and after it; what it returns is the outcome.
        public typealias Wrapper =
            @Sendable (
                _ run: OperationRun,
                _ attempt: @Sendable () async throws -> Outcome
            ) async throws -> Outcome

        /// Runs the executors; nil for Swift's own threads.
        package var taskExecutor: (any TaskExecutor)?

        public init() {}
    }
}
