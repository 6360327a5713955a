internal import Foundation
internal import GRDB
internal import GodwitStore
internal import GodwitTree

extension WriteTransaction {
    /// Marks operations as running.
    ///
    /// - Returns: Those that were there to be started.
    borrowing func start(
        _ numbers: [OperationNumber],
        epoch: Int64
    ) throws -> [QueuedOperation] {
        try journal().update(in: self) { _ in }
        if isShared, try RunnerTable.row(in: database)?.epoch != epoch {
            throw QueueError.notTheRunner
        }
        return try numbers.compactMap { number in
            guard try OperationTable.start(number, epoch: epoch, in: database) else { return nil }
            if isShared { try note(.started(number)) }
            do {
                return try OperationTable.soundOperation(number, in: database)
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
            guard try OperationTable.adopt(number, epoch: epoch, in: database) else { continue }
            try note(.started(number))
        }
    }

    /// Whether an attempt still counts: nobody has taken the operation away, or over, meanwhile.
    ///
    /// A transfer is no launch's own, and has no epoch: its end counts whoever runs the queue.
    borrowing func isRunning(_ operation: QueuedOperation) throws -> Bool {
        let statement = try PreparedStatement(
            "SELECT epoch FROM godwit_operation WHERE number = ?1 AND state = 'running'",
            in: database
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
        try AttemptTable.add(attempt, of: operation.number, in: database)
    }

    /// Puts an operation back in line that is marked as running although nobody runs it.
    ///
    /// - Parameter epoch: The launch that is said to run it; another one's is left alone.
    borrowing func putBack(_ number: OperationNumber, of epoch: Int64?) throws {
        guard let operation = try OperationTable.operation(number, in: database),
            operation.state == .running, operation.epoch == epoch
        else { return }
        let verdict = OperationTable.Verdict(
            state: .waiting,
            attempts: operation.attempts,
            mayHaveRun: true,
            reason: operation.reason
        )
        try OperationTable.record(verdict, of: number, in: database)
        try note(.requeued(number))
    }

    /// Puts operations back in line whose kind this version of the app knows after all.
    borrowing func reviveReadable(_ pipelines: [Pipeline]) throws {
        for operation in try operations(where: .unreadable) {
            let pipeline = pipelines.first { $0.name == operation.pipeline }
            guard pipeline?.executor(of: operation.kind) != nil,
                (try? OperationTable.soundOperation(operation.number, in: database)) != nil
            else { continue }
            try retryOperation(operation.id)
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
        let reason = "the process ended while it ran"
        for operation in try operations(where: .running)
        where !active.contains(operation.number) && names?.contains(operation.pipeline) ?? true {
            try recordAttempt("interrupted", of: operation, (nil, nil), reason, at: now)
            let pipeline = pipelines.first { $0.name == operation.pipeline }
            let interruptions = try AttemptTable.attempts(of: operation.number, in: database)
                .filter { $0.outcome == "interrupted" }.count
            if let pipeline, interruptions >= pipeline.interruptionsMax {
                let reason = "the process ended \(interruptions) times while it ran"
                try refuse(operation.number, reason: reason)
                continue
            }
            let verdict = OperationTable.Verdict(
                state: .waiting,
                attempts: operation.attempts + 1,
                mayHaveRun: true,
                reason: reason
            )
            try OperationTable.record(verdict, of: operation.number, in: database)
            try note(.requeued(operation.number))
        }
    }
}
