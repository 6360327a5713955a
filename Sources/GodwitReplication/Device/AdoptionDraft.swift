internal import GodwitStore
internal import GodwitTree

/// An adoption under way: the rows and objects as they will be.
struct AdoptionDraft {
    private let slice: DeviceSlice
    private let machine: DeviceMachine
    private var rules: MergeRules
    /// The sum of the base's objects.
    private(set) var sum: ContentSum
    private var rows: [ObjectKey: PendingObject?] = [:]
    private var objects: [ObjectKey: VersionedValue?] = [:]
    private var conflicts: [ObjectKey: [MergeConflict]] = [:]

    init(_ slice: DeviceSlice, _ machine: DeviceMachine) {
        self.slice = slice
        self.machine = machine
        rules = MergeRules(machine.rules)
        sum = slice.replica.sum
    }

    var adoption: Adoption {
        var adoption = Adoption(replica: slice.replica, identity: slice.identity)
        adoption.replica.sum = sum
        adoption.pending = rows
        adoption.objects = objects
        adoption.conflicts = conflicts
        return adoption
    }

    /// The adoption of a state.
    ///
    /// - Parameter starts: The starts of the server before that state.
    /// - Throws: ``ReplicationError/wrongContent`` when the base's objects are not those of the
    ///   state.
    func adoption(
        at state: LineState,
        of epoch: Epoch,
        after starts: [LineStart],
        _ outcome: BatchOutcome?
    ) throws(ReplicationError) -> Adoption {
        guard sum.digest == state.id.content else { throw .wrongContent }
        var adoption = adoption
        adoption.replica.base = state
        adoption.replica.epoch = epoch
        adoption.replica.starts = starts.suffix(LineStart.rememberedMax)
        adoption.replica.former = nil
        adoption.fetched = .dropped
        adoption.replica.take(outcome)
        if slice.replica.frozenAs != nil { try adoption.doubt(slice, insteadOf: slice.client) }
        return adoption
    }

    private var policy: MergePolicy { machine.policy }

    private func row(_ key: ObjectKey) -> PendingObject? {
        if let row = rows[key] { row } else { slice.pending[key] }
    }
}

// MARK: - The frozen batch

extension AdoptionDraft {
    /// Settles a batch of which a recovery has told the outcome, if the server knows it; else its changes
    /// are pending again, kept apart from the tail until the next batch is frozen.
    mutating func settle(
        _ outcome: BatchOutcome?,
        in epoch: Epoch,
        _ changes: inout [ObjectKey: ObjectDelta]
    ) throws(ReplicationError) {
        let replica = slice.replica
        guard replica.isFrozen else { return }
        guard let outcome, outcome.name == replica.name else {
            thaw(areDoubtful: replica.epoch != nil && replica.epoch != epoch)
            return
        }
        switch outcome.result {
        case .accepted: try settleKnown(&changes)
        case .rejected(let rejections): try hold(rejections)
        }
    }

    /// The batch is in the line: its objects' bases are where it leads.
    mutating func settleAccepted() throws(ReplicationError) {
        for (key, var row) in slice.frozen {
            let target = try row.frozen.applied(to: row.base)
            sum.replace(row.base, with: target, at: key)
            row.base = target
            // One that was given up as too large has got through all the same.
            (row.frozen, row.batch, row.rejection) = (nil, nil, nil)
            row.isDoubtful = false
            rows[key] = .some(row.tail == nil ? nil : row)
        }
    }

    /// The batch was in the line before: what the server says about its objects leads on from the
    /// old base, and is made to lead on from where the batch leads.
    mutating func settleKnown(
        _ changes: inout [ObjectKey: ObjectDelta]
    ) throws(ReplicationError) {
        for (key, row) in slice.frozen {
            let target = try row.frozen.applied(to: row.base)
            let head = try changes[key].applied(to: row.base)
            let rest = ObjectDelta.diff(target, head, policy: policy)
            changes[key] = try rest?.counting(changes[key], since: row, to: head)
        }
        try settleAccepted()
    }

