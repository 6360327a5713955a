internal import GodwitQueue

/// The operation that brings a replica's local changes to its server.
///
/// One is enqueued in the transaction that makes a replica dirty. What it sends is read when it
/// runs, so that it takes along all that was committed until then.
struct PushReplica: GodwitQueue.Operation {
    static let kind = "godwit.push-replica"

    let replica: String
}
