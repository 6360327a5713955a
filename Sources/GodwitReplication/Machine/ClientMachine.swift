internal import GodwitStore
public import GodwitTree

// The client's half of the exchange, as a pure value.
//
// The line on a client is short: the root, `base` (the last state adopted from the server) and,
// while a batch is on its way, `target` (what the batch leads to). Behind the head come
// in the tail the local changes that no batch has taken yet.
//
//   root ──► base ──batch──► target ──tail──► local
//
//   (1) A batch is frozen before it is sent, and is sent in the same words until the server has
//       acknowledged it. Batches are numbered 1, 2, 3, …, one at a time.
//   (2) What arrives is applied at once, under the local changes: the tail is merged on top.
//   (3) What arrives is checked against the content that its id names before anything changes.
//   (4) When the server does not know the base, the batch thaws: it was not applied, its changes
//       are in the tail again, and all is merged with what the server has.
//   (5) When the server has lost batches that it had acknowledged, nothing is taken for removed:
//       both sides' content is united.

/// The state of one replica on a device.
public struct ClientMachine: Sendable {
    public let name: ReplicaName
    let client: ClientID
    /// The root, the base and, while a batch is under way, its target.
    public internal(set) var history: History
    /// The last state adopted from the server.
    public internal(set) var base: StateID
    /// The number of the last batch that was frozen.
    var sequence: Int64
    /// The value with all local changes.
    public internal(set) var local: Value
    private var asksForAll = false
    /// What the server can read, as far as it has said.
    private var serverFeatures: ExchangeFeatures = []

    init(name: ReplicaName, client: ClientID) {
        self.name = name
        self.client = client
        history = History()
        base = .root
        sequence = 0
        local = .map([:])
    }

    /// Restores a machine from what was stored.
    init(
        name: ReplicaName,
        client: ClientID,
        history: History,
        base: StateID,
        sequence: Int64
    ) throws(ReplicationError) {
        self.name = name
        self.client = client
        self.history = history
        self.base = base
        self.sequence = sequence
        local = history.headValue
        let tail = try history.tailDelta()
        do throws(TreeError) {
            local = try tail.applied(to: history.headValue)
        } catch {
            throw .damagedHistory(reason: error.description)
        }
    }

    /// Whether changes wait to be sent, or to be acknowledged.
    public var isDirty: Bool { hasPending || hasBatch }

    /// Whether there are changes that no batch has taken yet.
    var hasPending: Bool { !history.tail.isEmpty }

    /// Whether a frozen batch waits to be acknowledged.
    var hasBatch: Bool { history.head.id != base }
}

// MARK: - What happened

extension ClientMachine {
    /// Takes in a local change.
    ///
    /// - Throws: ``ReplicationError/damagedHistory(reason:)`` when the change does not fit.
    mutating func record(_ delta: Delta) throws(ReplicationError) {
        do throws(TreeError) {
            local = try delta.applied(to: local)
        } catch {
            throw .damagedHistory(reason: error.description)
        }
        try history.extendTail(by: delta)
    }

    /// The next request; freezes the tail when no batch is under way.
    mutating func makeRequest(nonce: Int64) throws(ReplicationError) -> ExchangeRequest {
        if asksForAll {
            return ExchangeRequest(nonce: nonce, have: StateID.root.abbreviation, batch: nil)
        }
        if !hasBatch, hasPending { freeze() }
        guard hasBatch else {
            return ExchangeRequest(nonce: nonce, have: base.abbreviation, batch: nil)
        }
        let last = history.states.count - 1
        let check = history.head.id.content.bytes.prefix(ExchangeRequest.checkSizeInBytes)
        let delta = try ExchangeDelta(
            history.delta(from: last - 1, to: last),
            on: history.value(at: last - 1),
            serverFeatures.packing(for: ExchangeRequest.budget)
        )
        let batch = ExchangeRequest.Batch(
            sequence: sequence,
            check: Array(check),
            delta: delta
        )
        return ExchangeRequest(nonce: nonce, have: base.abbreviation, batch: batch)
    }

    /// Takes in the server's answer to a request, and returns how the local value changes.
    ///
    /// An answer that was overtaken by another changes nothing. When this throws, the machine is
    /// as it was; after ``ReplicationError/wrongContent``, ``askForAll()`` is the remedy.
    mutating func receive(
        _ response: ExchangeResponse,
        to request: ExchangeRequest
    ) throws(ReplicationError) -> Delta {
        guard isCurrent(request) else { return .keep }
        var next = self
        next.serverFeatures = response.features
        let change = try next.adopt(response, to: request)
        self = next
        return change
    }

    /// Makes the next request ask for everything, because an answer could not be used.
    mutating func askForAll() { asksForAll = true }

