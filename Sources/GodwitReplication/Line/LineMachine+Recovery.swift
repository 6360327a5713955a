internal import GodwitStore
internal import GodwitTree

// A client with a base that the line does not have.
//
//   (1) A client that is ahead has named a serial that was never sent to it in this line. The line
//       has lost states, and the client gives back how its base differs from a state that both
//       have: the reference. What is absent in its base was removed.
//   (2) Clients that are ahead come from one lost line, and compare themselves with one reference.
//       The first gives back all until its base. A client with an older base is behind. One with
//       a newer base gives back on top: its changes since the first one's base are merged. If the
//       server was restored more than once, there may be several lost lines: a client of another
//       one gives back all it has since the reference.
//   (3) Any other client is behind: its base was folded away, and it adopts what differs.
//   (4) A client that the server does not know brings data: nothing is taken for removed.

/// An answer about a recovery, and what has to be durable before it leaves.
struct RecoveryDecision: Sendable {
    let answer: RecoveryAnswer
    let writes: LineWrites?
}

extension LineMachine {
    static func reads(_ request: RecoveryRequest) -> LineReads {
        LineReads(
            client: request.client,
            former: request.former,
            base: request.adopted.last?.serial ?? 0,
            keys: [],
            changedMax: 0,
            serials: Set((request.adopted + request.earlier).map(\.serial)),
            lostEpoch: request.epoch
        )
    }

    /// Decides how a client gets back in sync, and keeps the state that it compares itself with.
    ///
    /// - Parameter newEpoch: The epoch that the line gets if it has lost states.
    func decide(
        _ request: RecoveryRequest,
        _ slice: LineSlice,
        newEpoch: Epoch
    ) -> RecoveryDecision {
        var head = slice.head
        let known = slice.peer ?? slice.former
        var peer = slice.peer ?? LinePeer(sentMax: slice.former?.sentMax ?? [:])
        func answer(_ way: RecoveryAnswer.Way, _ state: LineState) -> RecoveryDecision {
            let answer = RecoveryAnswer(
                way: way,
                epoch: head.epoch,
                nonce: peer.nonce,
                outcome: peer.outcome,
                state: state
            )
            guard way != .stale else { return RecoveryDecision(answer: answer, writes: nil) }
            let epoch = head.epoch == slice.head.epoch ? nil : head.epoch
            let writes = LineWrites(client: request.client, peer: peer, epoch: epoch)
            return RecoveryDecision(answer: answer, writes: writes)
        }
        guard request.nonce > peer.nonce else { return answer(.stale, head.state) }
        peer.nonce = request.nonce
        let base = request.adopted.last ?? .root
        if request.epoch == head.epoch, peer.isAhead(base.serial, in: head.epoch) {
            head.epoch = newEpoch
        }
        let isAhead = request.epoch.map { $0 != head.epoch && peer.isAhead(base.serial, in: $0) }
        let reference = isAhead == true ? slice.reference(for: request) : nil
        let state = reference ?? head.state
        (peer.acked, peer.sent) = (state.serial, state.serial)
        peer.noteSent(state.serial, in: head.epoch)
        // A client without a base has never been here, and has nothing to keep beside the head.
        if known == nil, request.epoch != nil { return answer(.unite, state) }
        return answer(reference == nil ? .adopt : .giveBack, state)
    }
}

extension LineSlice {
    /// The state on which a client that is ahead gives back; nil when it is not ahead any more.
    fileprivate func reference(for request: RecoveryRequest) -> LineState? {
        guard let base = request.adopted.last, let epoch = request.epoch else { return nil }
        if let restoration = restorations[epoch] {
            let isPassed = base.serial <= restoration.lost.serial
            return isPassed && !restoration.isElsewhere(request.adopted)
                ? nil : restoration.reference
        }
        let adopted = request.earlier + request.adopted
        let common = adopted.last { states[$0.serial] == $0.id } ?? .root
        return start(of: common, before: base) ?? common
    }

    /// The state at which the lost line began, or an older one that is in both lines.
    ///
    /// A server that is restored is started: the lost line began where a start found the head.
    private func start(of common: LineState, before base: LineState) -> LineState? {
        let isComplete = openings.count < Self.openingCountMax
        guard isComplete || openings.first.map({ $0.serial <= common.serial }) ?? false,
            let start = openings.first(where: { $0.serial >= common.serial }),
            start.serial < base.serial
        else { return nil }
        return start
    }
}

// MARK: - What is given back

extension LineMachine {
    static func reads(_ request: RestorationRequest) -> LineReads {
        LineReads(
            client: request.client,
            former: nil,
            base: request.comparedWith,
            keys: request.objects.keys.withRecords,
            lostEpoch: request.epoch
        )
    }

    /// Makes what a client gives back part of the line.
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
        guard earlier.map({ $0.lost.serial < base.serial }) ?? true,
            restoration.map({ $0.reference.serial == request.comparedWith }) ?? true
        else { return turn.answer(.unknownBase, writes: true) }

        var growth = LineGrowth(slice, changes: try turn.changesSinceBase())
        let lost = earlier?.objects ?? [:]
        for key in Set(request.objects.keys).union(lost.keys) {
            let reference = try turn.value(at: key)
            var object = request.objects[key] ?? reference
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
                ours: .diff(old, slice.objects[key]?.value, policy: policy),
                theirs: .diff(old, object, policy: policy),
                policy: policy
            )
            growth.take(merge, at: key)
        }
        try growth.recordConflicts()
        try turn.commit(growth, replica: replica)
        _ = turn.moveRefs(to: turn.head.serial)
        if restoration.map({ $0.lost.serial < base.serial }) ?? true {
            let given = LineRestoration(
                reference: turn.base,
                lost: base,
                objects: request.objects,
                passed: request.adopted.filter { $0.serial > turn.base.serial }
            )
            turn.restoration = (request.epoch, given)
        }
        return turn.answer(.accepted, growth.changes, writes: true)
    }
}
