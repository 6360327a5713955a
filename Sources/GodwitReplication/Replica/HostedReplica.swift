internal import GRDB
public import GodwitStore
internal import Synchronization

/// A replica on the server: where the changes of all devices become one line.
///
/// An answer is given when what it says is on disk. Requests are handled one at a time, in the
/// order in which the store takes them.
public final class HostedReplica: Sendable {
    public let name: ReplicaName
    private let store: Store
    private let number: ReplicaNumber
    private let machine: Committed<ServerMachine>
    private let followers = Followers()

    private init(_ machine: ServerMachine, number: ReplicaNumber, store: Store) {
        name = machine.name
        self.machine = Committed(machine)
        self.number = number
        self.store = store
    }

    /// Makes a replica, or opens the one that has the name.
    public static func create(_ name: ReplicaName, in store: Store) async throws -> HostedReplica {
        try store.prepare(ReplicaSchema.schema)
        try await store.write { transaction in
            let database = transaction.database
            guard try HistoryTable.number(of: name, role: .server, in: database) == nil else {
                return
            }
            _ = try HistoryTable.insert(name, role: .server, in: database)
            transaction.touch()
        }
        return try await open(name, in: store)
    }

    /// Opens a replica.
    ///
    /// - Throws: ``ReplicationError/unknownReplica(_:)`` when there is none of this name.
    public static func open(_ name: ReplicaName, in store: Store) async throws -> HostedReplica {
        try store.prepare(ReplicaSchema.schema)
        let (machine, number) = try await store.read { transaction in
            let database = transaction.database
            guard let number = try HistoryTable.number(of: name, role: .server, in: database)
            else { throw ReplicationError.unknownReplica(name.text) }
            let history = try HistoryTable.load(number, in: database)
            let peers = try PeerTable.peers(of: number, in: database)
            return (ServerMachine(name: name, history: history, peers: peers), number)
        }
        return HostedReplica(machine, number: number, store: store)
    }

    /// Answers a client's request.
    ///
    /// - Throws: ``ReplicationError``, or the store's error; nothing has changed then.
    public func exchange(
        _ request: ExchangeRequest,
        from client: ClientID
    ) async throws -> ExchangeResponse {
        let (response, hasMoved) = try await store.write { [self] transaction in
            let before = machine.value.history.head.id
            let (response, peer, writes) = try machine.update(in: transaction) { machine in
                let response = try machine.receive(request, from: client)
                return (response, machine.peers[client], machine.takeWrites())
            }
            try HistoryTable.apply(writes, to: number, in: transaction.database)
            if let peer { try PeerTable.set(peer, client, of: number, in: transaction.database) }
            transaction.touch()
            return (response, response.head != before)
        }
        if hasMoved { followers.notify(response.head) }
        return response
    }

    /// The ids of the head: the current one, then each newer one that is not overtaken.
    public func heads() -> AsyncStream<StateID> {
        followers.subscribe { self.machine.value.history.head.id }
    }

    /// What the replica looks like after the last commit.
    public var current: ServerMachine { machine.value }
}

/// Those who want to know when the head moves.
///
/// A slow one gets the newest head only.
private final class Followers: Sendable {
    private struct State {
        var next = 0
        var continuations: [Int: AsyncStream<StateID>.Continuation] = [:]
    }

    private let state = Mutex(State())

    func subscribe(current: () -> StateID) -> AsyncStream<StateID> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: StateID.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        let ticket = state.withLock { state in
            state.next += 1
            state.continuations[state.next] = continuation
            return state.next
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { state in state.continuations[ticket] = nil }
        }
        continuation.yield(current())
        return stream
    }

    func notify(_ head: StateID) {
        for continuation in state.withLock({ Array($0.continuations.values) }) {
            continuation.yield(head)
        }
    }
}
