internal import GodwitStore
internal import Synchronization

/// The nonces of the requests to one server, for all replicas of a store.
///
/// The row of the server has a limit that no request has reached: a request that changes nothing on
/// the device writes nothing either. After a restart the nonces go on behind the limit. A nonce that
/// was taken stays taken, whether the transaction commits or not.
final class ServerNonces: Sendable {
    private static let blockSize: Int64 = 1_024

    /// The row as this program knows it.
    private let row = Committed<DeviceIdentity?>(nil)
    private let taken = Mutex<DeviceIdentity?>(nil)

    /// The last nonce that was taken.
    var last: Int64 { taken.withLock { $0?.nonce ?? 0 } }

    /// Whether no other program has taken nonces since this one has.
    ///
    /// - Parameter identity: The row of the server.
    func areOwn(
        _ identity: DeviceIdentity,
        in transaction: borrowing WriteTransaction
    ) throws -> Bool { try row.update(in: transaction) { $0 == identity } }

    /// Takes the next nonce.
    ///
    /// - Parameter identity: The row of the server.
    /// - Returns: The row to write, if the limit moves.
    func take(
        _ identity: DeviceIdentity,
        in transaction: borrowing WriteTransaction
    ) throws -> DeviceIdentity? {
        let areOwn = try areOwn(identity, in: transaction)
        let nonce = taken.withLock { taken in
            let isSame = taken?.client == identity.client
            let known = isSame ? taken?.nonce ?? 0 : 0
            let nonce = (areOwn && isSame ? known : max(known, identity.nonce)) + 1
            taken = DeviceIdentity(client: identity.client, nonce: nonce)
            return nonce
        }
        var limit = identity
        if nonce > limit.nonce { limit.nonce = nonce + Self.blockSize - 1 }
        try row.update(in: transaction) { [limit] in $0 = limit }
        return limit == identity ? nil : limit
    }

    /// Counts on from a nonce that the server has seen.
    func pass(_ identity: DeviceIdentity) {
        taken.withLock { taken in
            guard let last = taken, last.client == identity.client else { return }
            taken?.nonce = max(last.nonce, identity.nonce)
        }
    }
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
