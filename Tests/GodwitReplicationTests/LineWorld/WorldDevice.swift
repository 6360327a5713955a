import GodwitStore
import GodwitTree

@testable import GodwitReplication

/// A device of the world: its rows, which outlive it, and what it has in memory.
struct WorldDevice: Hashable {
    private(set) var slice: DeviceSlice
    /// The states that were adopted.
    private(set) var adopted: [LineState] = []
    /// Counts the launches; answers to requests of an older one do not arrive.
    var launch = 0
    /// How often the server did not have its base.
    private(set) var recoveryCount = 0
    /// Whether it has kept its objects beside those of a server that did not know it.
    var hasUnited = false
    // What a kill takes.
    private(set) var isWaiting = false
    private var needsRecovery = false
    private var recovery: Recovery?

    private struct Recovery: Hashable {
        let answer: RecoveryAnswer
        var comparison: RangeComparison
        var isGivingBack = false
    }

    private var machine: DeviceMachine { DeviceMachine() }

    init(client: ClientID) {
        slice = DeviceSlice(
            replica: DeviceReplica(),
            identity: DeviceIdentity(client: client),
            pending: [:],
            objects: [:]
        )
    }

    func isSettled(with head: LineState) -> Bool {
        slice.replica.base == head && recovery == nil && !needsRecovery
            && slice.pending.values.allSatisfy { $0.rejection != nil }
    }

    mutating func die() {
        launch += 1
        giveUp()
        needsRecovery = false
        recovery = nil
    }

    /// Waits no longer for the answer.
    mutating func giveUp() { isWaiting = false }
}

// MARK: - Edits

extension WorldDevice {
    var objects: [ObjectKey: VersionedValue] { slice.objects }

    /// The number of the edit that wrote a card or a note.
    func number(of key: ObjectKey) -> Int64? { objects[key]?.value["id"]?.integer }

    /// Changes an object, as a transaction of the app does.
    mutating func change(_ key: ObjectKey, by delta: ObjectDelta) throws {
        let old = slice.objects[key]
        slice.pending[key] = try machine.record(delta, of: old, pending: slice.pending[key])
        slice.objects[key] = try delta.applied(to: old)
    }
}

// MARK: - Exchange

extension WorldDevice {
    mutating func nextRequest(name: BatchName) throws -> WorldRequest {
        isWaiting = true
        slice.identity.nonce += 1
        if needsRecovery { return .recovery(recoveryRequest) }
        if let recovery {
            if recovery.isGivingBack { return .restoration(restoration(recovery)) }
            return .comparison(with: recovery.answer.state, recovery.comparison.open)
        }
        _ = try machine.freeze(&slice, name: name)
        let request = LineRequest(
            client: slice.identity.client,
            nonce: slice.identity.nonce,
            slot: try machine.slot(slice)
        )
        return .exchange(request)
    }

    private var recoveryRequest: RecoveryRequest {
        RecoveryRequest(
            client: slice.identity.client,
            nonce: slice.identity.nonce,
            former: slice.replica.former,
            epoch: slice.replica.epoch,
            adopted: adopted
        )
    }

    private func restoration(_ recovery: Recovery) -> RestorationRequest {
        RestorationRequest(
            client: slice.identity.client,
            nonce: slice.identity.nonce,
            epoch: slice.replica.epoch ?? recovery.answer.epoch,
            comparedWith: recovery.answer.state.serial,
            adopted: adopted,
            objects: machine.restoration(recovery.answer, recovery.comparison.differences, slice)
        )
    }

    mutating func receive(
        _ answer: WorldAnswer,
        to request: WorldRequest,
        fresh: ClientID
    ) throws {
        guard isWaiting else { return }
        switch (request, answer) {
        case (.exchange(let request), .exchange(let answer)):
            guard isLast(request.client, request.nonce) else { return }
            isWaiting = false
            try finish(machine.adopt(answer, to: request.slot, slice, fresh: fresh))
        case (.recovery(let request), .recovery(let answer)):
            guard isLast(request.client, request.nonce) else { return }
            isWaiting = false
            needsRecovery = false
            guard answer.way != .stale else {
                slice.identity.nonce = max(slice.identity.nonce, answer.nonce)
                return
            }
            let objects = SortedObjects(slice.baseObjects)
            recovery = Recovery(answer: answer, comparison: RangeComparison(objects))
        case (.comparison(let state, let ranges), .comparison(let answers)):
            guard let recovery, recovery.answer.state == state, recovery.comparison.open == ranges
            else { return }
            isWaiting = false
            try compare(answers)
        case (.restoration(let request), .restoration(let answer)):
            guard isLast(request.client, request.nonce), recovery != nil else { return }
            isWaiting = false
            recovery = nil
            try finish(machine.adoptRestoration(answer, slice))
        default: preconditionFailure("An answer belongs to its request")
        }
    }

    private func isLast(_ client: ClientID, _ nonce: Int64) -> Bool {
        client == slice.identity.client && nonce == slice.identity.nonce
    }

    private mutating func compare(_ answers: [SpanAnswer]?) throws {
        guard let answers, var next = recovery else {
            recovery = nil
            needsRecovery = true
            return
        }
        try next.comparison.receive(answers, SortedObjects(slice.baseObjects))
        recovery = next
        guard next.comparison.open.isEmpty else { return }
        if next.answer.way == .giveBack {
            recovery?.isGivingBack = true
            return
        }
        recovery = nil
        if next.answer.way == .unite { hasUnited = true }
        try finish(machine.adopt(next.answer, next.comparison.differences, slice))
    }

    private mutating func finish(_ adoption: Adoption) throws {
        if adoption.replica.base != slice.replica.base { adopted.append(adoption.replica.base) }
        slice.replica = adoption.replica
        slice.identity = adoption.identity
        for (key, row) in adoption.pending { slice.pending[key] = row }
        for (key, object) in adoption.objects { slice.objects[key] = object }
        guard adoption.next == .recover else { return }
        needsRecovery = true
        recoveryCount += 1
    }
}

extension WorldDevice {
    /// What does not fit together.
    var problems: [String] {
        var problems: [String] = []
        var sum = ContentSum.empty
        for (key, object) in slice.baseObjects { sum.replace(nil, with: object, at: key) }
        if sum != slice.replica.sum { problems.append("the sum is not that of the base") }
        for (key, row) in slice.pending {
            let object = try? row.changes().applied(to: row.base)
            if object != slice.objects[key] { problems.append("\(key) is not base and changes") }
        }
        return problems
    }
}
