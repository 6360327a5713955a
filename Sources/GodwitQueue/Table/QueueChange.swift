internal import GodwitStore

/// What a transaction has done to the queue, as the machine in memory has to know it.
enum QueueChange: Sendable {
    case enqueued(Enqueued)
    /// A process runs it.
    case started(OperationNumber)
    /// Completed, skipped or merged into another: it has left the queue.
    case finished(OperationNumber, OperationID, OperationResult)
    /// An attempt is over, and another will follow.
    case requeued(OperationNumber)
    /// It waits for the app's decision: a conflict keeps its place, a dead letter does not.
    case stopped(OperationNumber, QueuedOperation.State)
    /// The app has decided: it is in line again.
    case resumed(OperationNumber)
    case reprioritized(OperationNumber, Int32)
    case needsChanged(OperationNumber, [OperationNumber])
    case held(HoldTable.Row)
    case released(OperationNumber, context: String)
    /// nil for all pipelines.
    case suspended(pipeline: String?, reason: String)
    case unsuspended(pipeline: String?, reason: String)
    /// A pipeline has another order than before.
    case reordered

    struct Enqueued: Sendable {
        let outline: OperationTable.Outline
        let id: OperationID
        var needs: [OperationNumber] = []
    }
}

extension QueueChange {
    /// The operation that it is about.
    var number: OperationNumber {
        switch self {
        case .enqueued(let new): new.outline.number
        case .started(let number), .finished(let number, _, _), .requeued(let number),
            .stopped(let number, _), .resumed(let number), .reprioritized(let number, _),
            .needsChanged(let number, _), .released(let number, _):
            number
        case .held(let row): row.operation
        case .suspended, .unsuspended: QueueLog.suspensions
        case .reordered: QueueLog.orders
        }
    }

    /// The operation that has left the queue by it.
    var ended: OperationNumber? {
        if case .finished(let number, _, _) = self { number } else { nil }
    }
}
