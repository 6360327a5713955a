internal import GodwitStore
internal import Synchronization

/// Collects what transactions do to the queue, and tells it when, and only when, they commit.
///
/// Requests run one at a time, so there is at most one draft; several may share a commit.
final class QueueJournal: Sendable {
    /// Gets what was committed; nil when only the database knows.
    typealias Listener = @Sendable ([Entry]?) -> Void
    typealias Transfers = @Sendable () -> MarkedTransfers

    /// What one commit has done.
    struct Entry: Sendable {
        let commit: CommitNumber
        var changes: [QueueChange] = []
    }

    /// An operation that needs another one, which is not enqueued yet.
    struct Dependent: Sendable {
        let operation: OperationNumber
        let policy: Dependency.Policy
    }

    /// What the request under way has done so far.
    struct Draft: Sendable {
        var entry: Entry
        /// Whether other processes may write, too.
        let isShared: Bool
        var operationCount = 0
        /// Whether an operation has joined the graph of an earlier commit.
        var hasJoinedEarlier = false
        /// Needed, but not enqueued yet: the rest of the transaction may do that.
        var unresolved: [OperationID: [Dependent]] = [:]
        /// Operations whose objects are recorded when the transaction has changed all it will.
        var unrecorded: [OperationNumber: [ObjectKey]] = [:]
        /// Operations that have inherited needs, which are read when all are there.
        var heirs: Set<OperationNumber> = []
        /// Pipelines that the transaction has noted in the database.
        var mentioned: Set<String> = []
        /// Whether the cloud knows already what the transaction changes.
        var skipsAutomaticOperations = false
        /// The objects that an operation pushes already, or has no need to.
        var automatic: Set<AutomaticKey> = []
        /// Whether the transaction has to be a commit for what it does to the queue.
        fileprivate(set) var isTouched = false
        /// Attached to objects that are not there yet.
        var pendingAttachments: [ObjectKey: Set<String>] = [:]
    }

    private struct State {
        var draft: Draft?
        var pending: [Entry] = []
        /// The pipelines that requests which succeeded have noted in the database.
        var mentioned: Set<String> = []
        var isSchemaReady = false
        var listeners: [ObjectIdentifier: Listener] = [:]
        /// What tells which operations of a queue are transferred outside of this process.
        var transfers: [ObjectIdentifier: Transfers] = [:]
        var pipelines: [String: PipelineRules] = [:]
        var previousNames: [String: String] = [:]
        /// How many operations that have left the queue are remembered.
        var fatesMax = 10_000
        var fateCount = 0
        /// How many queues of this process run under its lease.
        var leaseCount = 0
    }

    /// The first half of the identifiers made in this launch.
    let launch: UInt64
    private let state = Mutex(State())

    init(_ identifiers: Identifiers) { launch = OperationID(identifiers.next()).high }

    /// Calls `listener` with what each group of commits has done, on the writer's thread.
    func addListener(
        _ owner: AnyObject,
        transfers: @escaping Transfers,
        _ listener: @escaping Listener
    ) {
        state.withLock { state in
            state.listeners[ObjectIdentifier(owner)] = listener
            state.transfers[ObjectIdentifier(owner)] = transfers
        }
    }

    func removeListener(_ owner: AnyObject) {
        state.withLock { state in
            state.listeners[ObjectIdentifier(owner)] = nil
            state.transfers[ObjectIdentifier(owner)] = nil
        }
    }

    /// The operations of all queues of this process that are transferred outside of it.
    var transfers: MarkedTransfers {
        let sources = state.withLock { Array($0.transfers.values) }
        return sources.reduce(into: MarkedTransfers()) { $0.formUnion($1()) }
    }

    /// Has at least so many be remembered that have left the queue.
    func remember(_ count: Int) { state.withLock { $0.fatesMax = max($0.fatesMax, count) } }

    /// Counts one more that has left the queue.
    ///
    /// - Returns: How many to remember, when it is time to forget the rest.
    func countFate() -> Int? {
        state.withLock { state in
            state.fateCount += 1
            return state.fateCount % Self.fatesBetweenTrims == 0 ? state.fatesMax : nil
        }
    }

    func tookLease() { state.withLock { $0.leaseCount += 1 } }

    /// - Returns: Whether no queue of this process needs the lease any more.
    func gaveLeaseBack() -> Bool {
        state.withLock { state in
            state.leaseCount -= 1
            return state.leaseCount == 0
        }
    }

    private static let fatesBetweenTrims = 1_000

    /// Changes the draft of a transaction, which is begun if there is none.
    ///
    /// - Parameter touches: Whether the transaction is a commit for that, also if no object changes.
    func update<Result: Sendable>(
        in transaction: borrowing WriteTransaction,
        touches: Bool = true,
        _ body: (inout Draft) throws -> Result
    ) throws -> Result {
        if touches { try transaction.noteChange() }
        if state.withLock({ $0.draft == nil }) { try prepare(transaction) }
        return try state.withLock { state in
            // Taken out, not copied: a transaction may enqueue a million operations.
            var draft =
                state.draft.take()
                ?? Draft(entry: Entry(commit: transaction.commit), isShared: transaction.isShared)
            defer { state.draft = draft }
            if touches, !draft.isTouched {
                transaction.touch()
                draft.isTouched = true
            }
            return try body(&draft)
        }
    }

