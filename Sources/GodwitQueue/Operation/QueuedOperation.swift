public import GodwitStore
public import GodwitTree

/// An operation with what the queue knows about it.
public struct QueuedOperation: Sendable, Identifiable {
    public let id: OperationID
    /// The commit that enqueued it.
    public let commit: CommitNumber
    public let pipeline: String
    public let kind: String
    /// What has to be completed before this operation starts.
    public let dependencies: Set<OperationID>
    /// A hint: of what may start, the higher goes first.
    public let priority: Int32
    /// How often it was tried without success.
    public let attempts: Int
    /// Why the last attempt failed.
    public let lastError: String?
    /// Its place among all operations ever enqueued.
    public let sequence: Int64
    /// The app's operation, as data.
    public let body: Value

    /// The app's operation.
    ///
    /// - Throws: `DecodingError` when `Work` is not what was enqueued.
    public func decoded<Work: Operation>(as type: Work.Type) throws -> Work {
        try ValueDecoder().decode(Work.self, from: body)
    }
}
