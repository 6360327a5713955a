public import Foundation
internal import GRDB
public import GodwitStore

/// A whole queue as one transaction shows it, with the reason for which each operation waits.
///
/// It needs no process that runs the queue, and takes the device for online. O(n).
public struct QueueSnapshot: Sendable {
    /// That one operation waits for another.
    public struct Edge: Hashable, Sendable {
        public let operation: OperationNumber
        public let need: OperationNumber
        public let policy: Dependency.Policy
        /// Whether it follows from what both touch, and was not asked for.
        public let isDerived: Bool
    }

    /// In the order of enqueuing.
    public let operations: [QueuedOperation]
    public let edges: [Edge]
    /// Why pipelines are suspended over launches; the empty name stands for all.
    public let suspensions: [String: [String]]
    private let statuses: [OperationNumber: OperationStatus]

    public func status(of number: OperationNumber) -> OperationStatus {
        statuses[number] ?? .unknown
    }

    /// How many operations are where.
    public var summary: QueueSummary {
        var summary = QueueSummary()
        summary.unfinished = operations.count
        summary.running = operations.count { $0.state == .running }
        summary.waiting = operations.count { $0.state == .waiting }
        summary.conflicts = operations.count { $0.state == .conflict }
        summary.deadLetters = operations.count { $0.state.isDeadLetter }
        return summary
    }

    fileprivate init(_ database: Database, through commit: CommitNumber, at date: Date) throws {
        var operations: [QueuedOperation] = []
        try OperationTable.forEach(in: database) { operation in
            operations.append(operation)
            return true
        }
        self.operations = operations
        edges = try DependencyTable.all(in: database).map { edge in
            Edge(
                operation: edge.operation,
                need: edge.need,
                policy: edge.policy,
                isDerived: edge.origin != .app
            )
        }
        suspensions = Dictionary(grouping: try SuspensionTable.all(in: database), by: \.pipeline)
            .mapValues { $0.map(\.reason) }
        var pipelines = try PipelineTable.pipelines(in: database)
        for operation in operations where pipelines[operation.pipeline] == nil {
            pipelines[operation.pipeline] = false
        }
        let now = Moment(elapsed: .zero, calendar: Int64(date.timeIntervalSince1970 * 1_000))
        var state = QueueState(
            pipelines.sorted { $0.key < $1.key }.map { Pipeline($0, order: $1 ? .commit : .flat) },
            rateLimit: { _ in RateLimit() }
        )
        try state.show(database, through: commit, at: now)
        statuses = operations.reduce(into: [:]) { statuses, operation in
            statuses[operation.number] = state.status(of: operation.number, at: now)
        }
    }

    fileprivate init() {
        (operations, edges, suspensions, statuses) = ([], [], [:], [:])
    }
}

extension StoreTransaction where Self: ~Copyable {
    /// The queue, and why each of its operations waits.
    ///
    /// - Parameter date: What the calendar says, to tell which holds are over.
    public borrowing func queueSnapshot(at date: Date) throws -> QueueSnapshot {
        guard try hasQueue() else { return QueueSnapshot() }
        return try QueueSnapshot(database, through: lastCommit, at: date)
    }

    /// An operation by its number.
    public borrowing func operation(_ number: OperationNumber) throws -> QueuedOperation? {
        guard try hasQueue() else { return nil }
        return try OperationTable.operation(number, in: database)
    }
}

extension QueueState {
    /// Takes in a queue that this process does not run, to report on it.
    fileprivate mutating func show(
        _ database: Database,
        through commit: CommitNumber,
        at now: Moment
    ) throws {
        let loading = beginLoading()
        try LoadedQueue.read(database) { load($0, loading, at: now) }
        endLoading(loading, through: commit, at: now)
        control { machine, _ in machine.resume(nil, reason: Self.notRunning) }
    }
}
