internal import GRDB
internal import GodwitStore
internal import Synchronization

// MARK: - Transfers that outlive the process

extension PushQueue {
    /// Takes an operation for running whose transfer goes on outside of this process: a background
    /// upload that the system carries on with while the app is not there.
    ///
    /// Call it before ``run()`` for every transfer that the system still has; the operation is not
    /// started again then. ``finish(_:with:)`` reports how the transfer ended.
    ///
    /// - Parameters:
    ///   - id: The operation.
    ///   - cancel: Called when the operation is skipped or completed meanwhile.
    /// - Throws: ``QueueError/unknownOperation(_:)``: it is completed already, say, and the
    ///   transfer may be dropped.
    public func markActive(
        _ id: OperationID,
        onCancel cancel: @escaping @Sendable () -> Void = {}
    ) async throws {
        let number = try await number(of: id)
        let epoch = state.withLock { state in
            state.attempts.markActive(number, CancellableRun(cancel: cancel))
            return state.isRunning ? state.epoch : nil
        }
        guard let epoch else { return }
        try await store.write { try $0.adopt([number], epoch: epoch) }
    }

    /// Says how a transfer ended that was marked active.
    ///
    /// - Throws: ``QueueError/unknownOperation(_:)``; ``QueueError/wrongState(_:_:)`` when it was
    ///   not marked active; what the store throws: the outcome is not recorded then, and may be
    ///   reported again.
    public func finish(_ id: OperationID, with outcome: Outcome) async throws {
        let number = try await number(of: id)
        let marked = state.withLock { $0.attempts.transfer(number) }
        let isMarked = marked != nil
        // The queue may not run yet, and not have taken the transfer over.
        let found = try await store.write { transaction in
            if isMarked {
                let epoch = try RunnerTable.row(in: transaction.connection)?.epoch ?? 0
                try transaction.adopt([number], epoch: epoch)
            }
            return try transaction.operation(id)
        }
        guard var operation = found else { throw QueueError.unknownOperation(id) }
        guard operation.state == .running else {
            throw QueueError.wrongState(id, operation.state)
        }
        // The queue may begin to run just now; the end of a transfer counts all the same.
        if isMarked { operation.epoch = nil }
        // It ends by itself: there is nothing to cancel any more, and nothing to take for running.
        if isMarked { state.withLock { $0.attempts.markEnding(number) } }
        do {
            try await record(outcome, of: OperationRun(operation, began: now.elapsed) { _ in })
            state.withLock { _ = $0.attempts.endTransfer(number) }
        } catch {
            if let marked { state.withLock { $0.attempts.markActive(number, marked) } }
            throw error
        }
    }

    /// Tells how much of a transfer is done, from 0 to 1.
    public func report(_ fraction: Double, of id: OperationID) async throws {
        let number = try await number(of: id)
        change { state, _ in state.progressed(number, to: fraction) }
    }

    private func number(of id: OperationID) async throws -> OperationNumber {
        let found = try await store.read { try $0.operation(id)?.number }
        guard let found else { throw QueueError.unknownOperation(id) }
        return found
    }
}