    /// The change that gives these objects new values, or removes them.
    func delta(setting objects: [ObjectKey: Value?]) -> Delta {
        var changes: [Key: [Key: MapDelta.Change]] = [:]
        for (object, value) in objects {
            let old = local[object.collection]?[object.key]
            let change: MapDelta.Change
            switch (old, value) {
            case (_, nil): change = .remove
            case (nil, let value?): change = .apply(.set(value))
            case (let old?, let value?): change = .apply(.diff(old, value))
            }
            guard change != .remove || old != nil else { continue }
            changes[object.collection, default: [:]][object.key] = change
        }
        return .map(
            changes.reduce(into: [:]) { result, collection in
                let delta = Delta.map(collection.value)
                let isThere = local[collection.key]?.map != nil
                let inner = isThere ? delta : delta.creatingMap
                result[collection.key] = .apply(inner)
            }
        )
    }

    private func isCurrent(_ request: ExchangeRequest) -> Bool {
        if asksForAll { return request.batch == nil && request.have == StateID.root.abbreviation }
        let batch = hasBatch ? sequence : nil
        return request.have == base.abbreviation && request.batch?.sequence == batch
    }
}

// MARK: - Transitions

extension ClientMachine {
    /// Makes a batch of the tail: invariant (1).
    private mutating func freeze() {
        sequence += 1
        let id = StateID(content: local.digest, replica: name.text, parents: [base])
        history.nameTail(id, value: local)
    }

    /// Puts the batch back into the tail: invariant (4).
    private mutating func thaw() throws(ReplicationError) {
        if hasBatch { try history.unnameHead() }
    }

    private mutating func adopt(
        _ response: ExchangeResponse,
        to request: ExchangeRequest
    ) throws(ReplicationError) -> Delta {
        let lost = response.acknowledged < sequence - (hasBatch ? 1 : 0)
        let isAcknowledged = hasBatch && response.acknowledged >= sequence
        if !isAcknowledged { try thaw() }
        sequence = response.acknowledged
        let (value, told) = try value(of: response, to: request, isAcknowledged: isAcknowledged)
        asksForAll = false

        let old = local
        let start = history.headValue
        // As for the server: an item may have been removed and brought back on the way.
        let arrived = told.hasIncrement ? told : Delta.diff(start, value)
        var tail = try history.tailDelta()
        if lost {
            local = old.united(with: value)
            tail = .keep
        } else if arrived != .keep {
            let merge = try merge(start, arrived, tail)
            local = merge.value
            tail = merge.afterOurs
        }
        if !tail.hasIncrement { tail = .diff(value, local) }
        let isSettled = response.head == history.head.id && !lost
        if !isSettled { try move(to: response.head, by: arrived, value, tail) }
        base = response.head
        try history.fold(keeping: [base])
        return .diff(old, local)
    }

    /// Makes the server's head the head here, with the local changes behind it.
    private mutating func move(
        to head: StateID,
        by arrived: Delta,
        _ value: Value,
        _ tail: Delta
    ) throws(ReplicationError) {
        if head == base, hasBatch {
            // The batch came to nothing: the server is where it was.
            try history.unnameHead()
        } else if head != history.head.id {
            history.append(head, by: arrived, to: value)
        }
        history.replaceTail(by: tail)
    }

    /// The value of the server's head, checked: invariant (3); and the change from the head here,
    /// as far as it was told.
    private func value(
        of response: ExchangeResponse,
        to request: ExchangeRequest,
        isAcknowledged: Bool
    ) throws(ReplicationError) -> (Value, Delta) {
        let origin: Value
        switch response.origin {
        case .root: origin = .map([:])
        case .target:
            guard isAcknowledged else { throw .malformedMessage(reason: "there is no target") }
            origin = history.headValue
        case .have:
            guard let index = history.index(abbreviation: request.have) else {
                throw .damagedHistory(reason: "the base is not on the line")
            }
            origin = try history.value(at: index)
        }
        let delta = try response.delta.delta(on: origin, budget: ExchangeResponse.budget)
        let value: Value
        do throws(TreeError) {
            value = try delta.applied(to: origin)
        } catch {
            throw .invalidDelta(reason: error.description)
        }
        if delta == .keep, response.head == history.head.id { return (value, .keep) }
        guard value.digest == response.head.content else { throw .wrongContent }
        return (value, origin == history.headValue ? delta : .keep)
    }

    /// The local value on top of what arrived: invariant (2).
    private func merge(
        _ start: Value,
        _ arrived: Delta,
        _ tail: Delta
    ) throws(ReplicationError) -> Merge {
        do throws(TreeError) {
            return try Merge(base: start, ours: arrived, theirs: tail)
        } catch {
            throw .damagedHistory(reason: error.description)
        }
    }
}

extension Delta {
    /// The same change where there is no map yet.
    fileprivate var creatingMap: Delta {
        guard self != .keep, let map = try? applied(to: .map([:])) else { return .keep }
        return .set(map)
    }
}
