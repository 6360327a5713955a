internal import GodwitStore
internal import GodwitTree

// The device's half of the exchange: pure decisions over what was read.
//
//   base ──frozen──► target ──tail──► the objects in the store
//
//   (1) A batch is frozen before it is sent, and rides in every request in the same words until an
//       answer tells its outcome. Nothing is adopted before.
//   (2) What arrives is adopted under the pending changes: they are merged on top.
//   (3) What arrives is checked against the content that its id names before anything changes.
//   (4) An outcome that the device has not caused says that a clone of it exists. The device takes
//       another id, and all that is pending is doubtful: the clone may have sent it.
//   (5) A batch thaws only on an answer to a request that carried it. The server has written that
//       request's nonce, so no copy of it can be applied later.

/// Decides what a device sends, and what an answer does to its objects.
struct DeviceMachine: Sendable {
    var rules = ProgramRules(.standard)
    /// How many objects a batch has at most.
    var batchCountMax = 4_096
    /// The largest object that is sent whole, in canonical bytes: a server reads no larger message.
    var objectSizeMax = 48 << 20
    /// How many canonical bytes the objects of a batch have at most, if there are several.
    var batchSizeMax = 8 << 20
    /// The same for what a comparison of objects brings at once.
    var answerSizeMax = RangeMachine.answerSizeMax
    /// Below this size of answers the server is asked for small ones.
    static let littleSize = 64 << 10
    /// Objects that no connection has carried so far: each goes alone, when nothing else waits.
    var postponed: Set<ObjectKey> = []
    /// Whether objects that arrive stay beside the store, because a hook of the app refuses some.
    var holdsArrivals = false
    /// Whether the app's type can decode an object.
    var isReadable: @Sendable (ObjectKey, VersionedValue) -> Bool = { _, _ in true }

    /// The program's own rules for merges.
    var policy: MergePolicy { rules.policy }
}

/// What was read on the device, in one transaction.
struct DeviceSlice: Hashable, Sendable {
    var replica: DeviceReplica
    var identity: DeviceIdentity
    /// The pending objects that matter: those of the frozen batch, the doubtful ones, and some others.
    var pending: [ObjectKey: PendingObject]
    /// The objects in the store, as far as an answer changes them.
    var objects: [ObjectKey: VersionedValue]
    /// Whether there are other pending objects.
    var hasMore = false

    /// The client that makes the replica's requests.
    var client: ClientID { replica.frozenAs ?? identity.client }
}

/// What an answer changes, in the transaction that completes the exchange.
struct Adoption: Sendable {
    /// What the device does next.
    enum Next: Hashable, Sendable {
        /// Nothing, or another exchange where changes are pending.
        case rest
        /// Another request: the answer says nothing about the replica's objects.
        case ask
        /// A recovery: the server does not have the base.
        case recover
    }

    /// What becomes of the objects that a comparison has found.
    enum Fetched: Hashable, Sendable {
        case kept
        /// These come to them; nil where the server has none.
        case more([ObjectKey: VersionedValue?])
        /// They are adopted, or of no use any more.
        case dropped
    }

    var replica: DeviceReplica
    var identity: DeviceIdentity
    /// Rows to write; nil to remove.
    var pending: [ObjectKey: PendingObject?] = [:]
    /// Objects to write; nil to remove.
    var objects: [ObjectKey: VersionedValue?] = [:]
    /// The outcome of the batch, when the answer has told it.
    var settled: BatchOutcome?
    /// Changes of both sides that could not both stay, by object.
    var conflicts: [ObjectKey: [MergeConflict]] = [:]
    var fetched = Fetched.kept
    var next = Next.rest
}

extension DeviceMachine {
    /// The machine with requests and answers of about so many canonical bytes.
    func limited(to size: Int) -> DeviceMachine {
        var machine = self
        machine.batchSizeMax = min(batchSizeMax, size)
        machine.answerSizeMax = min(answerSizeMax, size)
        return machine
    }
}

// MARK: - Local changes

