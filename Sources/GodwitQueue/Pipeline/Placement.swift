public import GodwitStore
public import GodwitTree

/// Where an operation is put, and when its turn is.
///
/// ```swift
/// try transaction.enqueue(UploadPhoto(id: "7"), Placement(pipeline: "photos", priority: -1))
/// ```
public struct Placement: Sendable {
    /// The pipeline that runs it; an unknown one is the default one.
    public var pipeline: String
    /// A hint that dependencies outweigh: of what may start, the higher goes first.
    public var priority: Int32
    /// What has to be completed before it starts.
    public var dependencies: [Dependency]
    /// The earlier commit whose graph it joins; nil for a graph of its own commit.
    ///
    /// A commit of which nothing is left in this pipeline counts as nil.
    public var commit: CommitNumber?
    /// What the app wants to find with it.
    public var userInfo: Value
    /// A name of the app's choice; nil for one of the queue's.
    public var id: OperationID?
    /// Whether it may be merged with others on the same thing; see ``Effect``.
    ///
    /// Not when each of them has to reach the cloud, to be part of a history there for instance.
    public var mayMerge: Bool
    /// What the cloud knows the work by; nil for the operation's id.
    public var idempotencyKey: String?

    public init(
        pipeline: String = Pipeline.defaultName,
        priority: Int32 = 0,
        dependencies: [Dependency] = [],
        commit: CommitNumber? = nil,
        userInfo: Value = .null,
        id: OperationID? = nil,
        mayMerge: Bool = true,
        idempotencyKey: String? = nil
    ) {
        self.pipeline = pipeline
        self.priority = priority
        self.dependencies = dependencies
        self.commit = commit
        self.userInfo = userInfo
        self.id = id
        self.mayMerge = mayMerge
        self.idempotencyKey = idempotencyKey
    }
}
