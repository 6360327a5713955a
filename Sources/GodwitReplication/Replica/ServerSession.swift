internal import GodwitStore
internal import Synchronization

/// The nonces of the requests to one server, for all replicas of a store.
///
/// The row of the server has a limit that no request has reached: a request that changes nothing on
/// the device writes nothing either. After a restart the nonces go on behind the limit. A nonce that
/// was taken stays taken, whether the transaction commits or not.
final class ServerNonces: Sendable {
    private static let blockSize: Int64 = 1_024

    private struct Row {
        /// The row as this program knows it.
        var identity: DeviceIdentity?
        /// Counts the programs that have taken nonces in between, and the device's ids.
        var generation = 0
    }

    private let row = Committed(Row())
    private let taken = Mutex<Int64>(0)

    /// The last nonce that was taken.
    var last: Int64 { taken.withLock(\.self) }

    /// The generation of the nonces, if no other program has taken any since this one has.
    ///
    /// - Parameter identity: The row of the server.
    func generation(
        _ identity: DeviceIdentity,
        in transaction: borrowing WriteTransaction
    ) throws -> Int? {
        try row.update(in: transaction) { $0.identity == identity ? $0.generation : nil }
    }

    /// Takes the next nonce.
    ///
    /// - Parameter identity: The row of the server.
    /// - Returns: The row to write, if the limit moves, and the generation of the nonce.
    func take(
        _ identity: DeviceIdentity,
        in transaction: borrowing WriteTransaction
    ) throws -> (row: DeviceIdentity?, generation: Int) {
        let areOwn = try generation(identity, in: transaction) != nil
        let nonce = taken.withLock { taken in
            taken = (areOwn ? taken : max(taken, identity.nonce)) + 1
            return taken
        }
        var limit = identity
        if nonce > limit.nonce { limit.nonce = nonce + Self.blockSize - 1 }
        let generation = try row.update(in: transaction) { [limit] row in
            row.identity = limit
            if !areOwn { row.generation += 1 }
            return row.generation
        }
        return (limit == identity ? nil : limit, generation)
    }

    /// Counts on from a nonce that the server has seen.
    func pass(_ nonce: Int64) { taken.withLock { $0 = max($0, nonce) } }
}

/// What the replicas of a store share in memory, for each server.
final class ServerSessions: Sendable {
    private let nonces = Mutex<[ServerNumber: ServerNonces]>([:])

    func nonces(of server: ServerNumber) -> ServerNonces {
        nonces.withLock { nonces in
            let found = nonces[server] ?? ServerNonces()
            nonces[server] = found
            return found
        }
    }
}

/// The rows that a transaction has found, for objects whose edits it records.
///
/// Hooks see a change again when another hook has added to it, and its whole delta is recorded anew.
final class RecordedRows: TransactionParticipant {
    private let rows = Mutex<[ObjectKey: PendingObject]>([:])

    subscript(key: ObjectKey) -> PendingObject? { rows.withLock { $0[key] } }

    func remember(_ row: PendingObject, _ key: ObjectKey) { rows.withLock { $0[key] = row } }

    private func forget() { rows.withLock { $0 = [:] } }

    func requestSucceeded() { forget() }
    func requestFailed() { forget() }
    func committed() { forget() }
    func rolledBack() { forget() }
}
