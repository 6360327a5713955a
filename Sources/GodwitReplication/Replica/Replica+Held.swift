package import GodwitStore
internal import GodwitTree
internal import Synchronization

// Changes that stay here although nothing is wrong with them.

extension Replica {
    /// Has the objects of a request's batch stay here, because no way to the server carries them.
    ///
    /// They are told as refused, with the reason ``Rejection/Reason/tooLarge``, and sent again when they
    /// are edited. The batch itself is under way until the objects were compared: see ``distrust(in:)``.
    package func keepTooLarge(
        _ request: ReplicaRequest,
        in transaction: borrowing WriteTransaction
    ) throws {
        // An edit since then may have made an object small enough.
        try hold(request, .tooLarge, in: transaction) { $0.tail == nil }
    }

    /// Has an object stay here that a request gives back alone, because no way to the server carries it.
    ///
    /// It is an edit of the server's object then, and told as refused, with the reason
    /// ``Rejection/Reason/tooLarge``, once the objects were compared: see ``distrust(in:)``.
    package func withhold(
        _ request: ReplicaRequest,
        in transaction: borrowing WriteTransaction
    ) throws {
        try checkOpenness(in: transaction)
        try session.update(in: transaction) { $0.withhold(request.request) }
    }

    /// Has the objects of a request's batch stay here, because the server says that this device may only read.
    ///
    /// They are told as refused, with the reason ``Rejection/Reason/denied``, and the device follows others
    /// meanwhile. The batch itself is under way until the objects were compared: see ``distrust(in:)``.
    package func deny(
        _ request: ReplicaRequest,
        in transaction: borrowing WriteTransaction
    ) throws {
        try hold(request, .denied, in: transaction) { _ in true }
    }

    private func hold(
        _ request: ReplicaRequest,
        _ reason: Rejection.Reason,
        in transaction: borrowing WriteTransaction,
        where isHeld: (PendingObject) -> Bool
    ) throws {
        try checkOpenness(in: transaction)
        let slice = try device(in: transaction).slice(with: [])
        guard slice.replica.isFrozen, slice.replica.name == request.batch?.name else { return }
        for (key, var row) in slice.frozen where isHeld(row) {
            row.rejection = reason
            try PendingTable.set(row, key, of: number, in: transaction.connection)
        }
        transaction.touch()
    }

    /// Has the objects sent again that the server may take by now: those that the device was not allowed to
    /// write, see ``deny(_:in:)``, and those for which the server had no room.
    package func releaseHeld(in transaction: borrowing WriteTransaction) throws {
        if try PendingTable.releaseHeld(of: number, in: transaction.connection) {
            transaction.touch()
        }
    }

    /// Lets the other objects go first, if a request carries one object that no connection gets through.
    ///
    /// The batch is under way until the objects were compared: see ``distrust(in:)``.
    ///
    /// - Returns: Whether other objects wait.
    package func postpone(
        _ request: ReplicaRequest,
        in transaction: borrowing WriteTransaction
    ) throws -> Bool {
        try checkOpenness(in: transaction)
        let keys = Set((request.batch?.changes ?? [:]).keys)
        let waiting = try PendingTable.others(of: number, countMax: 1, in: transaction.connection)
        guard keys.count == 1, !waiting.isEmpty else { return false }
        postponed.withLock { $0.formUnion(keys) }
        return true
    }
}
