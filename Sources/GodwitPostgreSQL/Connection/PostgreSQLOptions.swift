#if PostgreSQL
public import GodwitStore

/// How many connections a node has, and for how long it waits for each.
///
/// ```swift
/// var options = PostgreSQLOptions()
/// options.connectionMax = 16
/// ```
public struct PostgreSQLOptions: Sendable {
    /// How many connections are open at most, beside one that listens.
    public var connectionMax = 8
    /// How many tasks may wait for one; others are refused at once.
    public var waitingMax = 1_024
    /// For how long the database may work on one statement; a transaction may be idle as long.
    public var statementMax = Duration.seconds(30)
    /// For how long connecting may take, and data on the way may go without an acknowledgement.
    public var connectMax = Duration.seconds(10)
    /// How often a transaction is tried that meets another one, or loses its connection.
    public var attemptMax = 8
    /// How often a node asks for the heads that its clients follow while it cannot listen.
    public var pollInterval = Duration.seconds(2)
    /// Where times come from.
    public var clock = StoreClock.system

    /// For how long a statement that is cancelled may go on before the connection is given up.
    package var cancelMax = Duration.seconds(5)
    /// A connection that was idle for longer is asked whether it is still there before it is used.
    package var idleMax = Duration.seconds(30)
    /// How often a connection that listens and hears nothing is asked whether it is still there.
    package var silenceMax = Duration.seconds(10)
    /// The waits between attempts, and a number from 0 to 1 that shortens each.
    package var backoff = PostgreSQLBackoff()

    public init() {}

    var connectSecondsMax: Int64 { max(2, connectMax.components.seconds) }
}

/// The waits between the attempts of a transaction: each is twice as long, and cut at random.
package struct PostgreSQLBackoff: Sendable {
    package var first = Duration.milliseconds(10)
    package var last = Duration.seconds(1)
    package var random: @Sendable () -> Double = { .random(in: 0...1) }
    package var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }

    /// Waits after some attempts have failed.
    func wait(after attempts: Int) async throws {
        let longest = min(last, first * (1 << min(attempts - 1, 16)))
        try await sleep(longest * random())
    }
}
#endif
