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
//   (5) A client may give back in several pieces. They are kept, also over a kill of the client, and
//       become part of the line at once, with the last one. What a piece has is decided by the two
//       states that are compared, so pieces of a clone with the same base are the same.
//   (6) A client that may only read gives nothing back, and gives the line no other epoch: whatever its
//       base is, it adopts what differs.

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
            let purpose = way == .giveBack ? request.purpose(comparedWith: state) : nil
            let given = slice.staging.flatMap { $0.purpose == purpose ? $0.count : nil }
            let answer = RecoveryAnswer(
                way: way,
                epoch: head.epoch,
                nonce: peer.nonce,
                outcome: peer.outcome,
                state: state,
                starts: slice.starts(since: 0, until: state),
                givenCount: given ?? 0
            )
            guard way != .stale else { return RecoveryDecision(answer: answer, writes: nil) }
            let writes = LineWrites(
                client: request.client,
                peer: peer,
                epoch: head.epoch == slice.head.epoch ? nil : head.epoch,
                staging: slice.staging == nil || given != nil || right == .read ? .none : .remove
            )
            return RecoveryDecision(answer: answer, writes: writes)
        }
        guard request.nonce > peer.nonce else { return answer(.stale, head.state) }
        peer.nonce = request.nonce
        let base = request.adopted.last ?? .root
        if right == .write, request.epoch == head.epoch, peer.isAhead(base.serial, in: head.epoch) {
            head.epoch = newEpoch
        }
        let isAhead = request.epoch.map { $0 != head.epoch && peer.isAhead(base.serial, in: $0) }
        let reference = right == .write && isAhead == true ? slice.reference(for: request) : nil
        let state = reference ?? head.state
        (peer.acked, peer.sent) = (state.serial, state.serial)
        peer.noteSent(state.serial, in: head.epoch)
        // A client without a base has never been here, and has nothing to keep beside the head.
        if right == .write, known == nil, request.epoch != nil { return answer(.unite, state) }
        return answer(reference == nil ? .adopt : .giveBack, state)
    }
}

extension RecoveryRequest {
    fileprivate func purpose(comparedWith state: LineState) -> LineStaging.Purpose? {
        guard let epoch, let base = adopted.last else { return nil }
        return LineStaging.Purpose(epoch: epoch, base: base, comparedWith: state)
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
        return beginning(of: request.starts, since: common, before: base) ?? common
    }

    /// The state at which the lost line began; nil when the starts do not tell.
    ///
    /// A server that is restored is started then, and the client knows the starts of its own line: the lost
    /// line began at the first one that it does not know, after those that it does. If the client's line
    /// has a start of its own before that one, it left this line earlier.
    private func beginning(
        of starts: [LineStart],
        since common: LineState,
        before base: LineState
    ) -> LineState? {
        let known = Set(starts)
        let last = openings.lastIndex { known.contains($0.told) }
        let isComplete =
            openings.count < Self.openingCountMax
            || openings.first.map { $0.state.serial <= common.serial } ?? false
        guard last != nil || isComplete else { return nil }
        let first = openings.dropFirst(last.map { $0 + 1 } ?? 0).first {
            $0.state.serial >= common.serial
        }
        let there = Set(openings.map(\.told))
        let lastShared = starts.lastIndex(where: there.contains).map { $0 + 1 } ?? 0
        let own = starts.dropFirst(lastShared).first
        guard let first, first.state.serial < base.serial,
            own.map({ $0.serial >= first.state.serial }) ?? true
        else { return nil }
        return first.state
    }
}