    private func prepare(_ transaction: borrowing WriteTransaction) throws {
        if !state.withLock({ $0.isSchemaReady }) {
            try QueueSchema.schema.prepare(transaction.connection)
        }
        transaction.add(self)
    }
}

extension QueueJournal: TransactionParticipant {
    func requestWillSucceed(in transaction: borrowing WriteTransaction) throws {
        guard let heirs = state.withLock({ $0.draft?.heirs }) else { return }
        for heir in heirs.sorted()
        where try OperationTable.outline(heir, in: transaction.connection) != nil {
            try transaction.noteNeeds(of: heir)
        }
        guard let draft = state.withLock({ $0.draft }), draft.isTouched else { return }
        if let missing = draft.unresolved.keys.min(by: { "\($0)" < "\($1)" }) {
            throw QueueError.unknownDependency(missing)
        }
        for (operation, keys) in draft.unrecorded {
            try transaction.record(keys, of: operation)
        }
        for (key, uris) in draft.pendingAttachments where try transaction.value(of: key) != nil {
            for uri in uris { try AttachmentTable.add(uri, to: key, in: transaction.connection) }
        }
        if transaction.isShared {
            try QueueLog.append(
                draft.entry.changes,
                of: transaction.commit,
                in: transaction.connection
            )
        }
    }

    func requestSucceeded() {
        state.withLock { state in
            guard let draft = state.draft.take(), draft.isTouched else { return }
            state.pending.append(draft.entry)
            // Another process may rename a pipeline.
            if !draft.isShared { state.mentioned.formUnion(draft.mentioned) }
        }
    }

    func requestFailed() { state.withLock { $0.draft = nil } }

    func committed() {
        let (entries, listeners) = state.withLock { state in
            state.isSchemaReady = true
            for name in state.mentioned { state.pipelines[name]?.isStored = true }
            let entries = state.pending
            (state.pending, state.mentioned) = ([], [])
            return (entries, state.listeners.values)
        }
        for listener in listeners { listener(entries) }
    }

    func rolledBack() { state.withLock { ($0.draft, $0.pending, $0.mentioned) = (nil, [], []) } }

    func lostTrack() -> Bool {
        rolledBack()
        let listeners = state.withLock { $0.listeners.values }
        for listener in listeners { listener(nil) }
        return true
    }
}

// MARK: - Pipelines

extension QueueJournal {
    /// What enqueuing has to know about a pipeline.
    struct PipelineRules: Sendable {
        let keepsOrder: Bool
        let rules: [DependencyRule]
        /// Whether the database knows it.
        var isStored = false
    }

    /// - Throws: ``QueueError/pipelineExists(_:)``; nothing was added then.
    func add(_ pipelines: [Pipeline]) throws(QueueError) {
        let taken = state.withLock { state -> String? in
            let names = pipelines.map(\.name)
            if let taken = names.first(where: { state.pipelines[$0] != nil }) { return taken }
            for pipeline in pipelines {
                state.pipelines[pipeline.name] = PipelineRules(
                    keepsOrder: pipeline.order == .commit,
                    rules: pipeline.rules
                )
                for previous in pipeline.previousNames where state.previousNames[previous] == nil {
                    state.previousNames[previous] = pipeline.name
                }
            }
            return nil
        }
        if let taken { throw .pipelineExists(taken) }
    }

    func remove(_ pipelines: [Pipeline]) {
        state.withLock { state in for pipeline in pipelines { state.pipelines[pipeline.name] = nil }
        }
    }

    /// The pipeline that runs what is enqueued under a name.
    ///
    /// A process without a default pipeline only enqueues, and leaves that to the one that runs.
    func pipeline(_ name: String) -> String {
        state.withLock { state in
            if state.pipelines[name] != nil { return name }
            if let renamed = state.previousNames[name] { return renamed }
            let isLeft = Pipeline.isReserved(name) || state.pipelines[Pipeline.defaultName] == nil
            return isLeft ? name : Pipeline.defaultName
        }
    }

    func rules(of name: String) -> [DependencyRule] {
        state.withLock { $0.pipelines[name]?.rules ?? [] }
    }

    /// Whether a pipeline keeps the order of commits; nil when no queue of this process runs it.
    func keepsOrder(_ name: String) -> Bool? {
        state.withLock { $0.pipelines[name]?.keepsOrder }
    }

    var orderedPipelines: Set<String> {
        state.withLock { Set($0.pipelines.filter(\.value.keepsOrder).keys) }
    }

    func stored(_ pipelines: [Pipeline]) {
        state.withLock { state in
            for pipeline in pipelines { state.pipelines[pipeline.name]?.isStored = true }
        }
    }

    /// Whether a pipeline that the database may not know keeps order; nil when it knows it.
    func unstoredPipeline(_ name: String) -> Bool? {
        state.withLock { state in
            guard let rules = state.pipelines[name] else { return false }
            return rules.isStored ? nil : rules.keepsOrder
        }
    }

    func isRegistered(_ name: String) -> Bool { state.withLock { $0.pipelines[name] != nil } }
}

extension WriteTransaction {
    borrowing func journal() -> QueueJournal {
        attachment { QueueJournal($0) }
    }

    borrowing func note(_ change: QueueChange) throws {
        try journal().update(in: self) { $0.entry.changes.append(change) }
    }
}
