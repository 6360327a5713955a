/// What an operation waits for, and what becomes of it when that does not happen.
///
/// ```swift
/// let customer = try transaction.enqueue(UploadCustomer(id: "7"))
/// try transaction.enqueue(
///     UploadOrder(id: "12"),
///     Placement(dependencies: [.on(customer, otherwise: .skip)]))
/// ```
public struct Dependency: Hashable, Sendable {
    /// What happens to an operation when one that it needs is not completed.
    public enum Policy: String, Hashable, Sendable, Codable {
        /// It waits until the app resolves a dead letter. One that was skipped counts as completed:
        /// to skip it says that it is not needed any more.
        case wait
        /// It is skipped with it, whether that became a dead letter or was skipped.
        case skip
        /// It becomes a dead letter with it, whether that became one or was skipped.
        case fail
        /// It runs all the same.
        case ignore
    }

    public let id: OperationID
    public let policy: Policy
    /// Whether the queue need not know the operation.
    public let isOptional: Bool

    /// An operation that is enqueued: before, in any pipeline, or later in the same transaction.
    ///
    /// One that the queue remembers as completed is no obstacle. One that it has never heard of,
    /// or has forgotten, is an error.
    public static func on(_ id: OperationID, otherwise policy: Policy = .wait) -> Dependency {
        Dependency(id: id, policy: policy, isOptional: false)
    }

    /// An operation that may be there or not; only if it is in the queue, it has to go first.
    public static func ifQueued(
        _ id: OperationID,
        otherwise policy: Policy = .wait
    ) -> Dependency {
        Dependency(id: id, policy: policy, isOptional: true)
    }
}
