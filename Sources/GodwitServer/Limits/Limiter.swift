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
    }

    private let limits: ServerLimits
    private let now: @Sendable () -> Duration
    private let state = Mutex(State())

    /// Beyond so many principals, the limiter forgets those that use nothing.
    private static let usageMax = 4_096

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
            state.forgetIdle(beyond: Self.usageMax, at: now)
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

    /// Counts the bytes of a request until the lease is freed.
    func takeBytes(_ count: Int, of principal: Principal.Identity) throws(LimitRefusal) -> Lease {
        let isTaken = state.withLock { state in
            let used = state.usages[principal]?.bytes ?? 0
            guard used + count <= limits.principalBytesMax, state.bytes + count <= limits.bytesMax
            else { return false }
            state.usages[principal, default: Usage()].bytes += count
            state.bytes += count
            return true
        }
        guard isTaken else { throw .tooManyBytes }
        return Lease { [self] in
            state.withLock { state in
                state.bytes -= count
                state.release(principal) { $0.bytes -= count }
            }
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
    fileprivate mutating func forgetIdle(beyond countMax: Int, at now: Duration) {
        if usages.count >= countMax { usages = usages.filter { !$1.isIdle(at: now) } }
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

/// A part of a limit, which is given back when the lease is freed: also if the answer that holds it is never
/// sent.
final class Lease: Sendable {
    private let end: @Sendable () -> Void

    init(_ end: @escaping @Sendable () -> Void) { self.end = end }

    deinit { end() }
}
#endif
