public import Foundation

/// The time, handed in: how long something took, and what the calendar says.
public struct StoreClock: Sendable {
    /// A time that only grows; its zero means nothing.
    package let elapsed: @Sendable () -> Duration
    /// The calendar's time, which may jump: it decides how old objects are, and nothing else.
    package let now: @Sendable () -> Date

    public init(
        elapsed: @escaping @Sendable () -> Duration,
        now: @escaping @Sendable () -> Date
    ) {
        self.elapsed = elapsed
        self.now = now
    }

    public static let system: StoreClock = {
        let start = ContinuousClock().now
        return StoreClock(elapsed: { ContinuousClock().now - start }, now: { Date() })
    }()

    package func millisecondsSince1970() -> Int64 { Int64(now().timeIntervalSince1970 * 1_000) }
}
