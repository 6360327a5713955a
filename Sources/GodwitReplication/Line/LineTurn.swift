internal import GodwitStore
internal import GodwitTree

/// One request, what was read for it, and what has been decided so far.
struct LineTurn {
    let request: LineRequest
    let slice: LineSlice
    var peer: LinePeer
    var restoration: (epoch: Epoch, LineRestoration)?
    var staging = LineStagingWrite.none
    private(set) var commit: LineCommit?

    init(_ request: LineRequest, _ slice: LineSlice) {
        self.request = request
        self.slice = slice
        peer = slice.peer ?? LinePeer(sentMax: slice.former?.sentMax ?? [:])
    }

    var slot: Slot { request.slot }
    var isFresh: Bool { request.nonce > peer.nonce }
    var head: LineState { commit?.state ?? slice.head.state }

    var base: LineState { slice.state(at: slot.serial) ?? .root }

    var knowsBase: Bool {
        if slot.serial == 0, slot.have == .none { return true }
        let state = slot.serial == 0 ? .root : slice.state(at: slot.serial)
        return state?.token(in: slice.head.epoch) == slot.have
    }

    /// Keeps the states that the client may have.
    ///
    /// - Returns: Whether the request has to be written. A request that leads its client to another
    ///   state is written even if nothing moves: a copy of it that arrives later does nothing then.
    mutating func moveRefs(to head: Int64) -> Bool {
        let isKept = peer.kept.union([0]).isSuperset(of: [base.serial, head])
        guard !isKept || peer.isAhead(head, in: slice.head.epoch) else {
            return base.serial != head
        }
        (peer.acked, peer.sent) = (base.serial, head)
        peer.noteSent(head, in: slice.head.epoch)
        return true
    }

    /// Extends the line, if anything has changed, and answers how the client follows.
    mutating func commit(
        _ growth: LineGrowth,
        replica: ReplicaName
    ) throws(ReplicationError) {
        let (objects, sum) = try growth.writes()
        guard !objects.isEmpty else { return }
        let before = slice.head.state
        let id = StateID(content: sum.digest, replica: replica.text, parents: [before.id, base.id])
        commit = LineCommit(
            state: LineState(serial: before.serial + 1, id: id),
            sum: sum,
            size: objects.values.reduce(slice.head.size) { $0 + $1.growth },
            objects: objects
        )
    }

    mutating func takeBackCommit() { commit = nil }

    /// Refuses some objects of a batch: no part of it becomes part of the line.
    func refuse(
        _ batch: Batch,
        _ rejections: [Rejection],
        _ changes: [ObjectKey: ObjectDelta]
    ) -> LineDecision {
        var turn = self
        turn.peer.outcome = BatchOutcome(batch, .rejected(rejections))
        _ = turn.moveRefs(to: slice.head.state.serial)
        return turn.answer(.ok, changes, writes: true)
    }

    /// An object as it is in the client's base.
    func value(at key: ObjectKey) throws(ReplicationError) -> VersionedValue? {
        try slice.objects[key]?.value(at: base.serial)
    }

    /// Merges a change of the base that may be in the line already.
    func merge(
        _ theirs: ObjectDelta?,
        at key: ObjectKey,
        _ policy: MergePolicy,
        areDoubtful: Bool
    ) throws(ReplicationError) -> ObjectMerge {
        try (slice.objects[key] ?? LineObject()).merge(
            theirs,
            since: base.serial,
            key,
            policy: policy,
            areTheirsDoubtful: areDoubtful
        )
    }

    /// The objects that a batch leads to on its device.
    ///
    /// - Throws: ``ReplicationError`` when the batch was made for other objects than its base has.
    func targets(of batch: Batch) throws(ReplicationError) -> [ObjectKey: VersionedValue] {
        var targets: [ObjectKey: VersionedValue] = [:]
        var sum = SetHash.zero
        for (key, delta) in batch.changes {
            guard let target = try delta.applied(to: value(at: key)) else { continue }
            targets[key] = target
            sum += CollectionSum.hash(of: target, at: key)
        }
        guard batch.check == Batch.check(of: sum) else { throw .wrongContent }
        return targets
    }

    /// What the line has changed since the client's base.
    func changesSinceBase() throws(ReplicationError) -> [ObjectKey: ObjectDelta] {
        var changes: [ObjectKey: ObjectDelta] = [:]
        for (key, object) in slice.objects {
            changes[key] = try object.change(since: base.serial)
        }
        return changes
    }

    func answer(
        _ status: SlotAnswer.Status,
        _ changes: [ObjectKey: ObjectDelta] = [:],
        writes: Bool
    ) -> LineDecision {
        let answer = SlotAnswer(
            status: status,
            epoch: slice.head.epoch,
            nonce: peer.nonce,
            outcome: peer.outcome,
            head: head,
            starts: [.ok, .accepted].contains(status)
                ? slice.starts(since: base.serial, until: head) : [],
            changes: changes
        )
        guard writes else { return LineDecision(answer: answer, writes: nil) }
        let writes = LineWrites(
            client: request.client,
            peer: peer,
            commit: commit,
            restoration: restoration,
            staging: staging
        )
        return LineDecision(answer: answer, writes: writes)
    }
}

