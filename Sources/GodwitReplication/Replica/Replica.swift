internal import GRDB
public import GodwitStore
public import GodwitTree
internal import Synchronization

/// Collections of a store that are the same on all devices of a server's replica.
///
/// ```swift
/// let replica = try await Replica.open(
///     ReplicaName("shopping"), in: store, collections: ["lists"])
/// let request = try await store.write { try replica.nextRequest(in: $0) }
/// let answer = try await send(request.bytes, as: request.client)
/// let mustAskAgain = try await store.write {
///     try replica.receive(answer, to: request, in: $0)
/// }
/// ```
///
/// A connector does this whenever something has changed. Tables in the store record each change of
/// the collections, whichever program makes it. A request is made and its answer is taken in within
/// transactions of the store, so that the objects and what waits to be sent change together.
public final class Replica: OwnHook, Sendable {
    /// Called in each transaction that leaves something to be sent.
    public typealias DirtyHook = @Sendable (borrowing WriteTransaction) throws -> Void

    public let name: ReplicaName
    public let store: Store
    let number: DeviceNumber
    let server: ServerNumber
    let machine: DeviceMachine
    private let session = Committed(DeviceSession())
    let nonces: ServerNonces
    private let recorded = RecordedRows()
    private let silence = StepSilence()
    private let isClosed = Atomic(false)
    /// How many of the device's own steps can be undone.
    let undoCountMax: Int
    /// What the server can read, as its last answer said.
    private let features = Mutex<WireFeatures>([])
    private let whenDirty: DirtyHook

    private init(
        _ name: ReplicaName,
        _ opened: (number: DeviceNumber, server: ServerNumber),
        in store: Store,
        _ policy: MergePolicy,
        undoCountMax: Int,
        _ whenDirty: @escaping DirtyHook
    ) {
        self.name = name
        self.undoCountMax = undoCountMax
        self.store = store
        (number, server) = opened
        let options = store.options
        machine = DeviceMachine(policy: policy) { key, object in
            options.isReadable(object.value, version: object.version, at: key)
        }
        nonces = store.attachment { _ in ServerSessions() }.nonces(of: opened.server)
        self.whenDirty = whenDirty
    }

    /// Opens a replica, and makes it where there is none.
    ///
    /// What is in its collections already is sent as new objects. From now on this program records its
    /// edits as they are made. A change of before, or by a program that has not opened the replica, is
    /// sent as the value that it led to: an increment of that kind does not add up with another one.
    ///
    /// - Parameters:
    ///   - server: The app's name for the server; the replicas of a store with one server share a
    ///     client's id.
    ///   - undoCountMax: How many steps of this device ``undo(in:)`` can take back; they are stored
    ///     with each commit.
    ///   - whenDirty: Called in each transaction of this program that leaves something to be sent.
    /// - Throws: ``ReplicationError/unsuitableCollection(_:reason:)``,
    ///   ``StoreError/hookExists(name:)`` when the store has the replica open already.
    public static func open(
        _ name: ReplicaName,
        server: String = "main",
        in store: Store,
        collections: Set<Key>,
        policy: MergePolicy = .standard,
        undoCountMax: Int = 0,
        whenDirty: @escaping DirtyHook = { _ in }
    ) async throws -> Replica {
        try store.prepare(DeviceSchema.schema)
        let opened = try await store.write { transaction in
            let database = transaction.database
            let server = try DeviceTable.server(
                named: server,
                fresh: ClientID(transaction.newIdentifier()),
                in: database
            )
            let hook = hookName(name, of: server)
            guard !store.hasHook(named: hook) else { throw StoreError.hookExists(name: hook) }
            let number = try DeviceTable.replica(name, of: server, in: database)
            for collection in collections {
                try DeviceTable.join(collection, to: number, in: database)
            }
            try store.checkSuitability(of: DeviceTable.collections(of: number, in: database))
            transaction.touch()
            return (number: number, server: server)
        }
        let replica = Replica(
            name,
            opened,
            in: store,
            policy,
            undoCountMax: undoCountMax,
            whenDirty
        )
        try store.addHook(replica, named: replica.hookName)
        do {
            // With the hook in place, so that no change comes between.
            try await store.write { transaction in
                try replica.bringBackLost(in: transaction)
                if try replica.isDirty(in: transaction) { try whenDirty(transaction) }
            }
        } catch {
            replica.close()
            throw error
        }
        return replica
    }

