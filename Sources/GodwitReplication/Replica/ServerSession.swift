internal import GodwitStore
internal import Synchronization

/// The nonces of the requests to one server, for all replicas of a store.
///
/// The row of the server has a limit that no request has reached: a request that changes nothing on
/// the device writes nothing either. After a restart the nonces go on behind the limit.
struct NonceBlock: Sendable {
    /// The nonce of the last request.
    private(set) var last: Int64 = 0
    /// The row as this program has written it.
    private var row: DeviceIdentity?

    private static let size: Int64 = 1_024

    /// Takes the next nonce.
    ///
    /// - Parameter identity: The row of the server; another program may have written it.
    /// - Returns: The row to write, if the limit moves.
    mutating func next(_ identity: DeviceIdentity) -> DeviceIdentity? {
        if identity != row { (last, row) = (identity.nonce, identity) }
        last += 1
        guard last > identity.nonce else { return nil }
        row = DeviceIdentity(client: identity.client, nonce: last + Self.size - 1)
        return row
    }
}

/// What the replicas of a store share in memory, for each server.
final class ServerSessions: Sendable {
    private let blocks = Mutex<[ServerNumber: Committed<NonceBlock>]>([:])

    func nonces(for server: ServerNumber) -> Committed<NonceBlock> {
        blocks.withLock { blocks in
            let block = blocks[server] ?? Committed(NonceBlock())
            blocks[server] = block
            return block
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
