/// What became of an operation that has left the queue.
public enum OperationResult: Hashable, Sendable {
    /// The cloud has it.
    case completed
    /// The app decided that it is not needed.
    case skipped(reason: String?)
    /// Another operation does its work too.
    case merged(into: OperationID)
}
