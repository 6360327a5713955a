internal import GRDB
public import GodwitStore
public import GodwitTree
internal import Synchronization

/// Collections of a store that are the same on all devices of a server's replica.
///
/// ```swift
/// let connector = try ReplicaConnector(store, transport: transport)
/// let shopping = try await connector.open("shopping", collections: items)
/// ```
///
/// A connector opens replicas, and keeps them in sync. Tables in the store record each change of the
/// collections, whichever program makes it. A request is made and its answer is taken in within transactions
/// of the store, so that the objects and what waits to be sent change together.
public final class Replica: Sendable {
    /// Called in each transaction that leaves something to be sent.
    public typealias DirtyHook = @Sendable (borrowing WriteTransaction) throws -> Void

    public let name: ReplicaName
    public let store: Store
    let recorder: ReplicaRecorder
    let session = Committed(DeviceSession())
    /// What follows when the replica is closed; nil once it is.
    private let followers = Mutex<[@Sendable () -> Void]?>([])
    /// What the server can read, as its last answer said.
    private let features = Mutex<WireFeatures>([])
    /// Objects that no connection has carried so far, while others waited.
    let postponed = Mutex<Set<ObjectKey>>([])

    private init(_ name: ReplicaName, in store: Store, _ recorder: ReplicaRecorder) {
        (self.name, self.store, self.recorder) = (name, store, recorder)
    }

