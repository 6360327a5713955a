internal import GRDB
public import GodwitStore

extension WriteTransaction {
    /// Starts nothing of a pipeline any more, over launches, until it is resumed.
    ///
    /// One reason counts once, however often it is given. ``PushQueue/suspend(_:pipeline:count:)``
    /// is for what ends with the launch.
    ///
    /// - Parameters:
    ///   - pipeline: The pipeline; nil for all of them.
    ///   - reason: What the suspension is counted by, and shown with.
    public borrowing func suspendPipeline(_ pipeline: String? = nil, reason: String) throws {
        try journal().update(in: self) { _ in }
        let name = pipeline ?? PipelineTable.all
        guard try SuspensionTable.add(name, reason: reason, in: connection) else { return }
        try note(.suspended(pipeline: pipeline, reason: reason))
    }

    /// Takes that back; without it nothing happens.
    public borrowing func resumePipeline(_ pipeline: String? = nil, reason: String) throws {
        try journal().update(in: self) { _ in }
        let name = pipeline ?? PipelineTable.all
        guard try SuspensionTable.remove(name, reason: reason, in: connection) else { return }
        try note(.unsuspended(pipeline: pipeline, reason: reason))
    }
}
