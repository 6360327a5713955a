internal import Synchronization

/// A clock that a test moves by hand: nothing ever waits for real time.
///
/// ```swift
/// let clock = ManualClock()
/// async let delay = clock.nextDelay()    // how long a task sleeps
/// clock.advance(by: .seconds(5))
/// ```
public final class ManualClock: Clock, Sendable {
    public struct Instant: InstantProtocol {
        public let sinceStart: Duration

        public func advanced(by duration: Duration) -> Instant {
            Instant(sinceStart: sinceStart + duration)
        }

        public func duration(to other: Instant) -> Duration { other.sinceStart - sinceStart }

        public static func < (left: Instant, right: Instant) -> Bool {
            left.sinceStart < right.sinceStart
        }
    }

    private struct Sleeper {
        let deadline: Instant
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now = Instant(sinceStart: .zero)
        var next = 0
        var sleepers: [Int: Sleeper] = [:]
        var cancelled: Set<Int> = []
    }

    private let state = Mutex(State())
    private let delays = AsyncStream.makeStream(of: Duration.self)

    public init() {}

    public var now: Instant { state.withLock { $0.now } }
    /// When the next sleeper wants to be woken; nil when none sleeps.
    public var nextDeadline: Instant? {
        state.withLock { $0.sleepers.values.map(\.deadline).min() }
    }
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// Waits until a task begins to sleep, and says for how long.
    public func nextDelay() async -> Duration {
        for await delay in delays.stream { return delay }
        return .zero
    }

    /// Moves the time on, and wakes the tasks that have slept long enough.
    public func advance(by duration: Duration) {
        let woken = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let due = state.sleepers.filter { $0.value.deadline <= state.now }
            for id in due.keys { state.sleepers[id] = nil }
            return due.sorted { $0.key < $1.key }.map(\.value)
        }
        for sleeper in woken { sleeper.continuation.resume() }
    }

    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let id = state.withLock { state in
            state.next += 1
            return state.next
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                begin(Sleeper(deadline: deadline, continuation: continuation), id: id)
            }
        } onCancel: {
            cancel(id)
        }
    }

    private func begin(_ sleeper: Sleeper, id: Int) {
        let (isOver, isCancelled, delay) = state.withLock { state in
            let isCancelled = state.cancelled.remove(id) != nil
            let isOver = sleeper.deadline <= state.now
            if !isOver, !isCancelled { state.sleepers[id] = sleeper }
            return (isOver, isCancelled, state.now.duration(to: sleeper.deadline))
        }
        if isCancelled {
            sleeper.continuation.resume(throwing: CancellationError())
        } else if isOver {
            sleeper.continuation.resume()
        } else {
            delays.continuation.yield(delay)
        }
    }

    private func cancel(_ id: Int) {
        let sleeper = state.withLock { state in
            if let sleeper = state.sleepers.removeValue(forKey: id) { return Optional(sleeper) }
            state.cancelled.insert(id)
            return nil
        }
        sleeper?.continuation.resume(throwing: CancellationError())
    }
}
