public import GodwitTree

/// Why the queue refused something.
///
/// The transaction that gets one is rolled back whole.
public enum QueueError: Error, Hashable, Sendable {
    /// Each operation waits for the next one, and the last for the first.
    case circularDependency([OperationID])
    /// The queue already holds, or remembers, an operation with this identifier.
    case duplicateOperation(OperationID)
    /// An operation needs one that was not enqueued; see ``Dependency/ifQueued(_:otherwise:)``.
    case unknownDependency(OperationID)
    /// There is no such operation, or not any more.
    case unknownOperation(OperationID)
    /// The operation has to be in another state for that.
    case wrongState(OperationID, QueuedOperation.State)
    /// An operation stays with its host: skip it, and enqueue another one.
    case otherHost(OperationID, String?)
    /// One transaction enqueues too many.
    case tooManyOperations(limit: Int)
    /// What is stored is not what was enqueued.
    case damagedOperation(OperationNumber)
    /// A tag is a string, a number or bytes.
    case unsuitableTag(Value)
    /// Another queue of this store has a pipeline of this name.
    case pipelineExists(String)
    /// No queue of this store has a pipeline of this name.
    case unknownPipeline(String)
    /// Another process runs the queue now; what this one still did does not count.
    case notTheRunner
    /// The queue stopped before the operations were through.
    case stopped
}

extension QueueError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .circularDependency(let ids):
            let circle = (ids + ids.prefix(1)).map(\.description).joined(separator: " → ")
            return "operations wait for each other: \(circle)"
        case .duplicateOperation(let id): return "operation \(id) is already queued"
        case .unknownDependency(let id):
            return "operation \(id) is needed, but was never enqueued"
        case .unknownOperation(let id): return "there is no operation \(id)"
        case .wrongState(let id, let state): return "operation \(id) is \(state.rawValue)"
        case .otherHost(let id, let host):
            return "operation \(id) is for \(host ?? "no host"); skip it, and enqueue another one"
        case .tooManyOperations(let limit):
            return "a transaction enqueues at most \(limit) operations"
        case .damagedOperation(let number): return "operation \(number) is damaged"
        case .unsuitableTag(let value): return "no tag: \(value)"
        case .pipelineExists(let name): return "there is a pipeline '\(name)' already"
        case .unknownPipeline(let name): return "there is no pipeline '\(name)'"
        case .notTheRunner: return "another process runs the queue"
        case .stopped: return "the queue stopped before the operations were through"
        }
    }
}
