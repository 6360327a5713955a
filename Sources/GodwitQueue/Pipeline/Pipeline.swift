/// How a queue runs its operations: who does the work, how many at once, in which order.
///
/// ```swift
/// let pipeline = Pipeline(maxConcurrent: 4)
///     .on(UploadContact.self) { upload, run in
///         let tag = try await cloud.put(upload.contact, key: run.operation.idempotencyKey)
///         return .completed { try $0.setTag(.string(Key(tag)), for: upload.contact) }
///     }
/// ```
///
/// A pipeline is a value; a ``PushQueue`` runs it.
public struct Pipeline: Sendable {
    public static let defaultName = "default"

    /// Which operations may run beside each other.
    public enum Order: Hashable, Sendable {
        /// All operations of a commit are finished before one of the next starts: the cloud moves
        /// from commit to commit.
        case commit
        /// Operations of all commits run as their dependencies, explicit ones and those that
        /// follow from footprints, allow. Of what may start, the earlier commit goes first.
        case flat
    }

    public let name: String
    public var order: Order
    /// The names that it had in earlier versions of the app.
    public var previousNames: Set<String> = []
    /// How many operations run at once; 0 for any number.
    public var maxConcurrent: Int
    /// What the device must have before anything starts.
    public var requirements: Requirements = .network
    /// Orders that the app wants besides those that footprints give.
    public var rules: [DependencyRule] = []
    public var backoff = Backoff()
    /// After how many attempts an operation becomes a dead letter; nil for never.
    public var attemptsMax: Int?
    /// How often the process may end while an operation runs, and no other one, before it becomes a
    /// dead letter: one that crashes the app must not do so for ever.
    ///
    /// If several ran, none is to blame; from the second time on they run one after the other.
    public var interruptionsMax = 5
    /// What is done about a conflict; a clean merge is taken, others wait for the app.
    ///
    /// A conflict waits, too, if the resolver throws.
    public var resolve: PushConflict.Resolver = { $0.resolvedIfClean() }

    var executors: [String: OperationExecutor] = [:]
    var executorOfRest: OperationExecutor?

    public init(_ name: String = defaultName, order: Order = .commit, maxConcurrent: Int = 8) {
        precondition(!name.isEmpty && maxConcurrent >= 0)
        self.name = name
        self.order = order
        self.maxConcurrent = maxConcurrent
    }

    /// Whether a name belongs to a part of Godwit, whose operations no other code can run.
    static func isReserved(_ name: String) -> Bool { name.hasPrefix("godwit.") }
}

extension Pipeline {
    /// Has `perform` do the work of one kind of operations.
    ///
    /// What it throws, other than `CancellationError`, is a retry; that is no attempt at all, and
    /// the operation waits as before. It may run for the second
    /// time although the first did the work: the answer was lost, or the process ended before it
    /// could be written down. ``QueuedOperation/mayHaveRun`` says so.
    public func on<Work: PushOperation>(
        _ type: Work.Type = Work.self,
        perform: @escaping @Sendable (Work, OperationRun) async throws -> Outcome
    ) -> Pipeline {
        var pipeline = self
        pipeline.executors[Work.kind] = .single { run in
            try await perform(try Self.decoded(run), run)
        }
        return pipeline
    }

    /// Has `perform` do the work of several operations of one kind at once.
    ///
    /// ```swift
    /// Pipeline(order: .flat, maxConcurrent: 100).onBatch(of: Upload.self, max: 100) { batch in
    ///     let answers = try await cloud.putAll(batch.map(\.work))
    ///     return answers.map { $0.isStored ? .completed : .retry(reason: $0.message) }
    /// }
    /// ```
    ///
    /// A batch has the operations that start together, at most `max`; ``maxConcurrent`` counts each of
    /// them. The queue records all outcomes in one transaction. An operation that is skipped while its
    /// batch runs does not end the batch. ``PushQueue/Options/around`` does not run for a batch.
    ///
    /// - Parameters:
    ///   - type: The type of the operations.
    ///   - max: How many operations a batch has at most.
    ///   - perform: Returns an outcome for each operation, in their order. If it throws, or returns another
    ///     number of outcomes, all of them are retried.
    public func onBatch<Work: PushOperation>(
        of type: Work.Type = Work.self,
        max: Int,
        perform: @escaping @Sendable ([BatchItem<Work>]) async throws -> [Outcome]
    ) -> Pipeline {
        precondition(max > 0, "A batch has at least one operation")
        var pipeline = self
        pipeline.executors[Work.kind] = .batch(max: max) { runs in
            var items: [BatchItem<Work>] = []
            var unreadable: [Int: Outcome] = [:]
            for (index, run) in runs.enumerated() {
                do throws(UnreadableOperation) {
                    items.append(BatchItem(work: try Self.decoded(run), run: run))
                } catch {
                    unreadable[index] = .unreadable(reason: error.reason)
                }
            }
            let outcomes = items.isEmpty ? [] : try await perform(items)
            guard outcomes.count == items.count else {
                throw WrongOutcomeCount(wanted: items.count, found: outcomes.count)
            }
            var rest = outcomes[...]
            return runs.indices.map { unreadable[$0] ?? rest.removeFirst() }
        }
        return pipeline
    }

    private static func decoded<Work: PushOperation>(
        _ run: OperationRun
    ) throws(UnreadableOperation) -> Work {
        do {
            return try run.operation.decoded()
        } catch {
            throw UnreadableOperation(reason: "\(error)")
        }
    }

    /// Has `perform` do the work of all other kinds.
    ///
    /// Without it an operation of an unknown kind is set aside, and comes back when a version of
    /// the app knows it.
    public func onOthers(
        perform: @escaping @Sendable (OperationRun) async throws -> Outcome
    ) -> Pipeline {
        var pipeline = self
        pipeline.executorOfRest = .single(perform)
        return pipeline
    }

    func executor(of kind: String) -> OperationExecutor? { executors[kind] ?? executorOfRest }

    /// How long to wait after so many failed attempts.
    ///
    /// - Parameter asked: What the cloud has asked for. Less than the backoff's least delay counts
    ///   once: a cloud that says "at once" each time would be asked without a pause.
    func delay(asked: Duration?, attempts: Int) -> Duration {
        if let asked, asked >= backoff.delayMin || attempts <= 1 { return asked }
        return min(backoff.delay(attempts: attempts), Outcome.delayMax)
    }
}

/// The body of an operation is not what its kind says.
struct UnreadableOperation: Error {
    let reason: String
}