    /// Opens a replica, and makes it where there is none.
    ///
    /// What is in its collections already is sent as new objects. From now on this program records its
    /// edits as they are made. A change of before, or by a program that has not opened the replica, is
    /// sent as the value that it led to: an increment of that kind does not add up with another one.
    ///
    /// - Parameters:
    ///   - name: The replica's name on the server.
    ///   - server: The app's name for the server, with which all replicas of the store share a client's id.
    ///   - store: The store that has the objects.
    ///   - collections: The collections whose objects are replicated.
    ///   - policy: The app's rules for merges, beside those that the types of the store's `CollectionRules`
    ///     declare (`MergePolicyProviding`). The rules for a collection whose versions add up to more than
    ///     0 become part of the replica, and its server merges by them, unless it has some of a higher one.
    ///   - undoCountMax: How many steps of this device ``undo(in:)`` can take back; they are stored with
    ///     each commit.
    ///   - whenDirty: Called in each transaction of this program that leaves something to be sent.
    /// - Throws: ``ReplicationError/unsuitableCollection(_:reason:)``,
    ///   ``ReplicationError/tooManyRules(_:)``, `StoreError.hookExists(name:)` when the store has the replica open already.
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
            let database = transaction.connection
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
        let recorder = ReplicaRecorder(
            opened.number,
            of: opened.server,
            in: store,
            policy,
            undoCountMax: undoCountMax,
            whenDirty
        )
        let replica = Replica(name, in: store, recorder)
        try store.addHook(recorder, named: replica.hookName)
        do {
            // With the hook in place, so that no change comes between.
            try await store.write { transaction in
                try replica.bringBackLost(in: transaction)
                // The app may have got the right to write.
                try replica.releaseHeld(in: transaction)
                try replica.publishRules(isOpening: true, in: transaction)
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
        guard try DeviceTable.replica(number, in: transaction.connection).isSalvaged else { return }
        for (key, row) in try PendingTable.all(of: number, in: transaction.connection) {
            guard try transaction.value(of: key) == nil, let object = try row.target() else {
                continue
            }
            try transaction.setValue(object.value, version: object.version, of: key)
        }
    }

    /// Makes the app's rules for merges part of the replica, unless it has newer ones.
    ///
    /// Rules that this program cannot read are replaced at an opening alone: two programs that do not read
    /// each other's would go on for ever. Own rules that others would not read stay here, if a collection
    /// has joined since.
    private func publishRules(
        isOpening: Bool,
        in transaction: borrowing WriteTransaction
    ) throws {
        for collection in try DeviceTable.collections(of: number, in: transaction.connection)
        where !ReplicaCollection.records(about: collection).isEmpty {
            let own = machine.rules.version(for: collection)
            guard own > 0 else { continue }
            let key = PolicyRecord.key(about: collection)
            let found = try transaction.value(of: key)
            let isKept = found != nil && PolicyRecord.policy(in: found) == nil && !isOpening
            guard !isKept, PolicyRecord.version(of: found) < own else { continue }
            if let record = machine.rules.record(for: collection) {
                try transaction.setValue(record, version: 1, of: key)
            } else if isOpening {
                throw ReplicationError.tooManyRules(collection.text)
            }
        }
    }

    /// Ends taking part in the store's commits, and in exchanges: an answer that arrives later changes
    /// nothing.
    ///
    /// The tables go on recording what changes, and the replica can be opened again.
    public func close() {
        // By a second call another replica of the name may be open, with a hook of the same name.
        guard let followers = followers.withLock({ $0.take() }) else { return }
        store.removeHook(named: hookName)
        for follow in followers { follow() }
    }

    /// Does something when the replica is closed: at once if it is.
    package func whenClosed(_ body: @escaping @Sendable () -> Void) {
        let isOpen = followers.withLock { followers in
            followers?.append(body)
            return followers != nil
        }
        if !isOpen { body() }
    }

    private var hookName: String { Self.hookName(name, of: server) }

    private static func hookName(_ name: ReplicaName, of server: ServerNumber) -> String {
        "godwit replica \(server.rawValue) \(name)"
    }

    var number: DeviceNumber { recorder.number }
    var server: ServerNumber { recorder.server }
    var machine: DeviceMachine { recorder.machine }
    var nonces: ServerNonces { recorder.nonces }
    var policy: MergePolicy { machine.policy }

    /// The rules for an object: the app's, or the replica's where these are newer.
    func policy(
        for key: ObjectKey,
        in transaction: borrowing WriteTransaction
    ) throws -> MergePolicy {
        guard let name = PolicyRecord.key(about: key) else { return policy }
        let record = try transaction.versioned(name)
        var rules = MergeRules(machine.rules)
        return rules.policy(for: key) { _ in record }
    }

    /// The rows as a transaction sees them.
    func device(in transaction: borrowing WriteTransaction) -> StoredDevice {
        recorder.device(in: transaction)
    }

    /// Whether something waits to be sent.
    public func isDirty(
        in transaction: borrowing some StoreTransaction & ~Copyable
    ) throws -> Bool {
        try PendingTable.isDirty(number, in: transaction.connection)
    }

    /// Whether something waits to be sent, after the last commit.
    public func isDirty() async throws -> Bool {
        try await store.read { [self] in try isDirty(in: $0) }
    }
}

// MARK: - Exchange

extension Replica {
    /// The next request to the server; an exchange freezes what is pending, and brings it.
    ///
    /// - Parameters:
    ///   - sizeMax: About how many bytes of objects the request, or its answer, may have, beside one large
    ///     object: few where a connection is slow, so that one which is cut costs little.
    ///   - transaction: The transaction that freezes what is pending.
    package func nextRequest(
        sizeMax: Int = .max,
        in transaction: borrowing WriteTransaction
    ) throws -> ReplicaRequest {
        try checkOpenness(in: transaction)
        transaction.tellRefusals()
        try mergeEditsOfRefused(in: transaction)
        // A collection may have joined since the opening, and all objects may have been removed.
        try publishRules(isOpening: false, in: transaction)
        let generation = try takeNonce(in: transaction)
        let device = device(in: transaction)
        var machine = machine.limited(to: sizeMax)
        machine.postponed = postponed.withLock(\.self)
        let features = features.withLock(\.self)
        return try session.update(in: transaction) { [machine] session in
            let othersMax = Int64(machine.batchCountMax)
            var machine = machine
            let keys = try device.first(of: session.wantedKeys, machine)
            var slice = try device.slice(with: Set(keys), othersMax: othersMax)
            try session.begin(slice.replica, generation: generation, hasFetched: device.hasFetched)
            guard session.isExchanging else {
                if !keys.isEmpty { machine.batchCountMax = keys.count }
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
    package func receive(
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
        let database = transaction.connection
        try checkOpenness(in: transaction)
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
        let device = device(in: transaction)
        let fresh = ClientID(transaction.newIdentifier())
        var machine = machine
        machine.holdsArrivals = arrivals == .heldBack
        transaction.tellRefusals()
        let adoption = try session.update(in: transaction) { [machine] in
            try $0.receive(answer, to: sent.request, machine, device, fresh: fresh)
        }
        guard let adoption else { return true }
        if try adoption.changes(old, identity)
            || adoption.fetched == .dropped && device.hasFetched()
        {
            try adopt(adoption, replacing: old, identity, in: transaction)
        }
        return try adoption.next != .rest || needsRequest(in: transaction)
    }

    /// - Throws: ``ReplicationError/unknownReplica(_:)`` when the replica was closed or left.
    func checkOpenness(in transaction: borrowing WriteTransaction) throws {
        // Another one may be open by now, which has made requests of its own.
        guard followers.withLock({ $0 != nil }) else {
            throw ReplicationError.unknownReplica(name.text)
        }
        try checkExistence(in: transaction.connection)
    }

    /// - Throws: ``ReplicationError/unknownReplica(_:)`` when the replica was left.
    func checkExistence(in database: Database) throws {
        guard try DeviceTable.hasReplica(number, in: database) else {
            throw ReplicationError.unknownReplica(name.text)
        }
    }

    /// Has the objects compared with the server's.
    package func distrust(in transaction: borrowing WriteTransaction) throws {
        try session.update(in: transaction) { $0.distrust() }
        transaction.touch()
    }

    /// Whether a request has to be made: to send what is pending, or to go on with a recovery.
    ///
    /// - Throws: ``ReplicationError/unknownReplica(_:)`` when the replica was closed or left.
    package func needsRequest(in transaction: borrowing WriteTransaction) throws -> Bool {
        try checkOpenness(in: transaction)
        let isExchanging = try session.update(in: transaction) { $0.isExchanging }
        return try !isExchanging || isDirty(in: transaction)
    }

    /// Takes the next nonce, and returns its generation.
    private func takeNonce(in transaction: borrowing WriteTransaction) throws -> Int {
        let identity = try DeviceTable.identity(for: server, in: transaction.connection)
        let taken = try nonces.take(identity, in: transaction)
        if let row = taken.row {
            try DeviceTable.set(row, for: server, in: transaction.connection)
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
    fileprivate init(_ identifier: Identifier) { self.init(identifier.randomNumber) }
}
