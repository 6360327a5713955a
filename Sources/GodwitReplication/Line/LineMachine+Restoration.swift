internal import GodwitStore
internal import GodwitTree

// What a client gives back: see `LineMachine+Recovery.swift`.

extension LineMachine {
    static func reads(_ request: RestorationRequest) -> LineReads {
        LineReads(
            client: request.client,
            former: nil,
            base: request.comparedWith,
            keys: request.isLast ? Set(request.objects.keys) : [],
            changedMax: request.isLast ? .max : 0,
            lostEpoch: request.epoch,
            stagedCount: request.isLast ? request.start : 0
        )
    }

    /// Makes what a client gives back part of the line, or keeps a piece of it.
    ///
    /// The changes of the answer lead on from the client's base.
    func decide(
        _ request: RestorationRequest,
        _ slice: LineSlice
    ) throws(ReplicationError) -> LineDecision {
        let slot = Slot(
            serial: request.comparedWith,
            have: slice.state(at: request.comparedWith)?.token(in: slice.head.epoch) ?? .none,
            former: nil,
            batch: nil
        )
        let asked = LineRequest(client: request.client, nonce: request.nonce, slot: slot)
        var turn = LineTurn(asked, slice)
        guard turn.isFresh else { return turn.answer(.stale, writes: false) }
        turn.peer.nonce = request.nonce
        guard let base = request.adopted.last, request.epoch != slice.head.epoch, turn.knowsBase,
            turn.peer.isAhead(base.serial, in: request.epoch)
        else { return turn.answer(.unknownBase, writes: true) }
        let restoration = slice.restorations[request.epoch]
        let isElsewhere = restoration?.isElsewhere(request.adopted) ?? true
        let earlier = isElsewhere ? nil : restoration
        let purpose = LineStaging.Purpose(
            epoch: request.epoch,
            base: base,
            comparedWith: turn.base
        )
        guard earlier.map({ $0.lost.serial < base.serial }) ?? true,
            restoration.map({ $0.reference.serial == request.comparedWith }) ?? true,
            request.start <= slice.stagedCount(for: purpose)
        else { return turn.answer(.unknownBase, writes: true) }
        guard request.isLast else {
            turn.staging = .append(request.objects, after: request.start, purpose)
            return turn.answer(.staged, writes: true)
        }
        let given = slice.given(with: request)
        let growth = try growth(of: turn, given, earlier?.objects ?? [:])
        try turn.commit(growth, replica: replica)
        _ = turn.moveRefs(to: turn.head.serial)
        turn.staging = .remove
        if restoration.map({ $0.lost.serial < base.serial }) ?? true {
            let given = LineRestoration(
                reference: turn.base,
                lost: base,
                objects: given,
                passed: request.adopted.filter { $0.serial > turn.base.serial }
            )
            turn.restoration = (request.epoch, given)
        }
        return turn.answer(.accepted, growth.changes, writes: true)
    }

    /// Merges what a client gives back.
    ///
    /// - Parameter lost: What another client has given back of the same line, on which this one has
    ///   gone on.
    private func growth(
        of turn: LineTurn,
        _ given: [ObjectKey: VersionedValue?],
        _ lost: [ObjectKey: VersionedValue?]
    ) throws(ReplicationError) -> LineGrowth {
        var growth = LineGrowth(turn.slice, changes: try turn.changesSinceBase())
        var rules = MergeRules(ProgramRules(policy))
        for key in Set(given.keys).union(lost.keys).rulesFirst {
            let policy = rules.policy(for: key) { growth.object(at: $0) }
            let reference = try turn.value(at: key)
            var object = given[key] ?? reference
            if !takes(object, at: key) { object = reference }
            guard let old = lost[key] else {
                let theirs = ObjectDelta.diff(reference, object, policy: policy)
                let merge = try turn.merge(theirs, at: key, policy, areDoubtful: false)
                growth.take(merge, at: key)
                continue
            }
            let merge = try ObjectMerge(
                key,
                base: old,
                ours: .diff(old, turn.slice.objects[key]?.value, policy: policy),
                theirs: .diff(old, object, policy: policy),
                policy: policy
            )
            growth.take(merge, at: key)
        }
        try growth.recordConflicts()
        return growth
    }
}

extension LineSlice {
    /// How many objects are there of what is given back for a purpose.
    fileprivate func stagedCount(for purpose: LineStaging.Purpose) -> Int64 {
        staging.flatMap { $0.purpose == purpose ? $0.count : nil } ?? 0
    }

    /// The objects of all pieces, of which the request is the last one.
    func given(with request: RestorationRequest) -> [ObjectKey: VersionedValue?] {
        guard request.start > 0, let staging else { return request.objects }
        return staging.objects.merging(request.objects) { _, new in new }
    }
}