/// What a request makes of the line's objects, and what its client has to do to follow.
struct LineGrowth {
    /// From the objects that the client has to those of the new head.
    private(set) var changes: [ObjectKey: ObjectDelta]
    private let slice: LineSlice
    private var steps: [ObjectKey: (forward: ObjectDelta?, value: VersionedValue?)] = [:]
    private var conflicts: [ObjectKey: [MergeConflict]] = [:]

    /// - Parameter changes: What the line has changed since the client's base.
    init(_ slice: LineSlice, changes: [ObjectKey: ObjectDelta]) {
        self.slice = slice
        self.changes = changes
    }

    /// An object as it is after what was taken so far.
    func object(at key: ObjectKey) -> VersionedValue? {
        steps[key].map(\.value) ?? slice.objects[key]?.value
    }

    /// Takes a merge of the line's changes (ours) with those of a client.
    mutating func take(_ merge: ObjectMerge, at key: ObjectKey) {
        changes[key] = merge.afterTheirs
        steps[key] = (merge.afterOurs, merge.result)
        if !merge.conflicts.isEmpty { conflicts[key] = merge.conflicts }
    }

    /// Adds to the records of conflicts what the merges have not taken.
    mutating func recordConflicts() throws(ReplicationError) {
        for (object, found) in conflicts {
            guard let key = ConflictRecord.key(about: object) else { continue }
            let step = steps[key] ?? (nil, slice.objects[key]?.value)
            let record = ConflictRecord.record(
                step.value,
                adding: found,
                about: object,
                in: steps[object]?.value?.value
            )
            guard let delta = ObjectDelta.diff(step.value, record) else { continue }
            steps[key] = (try step.forward.composed(with: delta), record)
            changes[key] = try changes[key].composed(with: delta)
        }
    }

    /// The rows to write, and the sum of the line's objects then.
    func writes() throws(ReplicationError) -> ([ObjectKey: LineObjectWrite], ContentSum) {
        var sum = slice.head.sum
        var writes: [ObjectKey: LineObjectWrite] = [:]
        for (key, step) in steps {
            let object = slice.objects[key] ?? LineObject()
            guard let forward = step.forward, step.value != object.value else { continue }
            let entry = LineEntry(
                serial: slice.head.state.serial + 1,
                forward: forward,
                backward: try forward.inverted(on: object.value)
            )
            let hash = step.value.map { CollectionSum.hash(of: $0, at: key) }
            sum.replace(object.value, withHash: hash, at: key)
            writes[key] = LineObjectWrite(
                value: step.value,
                hash: hash,
                growth: LineHead.size(of: step.value, at: key)
                    - LineHead.size(of: object.value, at: key),
                entry: entry
            )
        }
        return (writes, sum)
    }
}

// MARK: - An object

extension LineObject {
    /// The object as it was in an older state.
    package func value(at serial: Int64) throws(ReplicationError) -> VersionedValue? {
        guard serial > 0 else { return nil }
        var value = value
        for entry in entries.reversed() where entry.serial > serial {
            value = try entry.backward.applied(to: value)
        }
        return value
    }

    /// The change from an older state to the head.
    ///
    /// It is the difference of the two values, and not the composition of the entries, unless
    /// something was added: an item that was removed and brought back is still the same item.
    fileprivate func change(since serial: Int64) throws(ReplicationError) -> ObjectDelta? {
        guard serial > 0 else { return value.map(ObjectDelta.set) }
        var change: ObjectDelta?
        for entry in entries where entry.serial > serial {
            change = try change.composed(with: entry.forward)
        }
        guard let change else { return nil }
        let old = try self.value(at: serial)
        return change.hasIncrement && old != value ? change : .diff(old, value)
    }

    /// Merges a change of an older state that may be in the line already, entry by entry.
    ///
    /// An item that the line has inserted and removed since does not come back then, and what was
    /// added is not added again: increments count as the values that they led to.
    func merge(
        _ theirs: ObjectDelta?,
        since serial: Int64,
        _ key: ObjectKey,
        policy: MergePolicy,
        areTheirsDoubtful: Bool
    ) throws(ReplicationError) -> ObjectMerge {
        var old = try self.value(at: serial)
        let later = serial == 0 ? [] : entries.filter { $0.serial > serial }
        var merge = try ObjectMerge(
            key,
            base: old,
            ours: serial == 0 ? value.map(ObjectDelta.set) : nil,
            theirs: theirs,
            policy: policy,
            areTheirsDoubtful: areTheirsDoubtful
        )
        for entry in later {
            let new = try entry.forward.applied(to: old)
            let next = try ObjectMerge(
                key,
                base: old,
                ours: .diff(old, new, policy: policy),
                theirs: merge.afterOurs,
                policy: policy,
                areTheirsDoubtful: areTheirsDoubtful
            )
            merge = try merge.followed(by: next)
            old = new
        }
        return merge
    }
}

extension LineSlice {
    /// A state that is kept, of those that were asked for.
    func state(at serial: Int64) -> LineState? {
        states[serial].map { LineState(serial: serial, id: $0) }
    }

    /// The starts over which changes lead, the oldest first.
    func starts(since serial: Int64, until head: LineState) -> [LineStart] {
        openings.filter { (serial..<head.serial).contains($0.state.serial) }.map(\.told)
    }
}
