public import GodwitStore
internal import Synchronization

// MARK: - Suspending

extension PushQueue {
    /// Starts nothing any more until it is resumed; what runs goes on.
    ///
    /// Suspensions are counted by reason, and end with the launch.
    ///
    /// - Parameters:
    ///   - reason: What the suspension is counted by, and shown with.
    ///   - pipeline: nil for all of them.
    ///   - count: How often it has to be resumed.
    public func suspend(_ reason: String, pipeline: String? = nil, count: Int = 1) {
        control(pipeline) { $0.suspend($1, reason: reason, count: count) }
    }

    /// Takes one suspension for this reason back; without one nothing happens.
    public func resume(_ reason: String, pipeline: String? = nil) {
        control(pipeline) { $0.resume($1, reason: reason) }
    }

    /// How often a pipeline, or the queue itself, is suspended, by reason.
    public func suspensions(pipeline: String? = nil) -> [String: Int] {
        state.withLock { state in
            guard let pipeline else {
                return state.machine.suspensions.filter { $0.key != QueueState.notRunning }
            }
            return state.lane(of: pipeline).map { state.machine.lanes[$0].suspensions } ?? [:]
        }
    }

    public func setMaxConcurrent(_ maxConcurrent: Int, pipeline: String = Pipeline.defaultName) {
        control(pipeline) { machine, lane in
            if let lane { machine.setLimit(maxConcurrent, of: lane) }
        }
    }

    private func control(_ pipeline: String?, _ body: (inout QueueMachine, Int?) -> Void) {
        change { state, _ in
            state.control { machine, lane in
                guard let pipeline else { return body(&machine, nil) }
                if let index = lane(pipeline) { body(&machine, index) }
            }
        }
    }
}

// MARK: - Waiting

extension PushQueue {
    /// Waits until no operation of this commit, or of an earlier one, is left in line.
    ///
    /// Dead letters are not in line. If the queue does not run yet, this waits until it does.
    ///
    /// - Throws: `CancellationError` when the surrounding task is cancelled;
    ///   ``QueueError/stopped`` when the queue stops before the operations are through.
    public func finish(through commit: CommitNumber) async throws {
        let id = state.withLock { $0.waiters.announce() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                change { state, _ in
                    state.wait(id, through: commit) { continuation.resume(with: $0) }
                }
            }
        } onCancel: {
            change { state, _ in state.cancelWait(id) }
        }
    }
}

// MARK: - Status

extension PushQueue {
    /// Where an operation stands, and why.
    public func status(of id: OperationID) async throws -> OperationStatus {
        try await loadIfNeeded()
        // Memory is a moment behind the database after each commit; the second look tells
        // whether an operation is gone, or new.
        for _ in 0..<2 {
            switch try await store.read({ try $0.place(of: id) }) {
            case .unfinished(let number):
                let now = now
                let status = state.withLock { $0.status(of: number, at: now) }
                if status != .unknown { return status }
            case .gone(let fate): return .finished(fate)
            case .unknown: return .unknown
            }
        }
        let (found, place) = try await store.read { transaction in
            (try transaction.operation(id), try transaction.place(of: id))
        }
        guard let operation = found else {
            // It may have left since the second look.
            if case .gone(let fate) = place { return .finished(fate) }
            return .unknown
        }
        let isOurs = pipelines.contains { $0.name == operation.pipeline }
        return OperationStatus(operation, isOurs: isOurs)
    }

    public var summary: QueueSummary { state.withLock { $0.summary } }
}

/// Where an operation is to be found.
enum OperationPlace: Sendable {
    case unfinished(OperationNumber)
    case gone(OperationResult)
    case unknown
}

extension StoreTransaction where Self: ~Copyable {
    borrowing func place(of id: OperationID) throws -> OperationPlace {
        guard try hasQueue() else { return .unknown }
        if let number = try OperationTable.number(of: id, in: database) {
            return .unfinished(number)
        }
        return try ResultTable.result(of: id, in: database).map(OperationPlace.gone) ?? .unknown
    }
}
