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
    /// - Parameter cancel: Called when the operation is skipped or completed meanwhile.
    /// - Throws: ``QueueError/unknownOperation(_:)``: it is completed already, say, and the
    ///   transfer may be dropped.
    public func markActive(
        _ id: OperationID,
        onCancel cancel: @escaping @Sendable () -> Void = {}
    ) async throws {
        let number = try await number(of: id)
        let epoch = state.withLock { state in
            state.transfers[number] = CancellableRun(cancel: cancel)
            return state.isRunning ? state.epoch : nil
        }
        guard let epoch else { return }
        try await store.write { try $0.adopt([number], epoch: epoch) }
    }

    /// Says how a transfer ended that was marked active.
    ///
    /// - Throws: ``QueueError/unknownOperation(_:)``; what the store throws: the outcome is not
    ///   recorded then, and may be reported again.
    public func finish(_ id: OperationID, with outcome: Outcome) async throws {
        let found = try await store.read { try $0.operation(id) }
        guard let operation = found else { throw QueueError.unknownOperation(id) }
        let transfer = state.withLock { $0.transfers.removeValue(forKey: operation.number) }
        do {
            try await record(outcome, of: OperationRun(operation) { _ in })
        } catch {
            if let transfer { state.withLock { $0.transfers[operation.number] = transfer } }
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
