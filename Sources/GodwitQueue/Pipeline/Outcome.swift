public import GodwitStore
public import GodwitTree

/// What came of running an operation: the executor's answer, and all it decides.
public enum Outcome: Sendable {
    /// Runs in the transaction that removes the operation: the place to record a new tag.
    public typealias Completion = @Sendable (borrowing WriteTransaction) throws -> Void

    /// The work is done.
    case completed(Completion)

    /// Try again: after the cloud's own delay, or without one after the pipeline's backoff.
    ///
    /// A delay below the backoff's least one counts once; after that the backoff does. A delay
    /// beyond ``delayMax`` counts as that.
    ///
    /// `slowDown` says that the host asked for fewer requests (429, 503): all operations for it
    /// wait for the delay, and go slower afterwards.
    case retry(after: Duration? = nil, slowDown: Bool = false, reason: String)

    /// The cloud has a newer version than the one that the change was made on (409, 412).
    ///
    /// `theirs` is what it has, `Value.null` when it has nothing any more, nil when the executor has
    /// not looked. `tag` is recorded when the conflict is resolved.
    case conflict(theirs: Value? = nil, tag: CloudTag? = nil, reason: String)

    /// It will never work: the operation becomes a dead letter.
    case refused(reason: String)

    /// This version of the app does not know the operation: it becomes a dead letter, and is tried
    /// again when asked.
    case unreadable(reason: String)

    /// It is not needed.
    case skipped(reason: String)

    /// Nothing of this pipeline can be done at the moment: the user has to sign in, for instance.
    ///
    /// The operation waits as before, without an attempt. The pipeline is suspended for this reason,
    /// over launches too, until `transaction.resumePipeline(_:reason:)`; what runs goes on.
    case suspendPipeline(reason: String)

    /// The longest delay before the next attempt: a week.
    public static let delayMax = Duration.seconds(7 * 24 * 3_600)

    /// The work is done, and there is nothing to record.
    public static var completed: Outcome { .completed { _ in } }
}

/// How long to wait before the next attempt.
///
/// The delay doubles from `delayMin` to `delayMax`; a random part of it is taken off ("full
/// jitter", M. Brooker, Exponential backoff and jitter, 2015), so that many clients that failed
/// together do not come back together.
public struct Backoff: Sendable {
    public let delayMin: Duration
    public let delayMax: Duration
    private let jitter: @Sendable () -> Double

    /// - Parameters:
    ///   - delayMin: About the delay before the second attempt.
    ///   - delayMax: The longest delay.
    ///   - jitter: A random number in 0..<1, or a fixed one for a test.
    public init(
        delayMin: Duration = .milliseconds(100),
        delayMax: Duration = .seconds(60),
        jitter: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }
    ) {
        self.delayMin = delayMin
        self.delayMax = delayMax
        self.jitter = jitter
    }

    /// The delay after this many failed attempts, counted from 1.
    public func delay(attempts: Int) -> Duration {
        let doublings = min(max(attempts - 1, 0), 30)
        return min(delayMin * (1 << doublings), delayMax) * (1 - jitter())
    }

    /// The delay where a server asks for one: as long, and up to a quarter longer, so that clients which were
    /// refused together do not come back together.
    public func delay(asked: Duration) -> Duration { asked * (1 + jitter() / 4) }
}
