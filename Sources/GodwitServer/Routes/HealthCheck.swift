#if Server
/// Whether a store can be read and written to, tried once a second at most.
///
/// Requests in between get the same answer: a flood of them costs the disk one write a second.
actor HealthCheck {
    private let trial: @Sendable () async throws -> Void
    private let now: @Sendable () -> Duration
    private var newest: Task<Void, any Error>?
    /// When the newest trial has ended; nil while it runs.
    private var end: Duration?

    private static let validity = Duration.seconds(1)

    /// - Parameters:
    ///   - now: The time since any moment.
    ///   - trial: Reads and writes, and throws where that fails.
    init(
        now: @escaping @Sendable () -> Duration,
        trial: @escaping @Sendable () async throws -> Void
    ) {
        (self.now, self.trial) = (now, trial)
    }

    init(trial: @escaping @Sendable () async throws -> Void) {
        let (clock, start) = (ContinuousClock(), ContinuousClock.now)
        self.init(now: { start.duration(to: clock.now) }, trial: trial)
    }

    /// - Throws: What the newest trial has thrown.
    func run() async throws {
        if let newest, end.map({ now() - $0 < Self.validity }) ?? true {
            return try await newest.value
        }
        // A request that is cancelled takes no trial away from the others.
        let trial = Task { [trial] in try await trial() }
        (newest, end) = (trial, nil)
        defer { end = now() }
        try await trial.value
    }
}
#endif
