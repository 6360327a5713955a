internal import GodwitStore

/// What a transaction has done to the queue, as the machine in memory has to know it.
enum QueueChange: Sendable {
    case enqueued(Enqueued)
    /// Completed, skipped or merged into another: it has left the queue.
    case finished(OperationNumber, OperationID, Fate)
    /// An attempt is over, and another will follow.
    case requeued(OperationNumber)
    /// It waits for somebody's decision: a conflict keeps its place, a dead letter does not.
    case stopped(OperationNumber, QueuedOperation.State)
    /// Somebody has decided: it is in line again.
    case resumed(OperationNumber)
    case reprioritized(OperationNumber, Int32)
    case needsChanged(OperationNumber, [OperationNumber])
    case held(HoldTable.Row)
    case released(OperationNumber, context: String)
    /// nil for all pipelines.
    case suspended(pipeline: String?, reason: String)
    case unsuspended(pipeline: String?, reason: String)

    struct Enqueued: Sendable {
        let outline: OperationTable.Outline
        let id: OperationID
        var needs: [OperationNumber] = []
    }
}
