internal import GodwitStore
internal import GodwitTree

// What an answer does to a device. The transition is named first, then performed.

/// What an answer says about the device and its frozen batch.
private enum Transition {
    /// Another request of this client has overtaken this one: the device counts on from there.
    case overtaken
    /// A clone of the device has sent something under its id.
    case forked
    /// The server does not have the base.
    case stranded
    /// The changes lead to the head.
    case advanced(Settlement)
}

/// What became of the frozen batch.
private enum Settlement {
    /// There was none.
    case none
    /// It is in the line, and the changes lead on from where it leads.
    case accepted
    /// It was in the line before this request, and the changes lead on from the base.
    case known
    /// These objects are refused, and no part of the batch is in the line.
    case rejected([Rejection])
    /// It is not in the line, and no copy of it can get there any more: its changes are pending again.
    case thawed
}

extension DeviceMachine {
    /// Takes in the server's answer to the last request.
    ///
    /// - Parameters:
    ///   - slot: What the request said about this replica.
    ///   - fresh: The id that the device takes when a clone uses its own.
    /// - Throws: ``ReplicationError/wrongContent`` when the changes do not lead to the head's
    ///   content, or to no content at all: the device compares its objects then.
    func adopt(
        _ answer: SlotAnswer,
        to slot: Slot,
        _ slice: DeviceSlice,
        fresh: ClientID
    ) throws(ReplicationError) -> Adoption {
        switch transition(answer, slot, slice) {
        case .overtaken: return try slice.overtaken(by: answer.nonce, fresh: fresh)
        case .forked: return try slice.forked(fresh: fresh)
        case .stranded:
            var adoption = Adoption(replica: slice.replica, identity: slice.identity)
            adoption.next = .recover
            return adoption
        case .advanced(let settlement): return try advance(answer, settlement, slice)
        }
    }

    private func transition(
        _ answer: SlotAnswer,
        _ slot: Slot,
        _ slice: DeviceSlice
    ) -> Transition {
        let replica = slice.replica
        if replica.isForked(by: answer.outcome, in: answer.epoch) { return .forked }
        switch answer.status {
        case .stale: return .overtaken
        case .unknownBase, .staged: return .stranded
        case .accepted: return .advanced(.accepted)
        case .ok: break
        }
        guard slot.batch != nil else { return .advanced(.none) }
        guard let outcome = answer.outcome, outcome.name == replica.name else {
            return .advanced(.thawed)
        }
        switch outcome.result {
        case .accepted: return .advanced(.known)
        case .rejected(let rejections): return .advanced(.rejected(rejections))
        }
    }

    // MARK: - Advancing

    private func advance(
        _ answer: SlotAnswer,
        _ settlement: Settlement,
        _ slice: DeviceSlice
    ) throws(ReplicationError) -> Adoption {
        var draft = AdoptionDraft(slice, self)
        var changes = answer.changes
        switch settlement {
        case .none: break
        case .thawed: draft.thaw()
        case .accepted: try draft.settleAccepted()
        case .known: try draft.settleKnown(&changes)
        case .rejected(let rejections): try draft.hold(rejections)
        }
        try draft.dropUndone(unless: changes)
        try draft.arrive(changes)
        var adoption = try draft.adoption(
            at: answer.head,
            of: answer.epoch,
            after: slice.replica.starts + answer.starts,
            answer.outcome
        )
        if case .none = settlement {} else { adoption.settled = answer.outcome }
        return adoption
    }
}

extension DeviceReplica {
    /// Whether an outcome is one that this device cannot have caused.
    func isForked(by outcome: BatchOutcome?, in epoch: Epoch) -> Bool {
        guard let outcome, self.epoch == nil || self.epoch == epoch else { return false }
        return outcome.sequence > sequence || outcome.sequence == sequence && outcome.name != name
    }

    /// Counts on from the server's last outcome: it may have lost later ones.
    mutating func take(_ outcome: BatchOutcome?) {
        isFrozen = false
        sequence = outcome?.sequence ?? 0
        name = outcome?.name
    }
}

// MARK: - Other transitions

extension DeviceSlice {
    fileprivate func overtaken(
        by nonce: Int64,
        fresh: ClientID
    ) throws(ReplicationError) -> Adoption {
        if DeviceIdentity.isUsedUp(nonce) { return try forked(fresh: fresh) }
        var adoption = Adoption(replica: replica, identity: identity)
        adoption.next = .ask
        if pending.isEmpty, !hasMore, nonce > identity.nonce {
            adoption.identity.client = fresh
            adoption.count(anewInsteadOf: client)
        } else {
            adoption.identity.nonce = max(identity.nonce, nonce)
        }
        return adoption
    }

    /// A clone of the device exists: what is pending here may be in the line already.
    ///
    /// - Precondition: The slice has all pending objects, and no copy of the frozen batch can get into
    ///   the line any more.
    func forked(fresh: ClientID) throws(ReplicationError) -> Adoption {
        var adoption = Adoption(replica: replica, identity: identity)
        adoption.next = .ask
        // A batch that went on under an old id was the last one of it.
        if replica.frozenAs == nil { adoption.identity.client = fresh }
        try adoption.doubt(self, insteadOf: client)
        return adoption
    }

    /// Another replica of the server has found a clone, and the device has taken another id.
    ///
    /// - Precondition: The slice has all pending objects.
    func leftBehind() throws(ReplicationError) -> Adoption {
        guard replica.isFrozen else { return try forked(fresh: identity.client) }
        var adoption = Adoption(replica: replica, identity: identity)
        adoption.replica.frozenAs = client
        return adoption
    }
}

extension Adoption {
    /// Doubts all pending changes, which are sent under the device's id and not the client's.
    mutating func doubt(
        _ slice: DeviceSlice,
        insteadOf client: ClientID
    ) throws(ReplicationError) {
        count(anewInsteadOf: client)
        for key in Set(slice.pending.keys).union(pending.keys) {
            guard var row = pending[key] ?? slice.pending[key], row.rejection != .refusedHere else {
                continue
            }
            // The edit of a refused object is apart already.
            if row.rejection != .editedHere { (row.frozen, row.tail) = (try row.changes(), nil) }
            row.batch = nil
            row.isDoubtful = true
            pending[key] = row
        }
    }

    fileprivate mutating func count(anewInsteadOf client: ClientID) {
        // The server may not have heard of the id in between.
        replica.former = replica.former ?? client
        replica.sequence = 0
        replica.name = nil
        replica.isFrozen = false
        replica.frozenAs = nil
    }
}