    /// Writes back objects that a salvage has lost, and of which it has kept the rows.
    ///
    /// They would be taken for removed, and be removed everywhere.
    private func bringBackLost(in transaction: borrowing WriteTransaction) throws {
        guard try DeviceTable.replica(number, in: transaction.database).isSalvaged else { return }
        for (key, row) in try PendingTable.all(of: number, in: transaction.database) {
            guard try transaction.value(of: key) == nil, let object = try row.target() else {
                continue
            }
            try transaction.setValue(object.value, version: object.version, of: key)
        }
    }

    /// Ends taking part in the store's commits, and in exchanges: an answer that arrives later changes
    /// nothing.
    ///
    /// The tables go on recording what changes, and the replica can be opened again.
    public func close() {
        // By a second call another replica of the name may be open, with a hook of the same name.
        guard !isClosed.exchange(true, ordering: .acquiringAndReleasing) else { return }
        store.removeHook(named: hookName)
    }

    private var hookName: String { Self.hookName(name, of: server) }

    private static func hookName(_ name: ReplicaName, of server: ServerNumber) -> String {
        "godwit replica \(server.rawValue) \(name)"
    }

    var policy: MergePolicy { machine.policy }

    var takesNoSteps: Bool { silence.value }

    /// Has the rest of the transaction make no step that could be undone.
    func takeNoSteps(in transaction: borrowing WriteTransaction) {
        silence.begin()
        transaction.add(silence)
    }

    /// The rows as a transaction sees them.
    func device(in transaction: borrowing WriteTransaction) throws -> StoredDevice {
        StoredDevice(
            number: number,
            server: server,
            database: transaction.database,
            objects: transaction.source,
            policy: machine.policy,
            nonce: nonces.last
        )
    }
}

// MARK: - Local changes

extension Replica {
    public func willCommit(
        _ changes: [ObjectChange],
        in transaction: borrowing WriteTransaction
    ) throws {
        for change in changes { try record(change, in: transaction) }
        try noteStep(changes, in: transaction)
        if try isDirty(in: transaction) { try whenDirty(transaction) }
    }

    /// Adds what the app has recorded to the row that a trigger has made.
    private func record(
        _ change: ObjectChange,
        in transaction: borrowing WriteTransaction
    ) throws {
        let (key, database) = (change.key, transaction.database)
        let known = recorded[key]
        let delta = change.versions.old == change.versions.new ? change.recordedDelta : nil
        guard delta != nil || known != nil,
            let found = try known ?? PendingTable.row(key, of: number, in: database)
        else { return }
        recorded.remember(found, key)
        transaction.add(recorded)
        var row = found
        if let delta, let version = change.versions.new {
            let edit = ObjectDelta(.apply(delta), version: version)
            row = try device(in: transaction).completed(found, to: change.oldObject())
            if row.rejection == .editedHere {
                row.frozen = try row.frozen.composed(with: edit)
            } else {
                row.tail = try row.tail.composed(with: edit)
            }
        }
        try PendingTable.set(row, key, of: number, in: database)
    }

    /// Whether something waits to be sent.
    public func isDirty(in transaction: borrowing WriteTransaction) throws -> Bool {
        try PendingTable.isDirty(number, in: transaction.database)
    }
}

extension ObjectChange {
    fileprivate func oldObject() throws -> VersionedValue? {
        guard let value = try oldValue(), let version = versions.old else { return nil }
        return VersionedValue(value, version: version)
    }
}

// MARK: - Exchange

extension Replica {
    /// The next request to the server; an exchange freezes what is pending, and brings it.
    ///
    /// - Parameter sizeMax: About how many bytes of objects the request, or its answer, may have, beside
    ///   one large object: few where a connection is slow, so that one which is cut costs little.
    public func nextRequest(
        sizeMax: Int = .max,
        in transaction: borrowing WriteTransaction
    ) throws -> ReplicaRequest {
        try checkExistence(in: transaction)
        transaction.tellRefusals()
        try mergeEditsOfRefused(in: transaction)
        let generation = try takeNonce(in: transaction)
        let (device, machine) = (try device(in: transaction), machine.limited(to: sizeMax))
        let features = features.withLock(\.self)
        return try session.update(in: transaction) { session in
            let othersMax = Int64(machine.batchCountMax)
            var slice = try device.slice(with: session.wantedKeys, othersMax: othersMax)
            session.begin(slice.replica, generation: generation)
            guard session.isExchanging else {
                let adopted = try DeviceTable.adopted(of: number, in: device.database)
                let request = try session.request(machine, slice, adopted: adopted)
                return try slice.packed(request, for: features)
            }
            let name = BatchName(transaction.newIdentifier())
            let wasFrozen = slice.replica.isFrozen
            try device.freeze(&slice, machine, name: name)
            if slice.replica.isFrozen != wasFrozen { transaction.touch() }
            let request = try session.request(machine, slice, adopted: [])
            return try slice.packed(request, for: features)
        }
    }

