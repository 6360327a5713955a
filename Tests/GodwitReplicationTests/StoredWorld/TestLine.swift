import GodwitStore
import GodwitTree
import Synchronization

@testable import GodwitReplication

/// A server whose line is in memory.
final class TestLine: Sendable {
    private let model = Mutex(LineModel(epoch: Epoch(1)))
    private let startCount = Atomic<UInt32>(0)
    private let machine = LineMachine(replica: .simulated)

    func serve(_ request: ReplicaRequest) throws -> WireAnswer {
        let message = try request.message.transmitted(from: request.client)
        return try model.withLock { model in
            let turn = try message.turn(
                machine,
                model,
                from: request.client,
                newEpoch: Epoch(UInt64(model.head.state.serial) + 2)
            )
            _ = try model.commit(turn.writes, decidedOn: turn.slice)
            return try turn.answer.transmitted
        }
    }

    /// Has the server know a request of a client with this nonce.
    func setNonce(_ nonce: Int64, of client: ClientID) {
        model.withLock { $0.peers[client, default: LinePeer()].nonce = nonce }
    }

    var serial: Int64 { model.withLock { $0.head.state.serial } }

    var objects: [ObjectKey: Value] {
        model.withLock { $0.objects.compactMapValues { $0.value?.value } }
    }

    /// The line, to be put back later.
    var backup: LineModel {
        get { model.withLock { $0 } }
        set {
            model.withLock { model in
                model = newValue
                let count = startCount.add(1, ordering: .relaxed).newValue
                model.open(ServerStart(count))
            }
        }
    }
}

extension Replica {
    /// What does not fit together in the rows.
    func problems(in transaction: borrowing WriteTransaction) throws -> [String] {
        var problems: [String] = []
        let device = device(in: transaction)
        let slice = try device.slice(with: [])
        var sum = ContentSum.empty
        for (key, object) in try device.base().objects(in: .all, sizeMax: .max) ?? [:] {
            sum.replace(nil, with: object, at: key)
        }
        if sum != slice.replica.sum { problems.append("the sum is not that of the base") }
        for (key, row) in slice.pending {
            let object = try row.target()
            if object != slice.objects[key] { problems.append("\(key) is not base and changes") }
        }
        return problems
    }
}