extension DeviceMachine {
    /// The row of an object after a local change; nil when nothing is left to be sent.
    ///
    /// - Parameters:
    ///   - old: The object before the change.
    ///   - row: The object's row before the change.
    func record(
        _ delta: ObjectDelta,
        of old: VersionedValue?,
        pending row: PendingObject?
    ) throws(ReplicationError) -> PendingObject? {
        guard var row else {
            return try delta.applied(to: old) == old ? nil : PendingObject(base: old, tail: delta)
        }
        row.tail = try row.tail.composed(with: delta)
        row.rejection = nil
        return try row.changes().applied(to: row.base) == row.base && row.frozen == nil ? nil : row
    }
}

// MARK: - Sending

extension DeviceMachine {
    /// Freezes what is pending, up to the size of a batch, if none is under way.
    ///
    /// - Returns: The rows that change; nil for a row that goes, because nothing is left of it.
    func freeze(
        _ slice: inout DeviceSlice,
        name: BatchName
    ) throws(ReplicationError) -> [ObjectKey: PendingObject?] {
        guard !slice.replica.isFrozen else { return [:] }
        var rows: [ObjectKey: PendingObject?] = [:]
        var (count, size) = (0, 0)
        for key in sendingOrder(of: slice.pending.keys) {
            if count > 0, postponed.contains(key) { break }
            guard count < batchCountMax, size < batchSizeMax, var row = slice.pending[key],
                row.rejection == nil
            else { continue }
            // Edits after a fork are exact, and follow when the doubtful ones are settled.
            let changes = row.isDoubtful ? row.frozen : try row.changes()
            let target = try changes.applied(to: row.base)
            let isAlone = slice.pending.count == 1 && !changes.isWhole
            let bytes = isAlone ? 0 : target?.value.canonicalBytes.count ?? 0
            if let changes, target != row.base, changes.isWhole, bytes > objectSizeMax {
                row.rejection = .tooLarge
                rows[key] = row
                continue
            }
            // A large object goes alone: what comes with it could not be cut off.
            let cost = bytes + key.collection.text.utf8.count + key.key.text.utf8.count
            if count > 0, size + cost > batchSizeMax { break }
            if let changes, target != row.base {
                // A clone's increment may be in the server's object already.
                row.frozen = row.isDoubtful ? .diff(row.base, target, policy: policy) : changes
                row.tail = row.isDoubtful ? row.tail : nil
                row.batch = slice.replica.sequence + 1
                count += 1
                size += cost
            } else {
                row.batch = nil
            }
            // A clone may have sent what was undone here: the next answer tells.
            rows[key] = .some(row.batch != nil || row.isDoubtful ? row : nil)
        }
        for (key, row) in rows { slice.pending[key] = row }
        guard count > 0 else { return rows }
        slice.replica.sequence += 1
        slice.replica.name = name
        slice.replica.isFrozen = true
        return rows
    }

    private func sendingOrder(of keys: some Collection<ObjectKey>) -> [ObjectKey] {
        let sorted = keys.sorted()
        let objects = sorted.filter { !$0.isReserved }
        return sorted.filter(\.isReserved) + objects.filter { !postponed.contains($0) }
            + objects.filter(postponed.contains)
    }

    /// The next request for the replica, with the frozen batch if there is one.
    func slot(_ slice: DeviceSlice) throws(ReplicationError) -> Slot {
        let replica = slice.replica
        return Slot(
            serial: replica.base.serial,
            have: replica.epoch.map { replica.base.token(in: $0) } ?? .none,
            former: replica.former,
            batch: try slice.batch(),
            wantsLittle: answerSizeMax < Self.littleSize
        )
    }
}

extension DeviceSlice {
    /// The rows of the frozen batch.
    var frozen: [(key: ObjectKey, row: PendingObject)] {
        pending.compactMap { key, row in
            replica.isFrozen && row.batch == replica.sequence ? (key, row) : nil
        }
    }

    fileprivate func batch() throws(ReplicationError) -> Batch? {
        guard replica.isFrozen, let name = replica.name else { return nil }
        var sum = SetHash.zero
        var changes: [ObjectKey: ObjectDelta] = [:]
        for (key, row) in frozen {
            guard let delta = row.frozen else { continue }
            changes[key] = delta
            if let target = try delta.applied(to: row.base) {
                sum += CollectionSum.hash(of: target, at: key)
            }
        }
        return Batch(
            sequence: replica.sequence,
            name: name,
            check: Batch.check(of: sum),
            changes: changes,
            doubtful: Set(changes.keys.filter { pending[$0]?.isDoubtful == true })
        )
    }
}
