internal import GRDB
public import GodwitStore
public import GodwitTree

/// Some collections of a store, kept the same on every device of a user.
///
/// A replica takes part in the store's commits: whatever changes in its collections is recorded
/// in the same transaction. ``makeRequest(in:)`` and ``receive(_:to:in:)`` are the two halves of
/// an exchange with the server; whoever moves the bytes calls them. The objects of a collection
/// are the values at [collection, key] of one map, which is what travels.
public final class Replica: TransactionHook, Sendable {
    /// Called in the transaction that makes the first unsent change.
    public typealias DirtyHook = @Sendable (borrowing WriteTransaction) throws -> Void

    public let name: ReplicaName
    public let client: ClientID
    public let store: Store
    /// The collections that are kept the same.
    public let collections: Set<Key>?
    private let number: ReplicaNumber
    private let state: Committed<DeviceState>
    private let whenDirty: DirtyHook

    private init(
        _ opened: OpenedReplica,
        store: Store,
        collections: Set<Key>,
        whenDirty: @escaping DirtyHook
    ) {
        name = opened.device.machine.name
        client = opened.device.machine.client
        self.store = store
        self.collections = collections
        number = opened.number
        state = Committed(opened.device)
        self.whenDirty = whenDirty
    }

    /// Opens the replica of some collections, and makes it where there is none.
    ///
    /// Objects that are in the collections already become its first change.
    ///
    /// - Parameter whenDirty: Queues the push, in the transaction that makes it necessary.
    /// - Throws: ``StoreError/hookExists(name:)`` when the store has the replica open already.
    public static func open(
        _ name: ReplicaName,
        in store: Store,
        collections: Set<Key>,
        whenDirty: @escaping DirtyHook = { _ in }
    ) async throws -> Replica {
        try store.prepare(ReplicaSchema.schema)
        let opened = try await store.write { transaction in
            try OpenedReplica(name, in: transaction)
        }
        let replica = Replica(
            opened,
            store: store,
            collections: collections,
            whenDirty: whenDirty
        )
        try store.addHook(replica, named: "replica \(name)")
        if opened.isNew { try await replica.takeInObjects() }
        return replica
    }
}

// MARK: - Local changes

extension Replica {
    public func willCommit(
        _ changes: [ObjectChange],
        in transaction: borrowing WriteTransaction
    ) throws {
        let values = try changes.map { ($0.key, try $0.newValue()) }
        try record(Dictionary(uniqueKeysWithValues: values), in: transaction)
    }

    private func record(
        _ objects: [ObjectKey: Value?],
        in transaction: borrowing WriteTransaction
    ) throws {
        let becameDirty = try update(in: transaction) { device in
            let delta = device.machine.delta(setting: objects)
            guard delta != .keep else { return false }
            defer { device.isChanged = true }
            let hadPending = device.machine.hasPending
            try device.machine.record(delta)
            return !hadPending
        }
        if becameDirty { try whenDirty(transaction) }
    }

    /// Records what the collections held before there was a replica.
    private func takeInObjects() async throws {
        try await store.write { [self] transaction in
            var objects: [ObjectKey: Value?] = [:]
            for collection in collections ?? [] {
                let typed = Store.Collection<Value>(collection)
                for key in try transaction.keys(in: typed) {
                    let object = ObjectKey(collection: collection, key: Key(key))
                    objects[object] = try transaction.value(of: object)
                }
            }
            guard !objects.isEmpty else { return }
            transaction.touch()
            try record(objects, in: transaction)
        }
    }
}

// MARK: - Exchange

extension Replica {
    /// The next request to the server; freezes what is to be sent in this transaction.
    public func makeRequest(
        in transaction: borrowing WriteTransaction
    ) throws -> ExchangeRequest {
        try update(in: transaction) { try $0.makeRequest() }
    }

    /// The next request, or nil when there is nothing to send or to be acknowledged.
    ///
    /// ``status`` may be one commit behind what the transaction sees; this is not.
    public func makePush(
        in transaction: borrowing WriteTransaction
    ) throws -> ExchangeRequest? {
        try update(in: transaction) { $0.machine.isDirty ? try $0.makeRequest() : nil }
    }

    /// Takes in the server's answer: the objects, the replica and what is still to be sent change
    /// in one transaction.
    ///
    /// - Returns: Whether the request's batch is now known to be accepted; without one, whether
    ///   nothing is left to send.
    /// - Throws: ``ReplicationError``; nothing has changed then.
    @discardableResult
    public func receive(
        _ response: ExchangeResponse,
        to request: ExchangeRequest,
        in transaction: borrowing WriteTransaction
    ) throws -> Bool {
        let (change, machine) = try update(in: transaction) { device in
            let change = try device.machine.receive(response, to: request)
            device.isChanged = true
            return (change, device.machine)
        }
        try writeObjects(changedBy: change, in: machine.local, transaction)
        transaction.touch()
        return request.batch.map { response.acknowledged >= $0.sequence } ?? !machine.isDirty
    }

    /// The next request must ask for everything: an answer could not be used.
    public func distrust() async throws {
        try await store.write { [self] transaction in
            try update(in: transaction) { $0.machine.askForAll() }
        }
    }

    private func writeObjects(
        changedBy delta: Delta,
        in value: Value,
        _ transaction: borrowing WriteTransaction
    ) throws {
        guard case .map(let changes) = delta else { return }
        for entry in changes.entries where collections?.contains(entry.key) == true {
            let collection = entry.key
            for key in try changedKeys(entry.change, in: collection, value, transaction) {
                let object = ObjectKey(collection: collection, key: key)
                if let new = value[collection]?[key] {
                    try transaction.setValue(new, of: object)
                } else {
                    try transaction.removeValue(of: object)
                }
            }
        }
    }

    /// The keys that may have changed; all of them where a collection was replaced whole.
    private func changedKeys(
        _ change: MapDelta.Change,
        in collection: Key,
        _ value: Value,
        _ transaction: borrowing WriteTransaction
    ) throws -> [Key] {
        if case .apply(.map(let keys)) = change { return keys.entries.map(\.key) }
        let old = try transaction.keys(in: Store.Collection<Value>(collection)).map { Key($0) }
        let new = (value[collection]?.map?.keys).map(Array.init) ?? []
        return Set(old + new).sorted()
    }
}

// MARK: - Queries

extension Replica {
    /// What the replica looks like after the last commit.
    public var status: ReplicaStatus {
        let machine = state.value.machine
        return ReplicaStatus(
            base: machine.base,
            isDirty: machine.isDirty,
            value: machine.local,
            stateCount: machine.history.stateCount
        )
    }

    private func update<Result>(
        in transaction: borrowing WriteTransaction,
        _ body: (inout DeviceState) throws -> Result
    ) throws -> Result {
        // The closure below cannot capture a borrowed transaction; it needs the connection only.
        let (database, number) = (transaction.database, number)
        return try state.update(in: transaction) { device in
            let result = try body(&device)
            try device.save(as: number, in: database)
            return result
        }
    }
}

/// What a device knows of a replica.
public struct ReplicaStatus: Sendable {
    /// The last state adopted from the server.
    public let base: StateID
    /// Whether local changes are still to be sent, or to be acknowledged.
    public let isDirty: Bool
    /// The value with all local changes.
    public let value: Value
    /// How many states are kept here, the root not counted.
    public let stateCount: Int
}
