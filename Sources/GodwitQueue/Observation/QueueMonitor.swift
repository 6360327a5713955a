public import Observation

/// How a queue stands, for a user interface.
///
/// ```swift
/// @MainActor struct SyncBadge {
///     let monitor: QueueMonitor
///     var text: String { "\(monitor.summary.pending) to send" }
/// }
/// ```
@MainActor
@Observable
public final class QueueMonitor {
    public private(set) var summary: QueueSummary

    @ObservationIgnored private let queue: PushQueue

    public init(_ queue: PushQueue) {
        self.queue = queue
        summary = queue.summary
    }

    /// Follows the queue until the surrounding task is cancelled.
    public func run() async {
        for await summary in queue.summaries() { self.summary = summary }
    }
}
