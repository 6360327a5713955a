internal import GRDB
public import GodwitStore

/// Whether the cloud has an object as it is here.
public enum SyncState: Hashable, Sendable {
    /// Nothing is left to push.
    case synced
    /// Operations push it, in this order, and will run.
    case pending([OperationID])
    /// The app has to merge its object with the cloud's.
    case conflict(OperationID)
    /// The cloud will not have it as it is: an operation that pushes it is a dead letter.
    case deadLetter(OperationID)
}

extension StoreTransaction where Self: ~Copyable {
    /// Whether the cloud has an object as it is here, as far as operations name it in
    /// ``PushOperation/objects``.
    ///
    /// Of several operations the worst counts: a dead letter, then a conflict, then those that
    /// will run.
    public borrowing func syncState(of key: ObjectKey) throws -> SyncState {
        guard try hasQueue() else { return .synced }
        var pending: [OperationID] = []
        var conflict: OperationID?
        for number in try ObjectRecordTable.operations(pushing: key, in: database) {
            guard let operation = try OperationTable.operation(number, in: database) else {
                continue
            }
            switch operation.state {
            case .deadLetter, .unreadable: return .deadLetter(operation.id)
            case .conflict: conflict = conflict ?? operation.id
            case .waiting, .running: pending.append(operation.id)
            }
        }
        if let conflict { return .conflict(conflict) }
        return pending.isEmpty ? .synced : .pending(pending)
    }
}
