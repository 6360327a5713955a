internal import GodwitQueue
internal import GodwitReplication
internal import GodwitStore
internal import Synchronization

/// The operation that brings a replica's local changes to its server.
///
/// One is enqueued in the transaction that makes a replica dirty. What it sends is read when it
/// runs, so that it takes along all that was committed until then.
struct PushReplica: PushOperation {
    static let kind = "godwit.push-replica"

    let replica: String

    /// Why a push is tried again whose replica is not open.
    static func isNotOpen(_ name: ReplicaName) -> String { "the replica \"\(name)\" is not open" }
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
    func findWaiting(in transaction: borrowing some StoreTransaction & ~Copyable) throws {
        try transaction.forEachOperation(in: pipeline, where: .waiting) { operation in
            guard isPush(operation) else { return true }
            last.withLock { $0 = operation.id }
            return false
        }
    }

    /// Whether an operation is a push of the replica.
    ///
    /// After a rollback another operation may have the id of one that was never there.
    func isPush(_ operation: QueuedOperation) -> Bool {
        operation.kind == PushReplica.kind && operation.pipeline == pipeline
            && (try? operation.decoded(as: PushReplica.self))?.replica == name.text
    }

    /// Has a push begin at once that has failed because the replica was not open.
    func hasten(in transaction: borrowing WriteTransaction) throws {
        guard let known = last.withLock(\.self), let operation = try transaction.operation(known),
            operation.state == .waiting, operation.reason == PushReplica.isNotOpen(name),
            isPush(operation)
        else { return }
        do {
            try transaction.retryOperation(known)
        } catch QueueError.wrongState {
            // It waits for something else.
        }
    }

    func enqueue(in transaction: borrowing WriteTransaction) throws {
        if let known = last.withLock(\.self), let operation = try transaction.operation(known),
            operation.state == .waiting, isPush(operation)
        {
            return
        }
        let push = PushReplica(replica: name.text)
        let id = try transaction.enqueue(push, Placement(pipeline: pipeline))
        last.withLock { $0 = id }
    }
}