    /// The server refuses some objects of the batch: these stay here until they are edited.
    mutating func hold(_ rejections: [Rejection]) throws(ReplicationError) {
        let reasons = Dictionary(
            rejections.map { ($0.key, $0.reason) },
            uniquingKeysWith: { first, _ in first }
        )
        thaw()
        for (key, var row) in slice.frozen {
            guard let reason = reasons[key] else { continue }
            let changes = try row.changes()
            row.batch = nil
            (row.frozen, row.tail) = row.isDoubtful ? (changes, nil) : (nil, changes)
            // An edit since then may have made it acceptable.
            row.rejection = slice.pending[key]?.tail == nil ? reason : nil
            rows[key] = row
        }
    }

    /// The batch is not in the line, and no copy of it can get there: its changes are pending again.
    ///
    /// - Parameter areDoubtful: Whether it may have been in a line that the server has lost.
    mutating func thaw(areDoubtful: Bool = false) {
        for (key, var row) in slice.frozen {
            row.batch = nil
            row.isDoubtful = row.isDoubtful || areDoubtful
            rows[key] = row
        }
    }
}

// MARK: - What arrives

extension AdoptionDraft {
    /// Forgets doubtful changes that are undone, unless they have arrived.
    mutating func dropUndone(
        unless changes: [ObjectKey: ObjectDelta]
    ) throws(ReplicationError) {
        for key in slice.pending.keys where changes[key] == nil {
            guard var row = row(key), row.isDoubtful, !row.isRefused else { continue }
            guard try row.frozen.applied(to: row.base) == row.base else { continue }
            (row.frozen, row.isDoubtful) = (nil, false)
            rows[key] = .some(row.tail == nil ? nil : row)
        }
    }

    /// Adopts changes of the base's objects, merges what is pending on top, and records conflicts.
    mutating func arrive(_ changes: [ObjectKey: ObjectDelta]) throws(ReplicationError) {
        for key in changes.keys.rulesFirst {
            if let delta = changes[key] { try arrive(delta, at: key) }
        }
        try recordConflicts()
    }

    private mutating func arrive(_ delta: ObjectDelta, at key: ObjectKey) throws(ReplicationError) {
        guard var row = row(key), row.frozen != nil || row.tail != nil,
            !row.isRefused
        else {
            // What was frozen here, and is settled, has no row any more.
            let old = base(key)
            let new = try delta.applied(to: old)
            sum.replace(old, with: new, at: key)
            if self.row(key)?.rejection == .editedHere { return try hold(new, at: key) }
            if wasSent(key), !isReadable(new, at: key), isReadable(old, at: key) {
                // The server has no types, and has merged what the device had sent.
                return keep(old, over: new, since: slice.pending[key]?.base, at: key)
            }
            if holdsArrivals(at: key) { return try hold(new, at: key) }
            set(new, at: key)
            rows[key] = slice.pending[key] == nil ? nil : .some(nil)
            return
        }
        let old = row.base
        let new = try delta.applied(to: old)
        sum.replace(old, with: new, at: key)
        if wasSent(key), !isReadable(new, at: key), isReadable(slice.objects[key], at: key) {
            return keep(slice.objects[key], over: new, since: slice.pending[key]?.base, at: key)
        }
        if holdsArrivals(at: key) { return try hold(row, before: new, at: key) }
        let policy = rules.policy(for: key) { objects[$0] ?? slice.objects[$0] }
        let earlier = try row.rebase(key, onto: delta, policy)
        let merge = try ObjectMerge(
            key,
            base: earlier.target,
            ours: earlier.merge.afterTheirs,
            theirs: row.tail,
            policy: policy
        )
        if !isReadable(merge.result, at: key) {
            if isReadable(new, at: key) { return take(new, since: old, at: key) }
            let own = slice.objects[key]
            // Another device has yet to mend what the server has made of its edit.
            if own != nil, isReadable(own, at: key) {
                return keep(own, over: new, since: old, at: key)
            }
        }
        row.base = new
        row.tail = merge.afterOurs
        rows[key] = .some(row.frozen == nil && row.tail == nil ? nil : row)
        set(merge.result, at: key)
        let found = try earlier.merge.followed(by: merge).conflicts
        if !found.isEmpty { conflicts[key] = found }
    }

