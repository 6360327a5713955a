internal import GodwitStore
internal import GodwitTree

// A device with a base that the server does not have: it compares its objects with a state of the
// server's, and adopts what differs, or gives it back. See `LineMachine` for the decision.

extension DeviceSlice {
    /// The objects of the replica's base, of those that are in the slice.
    var baseObjects: [ObjectKey: VersionedValue] {
        var base = objects
        for (key, row) in pending { base[key] = row.base }
        return base
    }
}

extension DeviceMachine {
    /// Adopts the state that the device was compared with.
    ///
    /// The server has written the nonce of the request, so that no copy of the frozen batch is applied
    /// later.
    ///
    /// - Parameter differences: The server's objects where they differ from the base.
    /// - Throws: ``ReplicationError/wrongContent`` when the differences are not all there are.
    func adopt(
        _ answer: RecoveryAnswer,
        _ differences: [ObjectKey: VersionedValue?],
        _ slice: DeviceSlice
    ) throws(ReplicationError) -> Adoption {
        var draft = AdoptionDraft(slice, self)
        var changes: [ObjectKey: ObjectDelta] = [:]
        for (key, object) in differences { changes[key] = .diff(draft.base(key), object) }
        try draft.settle(answer.outcome, in: answer.epoch, &changes)
        if answer.way == .unite { try draft.unite(&changes) }
        try draft.arrive(changes)
        var adoption = try draft.adoption(
            at: answer.state,
            of: answer.epoch,
            after: answer.starts,
            answer.outcome
        )
        adoption.replica.isSalvaged = false
        // The line may have grown while the objects were compared.
        adoption.next = .ask
        return adoption
    }

    /// Keeps objects here that are too large to be given back.
    ///
    /// - Parameter theirs: What the server has in their places.
    func withhold(
        _ theirs: [ObjectKey: VersionedValue?],
        _ slice: DeviceSlice
    ) throws(ReplicationError) -> Adoption {
        var draft = AdoptionDraft(slice, self)
        for (key, object) in theirs { try draft.withhold(key, over: object) }
        return draft.adoption
    }

    /// The next objects that the device gives back, up to the size of a batch.
    ///
    /// - Parameter keys: Those that are not given back yet, of which the slice has the first ones.
    func piece(
        of keys: some Collection<ObjectKey>,
        _ slice: DeviceSlice
    ) -> [ObjectKey: VersionedValue?] {
        let base = slice.baseObjects
        var piece: [ObjectKey: VersionedValue?] = [:]
        var size = 0
        for key in keys.prefix(batchCountMax) {
            size += base[key]?.value.canonicalBytes.count ?? 0
            size += key.collection.text.utf8.count + key.key.text.utf8.count
            if size > batchSizeMax, !piece.isEmpty { break }
            piece[key] = .some(base[key])
        }
        return piece
    }

    /// Adopts the answer to what the device has given back.
    ///
    /// - Parameter recovery: Which state the device was compared with.
    func adoptRestoration(
        _ answer: SlotAnswer,
        after recovery: RecoveryAnswer,
        _ slice: DeviceSlice
    ) throws(ReplicationError) -> Adoption {
        guard answer.status == .accepted else {
            var adoption = Adoption(replica: slice.replica, identity: slice.identity)
            adoption.next = .recover
            return adoption
        }
        var draft = AdoptionDraft(slice, self)
        var changes = answer.changes
        try draft.settle(answer.outcome, in: answer.epoch, &changes)
        try draft.arrive(changes)
        return try draft.adoption(
            at: answer.head,
            of: answer.epoch,
            after: recovery.starts + answer.starts,
            answer.outcome
        )
    }
}
