/// How long the writer's thread stays for the next write.
///
/// To wake two threads costs as much as a third of a durable write, which a task that writes one object after
/// the other would pay each time. Where several tasks write, their requests share groups, and a thread that
/// stayed would take the processor from them.
struct WritePace {
    /// How many groups of one request in a row have begun soon after the group before.
    private var loneCount = 0
    private var lastEnd: ContinuousClock.Instant?

    private static let loneMin = 64
    private static let quickness = Duration.microseconds(300)

    /// Notes a group, and says how long to stay after it.
    mutating func noteGroup(
        of requestCount: Int,
        from start: ContinuousClock.Instant,
        to end: ContinuousClock.Instant
    ) -> Duration {
        let isQuick = lastEnd.map { start - $0 < Self.quickness } ?? false
        loneCount = requestCount == 1 && isQuick ? loneCount + 1 : 0
        lastEnd = end
        return .microseconds(loneCount < Self.loneMin ? 30 : 200)
    }
}