    /// Whether the app's hooks may refuse the object: they do not see Godwit's own.
    private func holdsArrivals(at key: ObjectKey) -> Bool {
        machine.holdsArrivals && !key.isReserved
    }

    /// Whether the object was in the batch that is settled now.
    private func wasSent(_ key: ObjectKey) -> Bool {
        slice.replica.isFrozen && slice.pending[key]?.batch == slice.replica.sequence
    }

    private func isReadable(_ object: VersionedValue?, at key: ObjectKey) -> Bool {
        object.map { machine.isReadable(key, $0) } ?? true
    }

    /// Leaves the store's object as it is: the row leads from the new object to it, and is not sent.
    ///
    /// Where the app has edited a refused object, it leads to the object before the edit.
    private mutating func hold(
        _ new: VersionedValue?,
        at key: ObjectKey
    ) throws(ReplicationError) {
        if var row = row(key), row.rejection == .editedHere {
            let old = try row.tail.applied(to: row.base)
            (row.base, row.tail) = (new, .diff(new, old, policy: policy))
            rows[key] = row
            return
        }
        guard let change = ObjectDelta.diff(new, slice.objects[key], policy: policy) else {
            rows[key] = slice.pending[key] == nil ? nil : .some(nil)
            return
        }
        rows[key] = PendingObject(base: new, tail: change, rejection: .refusedHere)
    }

    /// Leaves the store's object as it is, for which the app has made changes: these are merged with the
    /// new object before the next request, by themselves.
    private mutating func hold(
        _ row: PendingObject,
        before new: VersionedValue?,
        at key: ObjectKey
    ) throws(ReplicationError) {
        rows[key] = PendingObject(
            base: new,
            frozen: try row.changes(),
            tail: .diff(new, row.base, policy: policy),
            rejection: .editedHere,
            isDoubtful: row.isDoubtful
        )
    }

    /// Leaves the store's object as it is: the row leads from the server's object to it, and is not sent.
    mutating func withhold(
        _ key: ObjectKey,
        over new: VersionedValue?
    ) throws(ReplicationError) {
        let old = base(key)
        var row = row(key) ?? PendingObject(base: old)
        sum.replace(old, with: new, at: key)
        if let frozen = row.frozen, row.rejection != .editedHere {
            row.frozen = try frozen.applied(to: old).map(ObjectDelta.set) ?? .removed
        } else {
            row.tail = .diff(new, try row.tail.applied(to: old), policy: policy)
        }
        (row.base, row.rejection) = (new, row.isRefused ? row.rejection : .tooLarge)
        rows[key] = .some(row.frozen == nil && row.tail == nil ? nil : row)
    }

    /// Keeps what the device has made of an object, and reports the other side's change.
    private mutating func keep(
        _ own: VersionedValue?,
        over new: VersionedValue?,
        since old: VersionedValue?,
        at key: ObjectKey
    ) {
        let change = ObjectDelta.diff(new, own, policy: policy)
        rows[key] = .some(change.map { PendingObject(base: new, tail: $0) })
        conflicts[key] = [MergeConflict(key, since: old, ours: own, theirs: new, .ours)]
    }

    /// Takes the other side's object whole, because the app could not read a merge.
    private mutating func take(
        _ new: VersionedValue?,
        since old: VersionedValue?,
        at key: ObjectKey
    ) {
        let own = slice.objects[key]
        rows[key] = .some(nil)
        set(new, at: key)
        conflicts[key] = [MergeConflict(key, since: old, ours: own, theirs: new, .theirs)]
    }

