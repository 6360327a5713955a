internal import GodwitStore
internal import GodwitTree

// The server's half of the exchange: pure decisions over what was read.
//
// The server is where changes become a line. A batch that was made on the head extends it; a batch
// that was made on an older state is merged, and the merge extends it. The machine waits for no
// client.
//
//   (1) Of each client the batches 1, 2, 3, … become part of the line once. The outcome is kept,
//       and every answer says it.
//   (2) A request whose nonce is not higher than the one that is written changes nothing: its
//       client may have taken it back meanwhile.
//   (3) An answer to a request with a batch leaves after its nonce is written. A pull that moves
//       nothing writes nothing.
//   (4) A client's refs move only by its own requests. Each state that a client may have is kept,
//       so its base is known, whatever messages are lost.
//   (5) A client that is too far behind is one whose base is unknown: it compares its objects in many
//       small messages.
//   (6) The line has lost states if and only if a client names, in the current epoch, a serial that
//       is higher than any that was sent to it in this epoch. Then the client's recovery gives the
//       line another epoch. A state of another epoch is unknown, so a batch on it is never applied.

/// The rules by which a line grows.
struct LineMachine: Sendable {
    var policy = MergePolicy.standard
    /// The largest object that is taken, in canonical bytes.
    var objectSizeMax = 16 << 20
    /// The longest key that the storage takes, with the name of its collection, in bytes.
    var keySizeMax = Int.max
    /// The largest ``LineHead/size`` to which a batch may make the replica grow.
    var replicaSizeMax = Int64.max
    /// What the sender of the request may do.
    var right = ReplicaRight.write
    let replica: ReplicaName

    init(replica: ReplicaName) { self.replica = replica }
}

/// An answer, and what has to be durable before it leaves.
struct LineDecision: Sendable {
    let answer: SlotAnswer
    let writes: LineWrites?
}

extension LineMachine {
    /// What a decision about the request needs to know.
    static func reads(_ request: LineRequest) -> LineReads {
        LineReads(
            client: request.client,
            former: request.slot.former,
            base: request.slot.serial,
            keys: Set((request.slot.batch?.changes ?? [:]).keys)
        )
    }

    /// Decides about one request.
    ///
    /// - Throws: ``ReplicationError/damagedHistory(reason:)`` when what is stored does not fit
    ///   together.
    func decide(
        _ request: LineRequest,
        _ slice: LineSlice
    ) throws(ReplicationError) -> LineDecision {
        var turn = LineTurn(request, slice)
        let slot = request.slot
        guard turn.isFresh else { return turn.answer(.stale, writes: false) }
        if slot.batch != nil { turn.peer.nonce = request.nonce }
        guard turn.knowsBase, !slice.isPartial else {
            return turn.answer(.unknownBase, writes: slot.batch != nil)
        }
        if let batch = slot.batch, batch.sequence == turn.peer.sequence + 1 {
            return try accept(batch, turn)
        }
        let writes = turn.moveRefs(to: slice.head.state.serial) || slot.batch != nil
        if writes { turn.peer.nonce = request.nonce }
        return turn.answer(.ok, try turn.changesSinceBase(), writes: writes)
    }
}

// MARK: - A batch

extension LineMachine {
    private func accept(
        _ batch: Batch,
        _ arrived: LineTurn
    ) throws(ReplicationError) -> LineDecision {
        var turn = arrived
        guard let targets = try? turn.targets(of: batch) else {
            return turn.answer(.unknownBase, writes: true)
        }
        let changes = try turn.changesSinceBase()
        let rejections = rejections(of: targets)
        guard rejections.isEmpty else { return turn.refuse(batch, rejections, changes) }
        let growth = try growth(of: batch, changes, turn)
        try turn.commit(growth, replica: replica)
        let excess = excess(of: batch, turn)
        guard excess.isEmpty else {
            turn.takeBackCommit()
            return turn.refuse(batch, excess, changes)
        }
        turn.peer.outcome = BatchOutcome(batch, .accepted)
        _ = turn.moveRefs(to: turn.head.serial)
        return turn.answer(.accepted, growth.changes, writes: true)
    }

    /// Merges a batch with what the line has changed since the client's base.
    private func growth(
        of batch: Batch,
        _ changes: [ObjectKey: ObjectDelta],
        _ turn: LineTurn
    ) throws(ReplicationError) -> LineGrowth {
        var growth = LineGrowth(turn.slice, changes: changes)
        var rules = MergeRules(ProgramRules(policy))
        for key in batch.changes.keys.rulesFirst {
            guard let delta = batch.changes[key] else { continue }
            let policy = rules.policy(for: key) { growth.object(at: $0) }
            if batch.doubtful.contains(key) {
                growth.take(try turn.merge(delta, at: key, policy, areDoubtful: true), at: key)
                continue
            }
            let merge = try ObjectMerge(
                key,
                base: turn.value(at: key),
                ours: changes[key],
                theirs: delta,
                policy: policy
            )
            growth.take(merge, at: key)
        }
        try growth.recordConflicts()
        return growth
    }

    private func rejections(of targets: [ObjectKey: VersionedValue]) -> [Rejection] {
        targets.filter { !takes($0.value, at: $0.key) }.keys.sorted().map { key in
            Rejection(key: key, reason: .tooLarge)
        }
    }

    /// The objects of a batch for which the replica has no room; none if it does not grow.
    ///
    /// Those that make it smaller come first, then the others in the order of their keys.
    private func excess(of batch: Batch, _ turn: LineTurn) -> [Rejection] {
        guard let commit = turn.commit, commit.size > max(replicaSizeMax, turn.slice.head.size)
        else { return [] }
        let changed = batch.changes.keys.sorted().filter { commit.objects[$0] != nil }
        func growth(_ key: ObjectKey) -> Int64 { commit.objects[key]?.growth ?? 0 }
        let grown = changed.filter { growth($0) > 0 }
        var size = grown.reduce(commit.size) { $0 - growth($1) }
        let refused = grown.filter { key in
            guard size + growth(key) <= replicaSizeMax else { return true }
            size += growth(key)
            return false
        }
        // Records of conflicts take room, too.
        return (refused.isEmpty ? changed : refused).map { Rejection(key: $0, reason: .overQuota) }
    }

    /// Whether all devices can store an object.
    func takes(_ object: VersionedValue?, at key: ObjectKey) -> Bool {
        guard let value = object?.value else { return true }
        // The collections of records about objects have longer names.
        guard key.sizeInBytes - (key.isReserved ? 256 : 0) <= keySizeMax else { return false }
        // A record of conflicts has several objects in it.
        let sizeMax =
            PolicyRecord.isCollection(key.collection)
            ? PolicyRecord.sizeMax : objectSizeMax * (key.isReserved ? ConflictRecord.countMax : 1)
        return value.canonicalBytes.count <= sizeMax
            && value.isNested(within: WriteTransaction.objectDepthMax)
    }
}

extension ObjectKey {
    var sizeInBytes: Int { collection.text.utf8.count + key.text.utf8.count }
}

extension BatchOutcome {
    init(_ batch: Batch, _ result: Result) {
        self.init(sequence: batch.sequence, name: batch.name, result: result)
    }
}

extension Batch {
    /// What a batch says about where it leads.
    ///
    /// - Parameter sum: The sum of the hashes of its objects.
    static func check(of sum: SetHash) -> UInt32 {
        let digest = ContentDigest(of: [sum.bytes], purpose: "godwit batch 3")
        return digest.bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }
}
