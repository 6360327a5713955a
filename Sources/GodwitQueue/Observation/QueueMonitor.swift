internal import GodwitStore
public import Observation

/// How a queue stands, for a screen: it changes as the queue does.
///
/// ```swift
/// @MainActor struct SyncBadge {
///     let monitor: QueueMonitor
///     var text: String { "\(monitor.summary.unfinished) to send" }
/// }
/// ```
///
/// It follows the queue until it is freed.
@MainActor @Observable
public final class QueueMonitor {
    public private(set) var summary: QueueSummary

    @ObservationIgnored private let task = CancelledTask()

    public init(_ queue: PushQueue) {
        summary = queue.summary
        let summaries = queue.summaries()
        task.replace(
            with: Task { [weak self] in
                for await summary in summaries {
                    if Task.isCancelled { return }
                    self?.summary = summary
                }
            }
        )
    }
}