    /// Adds to the records of conflicts what the merges have not taken; it is sent like an edit.
    private mutating func recordConflicts() throws(ReplicationError) {
        for (object, found) in conflicts {
            guard let key = ConflictRecord.key(about: object) else { continue }
            let old = objects[key] ?? slice.objects[key]
            let result = (objects[object] ?? slice.objects[object])?.value
            let record = ConflictRecord.record(old, adding: found, about: object, in: result)
            guard let delta = ObjectDelta.diff(old, record) else { continue }
            rows[key] = .some(try machine.record(delta, of: old, pending: row(key)))
            set(record, at: key)
        }
    }

    /// The object of the base; without pending changes, it is the object itself.
    func base(_ key: ObjectKey) -> VersionedValue? {
        if let row = row(key) { row.base } else { slice.objects[key] }
    }

    /// Makes the objects that change ones that the device has created and not sent yet.
    mutating func unite(_ changes: inout [ObjectKey: ObjectDelta]) throws(ReplicationError) {
        for (key, delta) in changes {
            let old = base(key)
            // A refused object came from the server, if the server has it still.
            let new = try delta.applied(to: old)
            if let row = row(key), row.isRefused, row.rejection == .editedHere || new != nil {
                continue
            }
            // What the app has removed stays removed here.
            let object = if let row = row(key) { try row.target() } else { old }
            changes[key] = .diff(nil, new)
            sum.replace(old, with: nil, at: key)
            rows[key] = .some(
                object.map { PendingObject(base: nil, frozen: .set($0), isDoubtful: true) }
            )
        }
    }

    private mutating func set(_ object: VersionedValue?, at key: ObjectKey) {
        objects[key] = object == slice.objects[key] ? nil : .some(object)
    }
}

extension PendingObject {
    /// Whether a hook of the app has refused what the server has.
    var isRefused: Bool { rejection == .refusedHere || rejection == .editedHere }
}

extension ObjectDelta {
    /// This change from a row's frozen changes to the head, where what others have added is added.
    ///
    /// - Parameter change: The change from the row's base, of which the frozen changes are a part.
    fileprivate func counting(
        _ change: ObjectDelta?,
        since row: PendingObject,
        to head: VersionedValue?
    ) throws(ReplicationError) -> ObjectDelta {
        guard let change, change.hasIncrement, let frozen = row.frozen, !frozen.isWhole,
            case .apply(let set) = self.change,
            case .apply(let added)? = try frozen.inverted(on: row.base).composed(with: change)?
                .change
        else { return self }
        let counted = ObjectDelta(.apply(set.counting(as: added)), version: version)
        let target = try frozen.applied(to: row.base)
        let counts = try? counted.applied(to: target)
        return counts == head ? counted : self
    }
}

extension PendingObject {
    /// Rebases the doubtful changes, of which a clone may have sent some already.
    ///
    /// What is left of them stays apart from the tail, which is exact. Increments of either side
    /// count as the values that they led to, because both may be the same ones.
    fileprivate mutating func rebase(
        _ key: ObjectKey,
        onto delta: ObjectDelta,
        _ policy: MergePolicy
    ) throws(ReplicationError) -> (merge: ObjectMerge, target: VersionedValue?) {
        if !isDoubtful {
            tail = try changes()
            frozen = nil
        }
        let target = try frozen.applied(to: base)
        let merge = try ObjectMerge(
            key,
            base: base,
            ours: isDoubtful ? .diff(base, delta.applied(to: base)) : delta,
            theirs: .diff(base, target),
            policy: policy,
            areTheirsDoubtful: isDoubtful
        )
        frozen = merge.afterOurs
        isDoubtful = frozen != nil
        return (merge, target)
    }
}
