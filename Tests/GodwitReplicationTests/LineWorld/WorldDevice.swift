import GodwitStore
import GodwitTree

@testable import GodwitReplication

/// A device of the world: its rows, which outlive it, and what it has in memory.
struct WorldDevice: Hashable {
    private(set) var slice: DeviceSlice
    /// The states that were adopted.
    private(set) var adopted: [AdoptedState] = []
    /// What a comparison has found so far.
    private var fetchedObjects: [ObjectKey: VersionedValue?] = [:]
    /// Counts the launches; answers to requests of an older one do not arrive.
    var launch = 0
    /// Whether it has kept its objects beside those of a server that did not know it.
    var hasUnited = false
    // What a kill takes.
    private(set) var isWaiting = false
    private var session = DeviceSession()

    private let batchCountMax: Int

    private var machine: DeviceMachine {
        var machine = DeviceMachine()
        machine.batchCountMax = batchCountMax
        return machine
    }

    /// How often the server did not have its base.
    private(set) var recoveryCount = 0
    /// Whether it has asked for a comparison: the server need not keep its base any more.
    private(set) var hasDistrusted = false

    /// - Parameter batchCountMax: How many objects a batch has at most. Where batches are small, answers
    ///   are too, and the device compares its objects when it is far behind.
    init(client: ClientID, batchCountMax: Int = 4_096) {
        self.batchCountMax = batchCountMax
        hasDistrusted = batchCountMax < 4_096
        slice = DeviceSlice(
            replica: DeviceReplica(),
            identity: DeviceIdentity(client: client),
            pending: [:],
            objects: [:]
        )
    }

    func isSettled(with head: LineState) -> Bool {
        slice.replica.base == head && session.isExchanging
            && slice.pending.values.allSatisfy { $0.rejection != nil }
    }

    mutating func die() {
        launch += 1
        giveUp()
        session = DeviceSession()
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

extension WorldDevice: DeviceReader {
    func slice(with keys: Set<ObjectKey>) -> DeviceSlice { slice }
    func wholeSlice(with keys: Set<ObjectKey>) -> DeviceSlice { slice }

    func base() -> SortedObjects { SortedObjects(slice.baseObjects) }

    func hasFetched() -> Bool { !fetchedObjects.isEmpty }

    func fetched() -> [ObjectKey: VersionedValue?] { fetchedObjects }

    func sum() -> ContentSum { base().total() }

    mutating func nextRequest(name: BatchName) throws -> ReplicaRequest {
        isWaiting = true
        slice.identity.nonce += 1
        session.begin(slice.replica, hasFetched: hasFetched)
        if session.isExchanging { _ = try machine.freeze(&slice, name: name) }
        return try slice.packed(session.request(machine, slice, adopted: adopted))
    }

    /// Compares the objects with the server's.
    mutating func distrust() {
        giveUp()
        hasDistrusted = true
        session.distrust()
    }

    mutating func receive(
        _ answer: WireAnswer,
        to request: DeviceRequest,
        fresh: ClientID
    ) throws {
        guard isWaiting, session.isLast(request, of: slice.client) else { return }
        isWaiting = false
        let (isUniting, reader) = (session.isUniting, self)
        let found = try session.receive(answer, to: request, machine, reader, fresh: fresh)
        guard let adoption = found else { return }
        if isUniting { hasUnited = true }
        if adoption.next == .recover { recoveryCount += 1 }
        let (base, epoch) = (adoption.replica.base, adoption.replica.epoch)
        if let epoch, base != slice.replica.base || epoch != slice.replica.epoch {
            adopted.append(AdoptedState(epoch: epoch, state: base))
        }
        switch adoption.fetched {
        case .kept: break
        case .more(let objects): fetchedObjects.merge(objects) { $1 }
        case .dropped: fetchedObjects = [:]
        }
        slice.replica = adoption.replica
        slice.identity = adoption.identity
        for (key, row) in adoption.pending { slice.pending[key] = row }
        for (key, object) in adoption.objects { slice.objects[key] = object }
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
