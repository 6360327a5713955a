#if Server
/// A token bucket: each request takes a token, and tokens come back at a steady rate.
struct RateBucket {
    /// How many tokens come back a second; more than zero.
    let rate: Double
    /// How many tokens there are at most.
    let size: Double
    private var tokens: Double
    private var refilled: Duration

    init(rate: Double, size: Int, now: Duration) {
        // Less than one token at most would let no request through.
        (self.rate, self.size) = (max(rate, 0.001), Double(max(size, 1)))
        (tokens, refilled) = (self.size, now)
    }

    /// Takes a token, or tells how long it takes until there is one.
    mutating func take(at now: Duration) -> Duration? {
        refill(at: now)
        guard tokens < 1 else {
            tokens -= 1
            return nil
        }
        return .seconds((1 - tokens) / rate)
    }

    /// Whether the principal has made no request for so long that nothing is known of it any more.
    func isFull(at now: Duration) -> Bool {
        var bucket = self
        bucket.refill(at: now)
        return bucket.tokens == size
    }

    private mutating func refill(at now: Duration) {
        // The clock of a test may stand still.
        guard now > refilled else { return }
        tokens = min(size, tokens + (now - refilled) / .seconds(1) * rate)
        refilled = now
    }
}
#endif
