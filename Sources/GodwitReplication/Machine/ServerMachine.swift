internal import GodwitStore
internal import GodwitTree

// The server's half of the exchange, as a pure value.
//
// The server is where changes become a line. A batch that was made on the head extends it; one
// that was made on an older state is merged, and the merge extends it. The machine never waits
// for a client and never refuses a well-formed batch.
//
//   (1) Of each client the batches 1, 2, 3, … each become part of the line once. A batch that
//       comes again is answered, not applied. Neither is one in a message that is older than
//       another that was seen: its client may have taken it back meanwhile.
//   (2) A client's refs, `acked` and `sent`, move only by a message of that client that names
//       the state, and never by one that is older than another that was seen.
//   (3) Every state that a client may have is a ref. So its base is always known, whatever
//       messages are lost, and at most 2 x clients + 1 states are kept.

/// The state of one replica on the server.
public struct ServerMachine: Sendable {
    /// What the server knows of one client.
    public struct Peer: Hashable, Sendable {
        /// The state that the client last said it has.
        public internal(set) var acked: StateID?
        /// The state that was last sent to it, while it has not said that it has it.
        public internal(set) var sent: StateID?
        var nonce: Int64 = 0
        /// Its last batch that became part of the line.
        var sequence: Int64 = 0

        init() {}
    }

    public let name: ReplicaName
    public private(set) var history: History
    public private(set) var peers: [ClientID: Peer]

    /// A replica that nobody has written to.
    public init(name: ReplicaName) {
        self.init(name: name, history: History(), peers: [:])
    }

    init(name: ReplicaName, history: History, peers: [ClientID: Peer]) {
        self.name = name
        self.history = history
        self.peers = peers
    }

    /// Answers one request: the machine is as it was when this throws.
    public mutating func receive(
        _ request: ExchangeRequest,
        from client: ClientID
    ) throws(ReplicationError) -> ExchangeResponse {
        var next = self
        let response = try next.answer(request, from: client)
        self = next
        return response
    }

    mutating func takeWrites() -> [HistoryWrite] { history.takeWrites() }
}

extension ServerMachine {
    private mutating func answer(
        _ request: ExchangeRequest,
        from client: ClientID
    ) throws(ReplicationError) -> ExchangeResponse {
        var peer = peers[client] ?? Peer()
        let isFresh = request.nonce > peer.nonce
        let base = history.index(abbreviation: request.have)
        if isFresh {
            peer.nonce = request.nonce
            if let base { peer.moveAcked(to: history.states[base].id) }
        }

        var target: Target?
        if isFresh, let batch = request.batch, let base, batch.sequence == peer.sequence + 1 {
            target = try accept(batch, on: base)
            peer.sequence = batch.sequence
        }

        let response = try response(to: request, base: base, target: target, peer: peer)
        if isFresh { peer.sent = history.head.id == peer.acked ? nil : history.head.id }
        peers[client] = peer
        try history.fold(keeping: refs)
        return response
    }

    /// What a batch leads to on its client.
    private struct Target {
        let value: Value
        /// The way from there to the head.
        let rest: Delta
    }

    /// Makes a batch part of the line.
    private mutating func accept(
        _ batch: ExchangeRequest.Batch,
        on base: Int
    ) throws(ReplicationError) -> Target {
        let baseValue = try history.value(at: base)
        let delta = try batch.delta.delta(on: baseValue, budget: ExchangeRequest.budget)
        let target: Value
        do throws(TreeError) {
            target = try delta.applied(to: baseValue)
        } catch {
            throw .invalidDelta(reason: error.description)
        }
        let content = target.digest
        guard content.bytes.starts(with: batch.check) else { throw .wrongContent }
        let id = StateID(
            content: content,
            replica: name.text,
            parents: [history.states[base].id]
        )

        if base == history.states.count - 1 {
            if delta != .keep { history.append(id, by: delta, to: target) }
            return Target(value: target, rest: .keep)
        }
        // Who adds one to a number wants it to be one more, also where others came to the same.
        guard content != history.head.id.content || delta.hasIncrement else {
            return Target(value: target, rest: .keep)
        }
        let rest = try merge(delta, on: base, baseValue, parent: id)
        return Target(value: target, rest: rest)
    }

    /// Merges a change into the head, and returns what its client has still to do.
    private mutating func merge(
        _ delta: Delta,
        on base: Int,
        _ baseValue: Value,
        parent: StateID
    ) throws(ReplicationError) -> Delta {
        // Composing the edges would do, but for an item that was removed and brought back on the
        // way: in the difference of the two values it is still the same item. What was added to a
        // number, though, only the edges know.
        let edges = try history.delta(from: base, to: history.states.count - 1)
        let ours = edges.hasIncrement ? edges : Delta.diff(baseValue, history.headValue)
        let merge: Merge
        do throws(TreeError) {
            merge = try Merge(base: baseValue, ours: ours, theirs: delta)
        } catch {
            throw .damagedHistory(reason: error.description)
        }
        let content = merge.value.digest
        guard content != history.head.id.content else { return merge.afterTheirs }
        let id = StateID(
            content: content,
            replica: name.text,
            parents: [history.head.id, parent]
        )
        history.append(id, by: merge.afterOurs, to: merge.value)
        return merge.afterTheirs
    }

    /// The shortest way to the head that the client can go.
    private func response(
        to request: ExchangeRequest,
        base: Int?,
        target: Target?,
        peer: Peer
    ) throws(ReplicationError) -> ExchangeResponse {
        let last = history.states.count - 1
        let (origin, start, delta): (ExchangeResponse.Origin, Value, Delta)
        switch (target, base) {
        case (let target?, _):
            (origin, start, delta) = (.target, target.value, target.rest)
        case (nil, let base?):
            delta = try history.delta(from: base, to: last)
            (origin, start) = (.have, delta == .keep ? [:] : try history.value(at: base))
        case (nil, nil):
            (origin, start, delta) = (.root, [:], .diff([:], history.headValue))
        }
        return ExchangeResponse(
            acknowledged: peer.sequence,
            head: history.head.id,
            origin: origin,
            delta: try ExchangeDelta(
                delta,
                on: start,
                request.features.packing(for: ExchangeResponse.budget)
            )
        )
    }

    private var refs: Set<StateID> {
        Set(peers.values.flatMap { [$0.acked, $0.sent].compactMap { $0 } })
    }
}

extension ServerMachine.Peer {
    fileprivate mutating func moveAcked(to id: StateID) {
        acked = id
        if sent == id { sent = nil }
    }
}
