/// How fast operations for one host may start.
///
/// A token bucket whose rate a host that asks for mercy halves, and each success raises again by
/// a fixed step (additive increase, multiplicative decrease: D.-M. Chiu and R. Jain, 1989).
public struct RateLimit: Hashable, Sendable {
    /// The most that a host gets; infinite unless the app knows better.
    public var perSecondMax: Double
    /// What a host gets however often it complains.
    public var perSecondMin: Double
    /// How many may start at once after a pause.
    public var burstMax: Double
    /// What each success adds to the rate.
    public var increase: Double

    public init(
        perSecondMax: Double = .infinity,
        perSecondMin: Double = 0.1,
        burstMax: Double = 8,
        increase: Double = 0.1
    ) {
        precondition(perSecondMin > 0 && perSecondMax >= perSecondMin && burstMax >= 1)
        self.perSecondMax = perSecondMax
        self.perSecondMin = perSecondMin
        self.burstMax = burstMax
        self.increase = increase
    }
}

/// One host's token bucket.
struct Governor {
    private let limit: RateLimit
    private(set) var perSecond: Double
    private var tokens: Double
    private var refilled: Duration
    private var pausedUntil: Duration = .zero
    private var lastDecrease: Duration?
    /// What was started in the current second and in the one before, to know an unlimited rate.
    private var seconds = (current: Int64(0), count: 0.0, before: 0.0)

    init(_ limit: RateLimit, now: Duration) {
        self.limit = limit
        perSecond = limit.perSecondMax
        tokens = limit.burstMax
        refilled = now
    }

    /// Whether a new governor would do the same.
    func isAtRest(at now: Duration) -> Bool {
        var later = self
        later.refill(at: now)
        return perSecond == limit.perSecondMax && now >= pausedUntil
            && (perSecond == .infinity || later.tokens >= limit.burstMax)
    }

    /// Whether an operation may start now.
    mutating func mayStart(at now: Duration) -> Bool {
        refill(at: now)
        return now >= pausedUntil && (tokens >= 1 || perSecond == .infinity)
    }

    /// When the next one may start.
    mutating func nextStart(after now: Duration) -> Duration {
        refill(at: now)
        guard perSecond < .infinity, tokens < 1 else { return max(now, pausedUntil) }
        // A hair more, so that rounding cannot leave the bucket a grain short of one.
        let filling = Duration.seconds((1 - tokens) / perSecond) + .microseconds(1)
        return max(now + filling, pausedUntil)
    }

    mutating func started(at now: Duration) {
        refill(at: now)
        if perSecond < .infinity { tokens = max(tokens - 1, 0) }
        count(at: now)
    }

    mutating func succeeded() {
        guard perSecond < limit.perSecondMax, lastDecrease != nil else { return }
        perSecond = min(perSecond + limit.increase, limit.perSecondMax)
    }

    /// The host asked for a slower pace, in its answer to an operation that was started then.
    ///
    /// What was in flight together counts as one complaint.
    mutating func throttled(startedAt start: Duration, until pause: Duration?, at now: Duration) {
        refill(at: now)
        if let pause { pausedUntil = max(pausedUntil, pause) }
        guard lastDecrease.map({ start >= $0 }) ?? true else { return }
        lastDecrease = now
        count(at: now, 0)
        let rate = perSecond == .infinity ? max(seconds.count, seconds.before) : perSecond
        perSecond = max(rate / 2, limit.perSecondMin)
        tokens = min(tokens, 1)
    }

    private mutating func refill(at now: Duration) {
        guard now > refilled else { return }
        if perSecond < .infinity {
            let seconds = (now - refilled) / .seconds(1)
            tokens = min(tokens + seconds * perSecond, limit.burstMax)
        }
        refilled = now
    }

    private mutating func count(at now: Duration, _ starts: Double = 1) {
        let second = now.components.seconds
        if second != seconds.current {
            seconds = (second, 0, second == seconds.current + 1 ? seconds.count : 0)
        }
        seconds.count += starts
    }
}
