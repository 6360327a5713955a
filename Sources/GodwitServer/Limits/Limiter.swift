#if Server
internal import Synchronization

/// Counts what each principal uses of a server, and refuses what is beyond its limits.
final class Limiter: Sendable {
    fileprivate struct Usage {
        var bucket: RateBucket?
        var bytes = 0
        var streams = 0
    }

    fileprivate struct State {
        var usages: [Principal.Identity: Usage] = [:]
        var bytes = 0
        /// At how many principals the limiter looks for those that use nothing.
        var lookedAt = usageMin
    }

    fileprivate static let usageMin = 4_096

    private let limits: ServerLimits
    private let now: @Sendable () -> Duration
    private let state = Mutex(State())

    /// - Parameter now: The time since any moment.
    init(_ limits: ServerLimits, now: @escaping @Sendable () -> Duration) {
        (self.limits, self.now) = (limits, now)
    }

    convenience init(_ limits: ServerLimits) {
        let (clock, start) = (ContinuousClock(), ContinuousClock.now)
        self.init(limits, now: { start.duration(to: clock.now) })
    }

    /// How many principals the limiter knows.
    var usageCount: Int { state.withLock(\.usages.count) }

    /// Counts a request.
    func takeRequest(of principal: Principal.Identity) throws(LimitRefusal) {
        guard let rate = limits.requestRate else { return }
        let now = now()
        let wait: Duration? = state.withLock { state in
            state.forgetIdle(at: now)
            var usage = state.usages[principal, default: Usage()]
            var bucket =
                usage.bucket ?? RateBucket(rate: rate, size: limits.requestBurst, now: now)
            let wait = bucket.take(at: now)
            usage.bucket = bucket
            state.usages[principal] = usage
            return wait
        }
        if let wait { throw .tooManyRequests(retryAfter: wait) }
    }

    /// A request that has no bytes yet.
    func request(of principal: Principal.Identity) -> ByteLease {
        ByteLease(limiter: self, principal: principal)
    }

    fileprivate func takeBytes(
        _ count: Int,
        of principal: Principal.Identity
    ) throws(LimitRefusal) {
        let isTaken = state.withLock { state in
            let used = state.usages[principal]?.bytes ?? 0
            guard used + count <= limits.principalBytesMax, state.bytes + count <= limits.bytesMax
            else { return false }
            state.usages[principal, default: Usage()].bytes += count
            state.bytes += count
            return true
        }
        guard isTaken else { throw .tooManyBytes }
    }

    fileprivate func releaseBytes(_ count: Int, of principal: Principal.Identity) {
        state.withLock { state in
            state.bytes -= count
            state.release(principal) { $0.bytes -= count }
        }
    }

    /// Counts a stream of events until the lease is freed.
    func takeStream(of principal: Principal.Identity) throws(LimitRefusal) -> Lease {
        let isTaken = state.withLock { state in
            guard state.usages[principal]?.streams ?? 0 < limits.streamMax ?? .max else {
                return false
            }
            state.usages[principal, default: Usage()].streams += 1
            return true
        }
        guard isTaken else { throw .tooManyStreams }
        return Lease { [self] in
            state.withLock { state in state.release(principal) { $0.streams -= 1 } }
        }
    }
}

extension Limiter.State {
    /// Forgets principals that use nothing, at a constant cost for each request in the mean.
    fileprivate mutating func forgetIdle(at now: Duration) {
        guard usages.count >= lookedAt else { return }
        usages = usages.filter { !$1.isIdle(at: now) }
        lookedAt = max(Limiter.usageMin, 2 * usages.count)
    }

    fileprivate mutating func release(
        _ principal: Principal.Identity,
        _ body: (inout Limiter.Usage) -> Void
    ) {
        guard var usage = usages[principal] else { return }
        body(&usage)
        let isUnused = usage.bytes == 0 && usage.streams == 0 && usage.bucket == nil
        usages[principal] = isUnused ? nil : usage
    }
}

extension Limiter.Usage {
    fileprivate func isIdle(at now: Duration) -> Bool {
        bytes == 0 && streams == 0 && bucket?.isFull(at: now) ?? true
    }
}

/// The bytes of a request that have arrived, which count until the lease is freed.
///
/// What a client announces takes nothing: it may never send it.
final class ByteLease: Sendable {
    private let limiter: Limiter
    private let principal: Principal.Identity
    private let count = Atomic(0)

    fileprivate init(limiter: Limiter, principal: Principal.Identity) {
        (self.limiter, self.principal) = (limiter, principal)
    }

    deinit { limiter.releaseBytes(count.load(ordering: .relaxed), of: principal) }

    func take(_ more: Int) throws(LimitRefusal) {
        try limiter.takeBytes(more, of: principal)
        count.add(more, ordering: .relaxed)
    }
}

/// A part of a limit, which is given back when the lease is freed: also if the answer that holds it is never
/// sent.
final class Lease: Sendable {
    private let end: @Sendable () -> Void

    init(_ end: @escaping @Sendable () -> Void) { self.end = end }

    deinit { end() }
}
#endif
