internal import Foundation
internal import GRDB
internal import GodwitStore
internal import GodwitTree

extension WriteTransaction {
    /// Marks operations as running.
    ///
    /// - Parameter lease: When it is now, and when a lease ends that is taken now.
    /// - Returns: Those that were there to be started.
    borrowing func start(
        _ numbers: [OperationNumber],
        epoch: Int64,
        lease: (now: Int64, end: Int64),
        at now: Moment
    ) throws -> [QueuedOperation] {
        try journal().update(in: self) { _ in }
        if isShared {
            guard let runner = try RunnerTable.row(in: connection), runner.epoch == epoch,
                runner.until > 0
            else { throw QueueError.notTheRunner }
            // A process that was frozen may go on after its lease, and start before it renews it.
            if runner.until <= lease.now {
                _ = try RunnerTable.setEnd(lease.end, ofEpoch: epoch, in: connection)
            }
        }
        return try numbers.compactMap { number in
            guard try OperationTable.start(number, epoch: epoch, at: now, in: connection)
            else { return nil }
            if isShared { try note(.started(number)) }
            do {
                return try OperationTable.soundOperation(number, in: connection)
            } catch {
                // One that cannot be read must not keep the others from running.
                try refuse(number, reason: "\(error)", as: .unreadable)
                return nil
            }
        }
    }

    /// Takes operations for running whose transfers go on outside of this process.
    borrowing func adopt(_ numbers: Set<OperationNumber>, epoch: Int64) throws {
        for number in numbers {
            guard try OperationTable.adopt(number, epoch: epoch, in: connection) else { continue }
            try note(.started(number))
        }
    }

    /// Whether an attempt still counts: the operation was not taken away, or over, meanwhile.
    ///
    /// A transfer is no launch's own, and has no epoch: its end counts, whichever process runs the queue.
    borrowing func isRunning(_ operation: QueuedOperation) throws -> Bool {
        let statement = try PreparedStatement(
            "SELECT epoch FROM godwit_operation WHERE number = ?1 AND state = 'running'",
            in: connection
        )
        defer { statement.reset() }
        try statement.bind(operation.number.rawValue, at: 1)
        guard try statement.step() else { return false }
        return operation.epoch.map { $0 == statement.integer(0) } ?? true
    }

    borrowing func recordAttempt(
        _ outcome: String,
        of operation: QueuedOperation,
        _ recorded: (request: String?, response: String?),
        _ reason: String,
        at now: Moment
    ) throws {
        let attempt = Attempt(
            number: operation.attempts + 1,
            ended: Date(timeIntervalSince1970: Double(now.calendar) / 1_000),
            outcome: outcome,
            reason: reason,
            request: recorded.request,
            response: recorded.response
        )
        try AttemptTable.add(attempt, of: operation.number, in: connection)
    }

    /// Puts an operation back in line that is marked as running although no process runs it.
    ///
    /// - Parameter epoch: The launch that is said to run it; another one's is left alone.
    borrowing func putBack(_ number: OperationNumber, of epoch: Int64?) throws {
        guard let operation = try OperationTable.operation(number, in: connection),
            operation.state == .running, operation.epoch == epoch
        else { return }
        try putBack(operation, mayHaveRun: true)
    }

    /// Puts a running operation back in line, without an attempt.
    borrowing func putBack(_ operation: QueuedOperation, mayHaveRun: Bool) throws {
        let verdict = OperationTable.Verdict(
            state: .waiting,
            attempts: operation.attempts,
            mayHaveRun: mayHaveRun,
            reason: operation.reason
        )
        try OperationTable.record(verdict, of: operation.number, in: connection)
        try note(.requeued(operation.number))
    }

    /// Puts operations back in line whose kind this version of the app knows after all.
    borrowing func reviveReadable(_ pipelines: [Pipeline]) throws {
        for operation in try operations(where: .unreadable) {
            let pipeline = pipelines.first { $0.name == operation.pipeline }
            guard pipeline?.executor(of: operation.kind) != nil,
                (try? OperationTable.soundOperation(operation.number, in: connection)) != nil
            else { continue }
            do {
                try retryOperation(operation.id)
            } catch QueueError.circularDependency {
                // It stays a dead letter, and the queue runs.
            }
        }
    }

    /// Takes back what an ended process has left running: the cloud may have done it or not.
    ///
    /// - Parameter names: The pipelines to look into; nil for all.
    borrowing func recoverInterrupted(
        _ pipelines: [Pipeline],
        in names: Set<String>?,
        except active: Set<OperationNumber>,
        at calendar: Int64
    ) throws {
        let now = Moment(elapsed: .zero, calendar: calendar)
        let running = try operations(where: .running).filter { !active.contains($0.number) }
        let outcome = running.count == 1 ? Attempt.interrupted : Attempt.interruptedBesideOthers
        var suspects: [String: [OperationNumber]] = [:]
        for operation in running where names?.contains(operation.pipeline) ?? true {
            let reason = "the process ended while it ran"
            try recordAttempt(outcome, of: operation, (nil, nil), reason, at: now)
            let interruptions = Interruptions(
                try AttemptTable.attempts(of: operation.number, in: connection)
            )
            let pipeline = pipelines.first { $0.name == operation.pipeline }
            if let pipeline, interruptions.areTooMany(for: pipeline) {
                let reason = "the process ended \(interruptions.count) times while it ran"
                try refuse(operation.number, reason: reason, mayHaveRun: true)
                continue
            }
            let verdict = OperationTable.Verdict(
                state: .waiting,
                attempts: operation.attempts + 1,
                mayHaveRun: true,
                reason: reason
            )
            try OperationTable.record(verdict, of: operation.number, in: connection)
            try note(.requeued(operation.number))
            if interruptions.areSuspicious {
                suspects[operation.pipeline, default: []].append(operation.number)
            }
        }
        for (_, suspects) in suspects.sorted(by: { $0.key < $1.key }) {
            for number in suspects.dropFirst() {
                let context = HoldTable.suspectContext
                try hold(.init(operation: number, context: context, until: nil, delay: nil))
            }
        }
    }

    /// Lets the next suspect of a pipeline run, when an attempt of one has ended.
    borrowing func releaseNextSuspect(after operation: QueuedOperation) throws {
        guard operation.parts.contains(.attempts),
            let next = try HoldTable.firstSuspect(of: operation.pipeline, in: connection)
        else { return }
        try HoldTable.remove(next, context: HoldTable.suspectContext, in: connection)
        try note(.released(next, context: HoldTable.suspectContext))
    }
}

/// How often the process has ended while an operation ran.
///
/// An operation that ran alone is to blame. Of several, each may be the one that crashes the app:
/// from the second time on, those of a pipeline run one after the other.
private struct Interruptions {
    private let alone: Int
    let count: Int

    init(_ attempts: [Attempt]) {
        alone = attempts.filter { $0.outcome == Attempt.interrupted }.count
        count = alone + attempts.filter { $0.outcome == Attempt.interruptedBesideOthers }.count
    }

    var areSuspicious: Bool { count >= 2 }

    /// Operations of several pipelines may never run alone; three times as many are enough then.
    func areTooMany(for pipeline: Pipeline) -> Bool {
        alone >= pipeline.interruptionsMax || count / 3 >= pipeline.interruptionsMax
    }
}
