/// Why the queue refused an operation.
///
/// The transaction that gets one is rolled back whole.
public enum QueueError: Error, Hashable, Sendable {
    /// Each operation waits for the next one, and the last for the first.
    case circularDependency([OperationID])
    /// The queue already holds an operation with this identifier.
    case duplicateOperation(OperationID)
}

extension QueueError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .circularDependency(let ids):
            let circle = (ids + ids.prefix(1)).map(\.description).joined(separator: " → ")
            return "operations wait for each other: \(circle)"
        case .duplicateOperation(let id):
            return "operation \(id) is already queued"
        }
    }
}