    /// Takes in the server's answer: the objects and the rows change in one transaction.
    ///
    /// An answer to another request than the last one changes nothing.
    ///
    /// - Returns: Whether another request has to follow: to send what is pending, to go on with a
    ///   recovery, or because this one has had no answer that could be taken in.
    /// - Throws: ``ReplicationError/wrongContent`` when what arrives is not what the server says:
    ///   ``distrust(in:)`` has the objects compared then.
    @discardableResult
    public func receive(
        _ answer: [UInt8],
        to request: ReplicaRequest,
        _ arrivals: Arrivals = .taken,
        in transaction: borrowing WriteTransaction
    ) throws -> Bool {
        let frame = try WireFrame(bytes: answer, budget: .standard)
        features.withLock { $0 = frame.features }
        return try receive(WireAnswer(frame), to: request, arrivals, in: transaction)
    }

    @discardableResult
    func receive(
        _ answer: WireAnswer,
        to sent: ReplicaRequest,
        _ arrivals: Arrivals = .taken,
        in transaction: borrowing WriteTransaction
    ) throws -> Bool {
        let database = transaction.database
        try checkExistence(in: transaction)
        var identity = try DeviceTable.identity(for: server, in: database)
        let old = try DeviceTable.replica(number, in: database)
        let (client, generation) = (
            old.frozenAs ?? identity.client, try nonces.generation(identity, in: transaction)
        )
        let isLast = try session.update(in: transaction) {
            $0.generation == generation && $0.isLast(sent.request, of: client)
        }
        guard isLast else { return true }
        identity.nonce = nonces.last
        try join(answer.collections, in: transaction)
        let device = try device(in: transaction)
        let fresh = ClientID(transaction.newIdentifier())
        var machine = machine
        machine.holdsArrivals = arrivals == .heldBack
        transaction.tellRefusals()
        let adoption = try session.update(in: transaction) { [machine] in
            try $0.receive(answer, to: sent.request, machine, device, fresh: fresh)
        }
        guard let adoption else { return true }
        if adoption.changes(old, identity) {
            try adopt(adoption, replacing: old, identity, in: transaction)
        }
        return try adoption.next != .rest || needsRequest(in: transaction)
    }

    /// - Throws: ``ReplicationError/unknownReplica(_:)`` when the replica was closed or left.
    private func checkExistence(in transaction: borrowing WriteTransaction) throws {
        // Another one may be open by now, which has made requests of its own.
        guard !isClosed.load(ordering: .acquiring),
            try DeviceTable.hasReplica(number, in: transaction.database)
        else {
            throw ReplicationError.unknownReplica(name.text)
        }
    }

    /// Has the objects compared with the server's.
    public func distrust(in transaction: borrowing WriteTransaction) throws {
        try session.update(in: transaction) { $0.distrust() }
        transaction.touch()
    }

    /// Whether a request has to be made: to send what is pending, or to go on with a recovery.
    public func needsRequest(in transaction: borrowing WriteTransaction) throws -> Bool {
        let isExchanging = try session.update(in: transaction) { $0.isExchanging }
        return try !isExchanging || isDirty(in: transaction)
    }

    /// Takes the next nonce, and returns its generation.
    private func takeNonce(in transaction: borrowing WriteTransaction) throws -> Int {
        let identity = try DeviceTable.identity(for: server, in: transaction.database)
        let taken = try nonces.take(identity, in: transaction)
        if let row = taken.row {
            try DeviceTable.set(row, for: server, in: transaction.database)
            transaction.touch()
        }
        return taken.generation
    }
}

extension Store {
    /// - Throws: ``ReplicationError/unsuitableCollection(_:reason:)`` for a collection that loses
    ///   objects by itself, which would remove them from all devices.
    func checkSuitability(of collections: Set<Key>) throws(ReplicationError) {
        for rules in options.collections where collections.contains(rules.name) {
            guard !rules.isEphemeral, rules.retention == nil else {
                throw .unsuitableCollection(
                    rules.name.text,
                    reason: rules.isEphemeral ? "it is ephemeral" : "it has a retention"
                )
            }
        }
    }
}

extension BatchName {
    /// Four of the random bytes of an identifier.
    fileprivate init(_ identifier: Identifier) {
        self.init(identifier.bytes.suffix(4).reduce(0) { $0 << 8 | UInt32($1) })
    }
}
