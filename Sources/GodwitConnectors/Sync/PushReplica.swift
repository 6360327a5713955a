internal import GodwitQueue
internal import GodwitReplication
internal import GodwitStore
internal import Synchronization

/// The operation that brings a replica's local changes to its server.
///
/// One is enqueued in the transaction that makes a replica dirty. What it sends is read when it
/// runs, so that it takes along all that was committed until then.
struct PushReplica: GodwitQueue.Operation {
    static let kind = "godwit.push-replica"

    let replica: String
}

/// Enqueues pushes of one replica, unless one waits already.
final class PushMarker: Sendable {
    private let name: ReplicaName
    private let pipeline: String
    /// The last push, whether its transaction was committed or not.
    private let last = Mutex<OperationID?>(nil)

    init(_ name: ReplicaName, pipeline: String) {
        self.name = name
        self.pipeline = pipeline
    }

    /// Finds a push that an earlier launch has left.
    func findWaiting(in transaction: borrowing some Transaction & ~Copyable) throws {
        try transaction.forEachOperation(in: pipeline, where: .waiting) { operation in
            let push = try? operation.decoded(as: PushReplica.self)
            guard push?.replica == name.text else {
                return true
            }
            last.withLock { $0 = operation.id }
            return false
        }
    }

    func enqueue(in transaction: borrowing WriteTransaction) throws {
        let known = last.withLock(\.self)
        if let known, try transaction.operation(known)?.state == .waiting { return }
        let push = PushReplica(replica: name.text)
        let id = try transaction.enqueue(push, Placement(pipeline: pipeline))
        last.withLock { $0 = id }
    }
}
