#if PostgreSQL
internal import GodwitReplication
internal import GodwitStore
internal import GodwitTree

// What is read for a decision, and what is written of it.

extension LineSlice {
    init(_ reads: LineReads, of name: ReplicaName, on session: PostgreSQLSession) throws {
        let line = LineNumber(name)
        var restorations: [Epoch: LineRestoration] = [:]
        var staging: LineStaging?
        if let epoch = reads.lostEpoch {
            restorations[epoch] = try LineRestorationRow.restoration(of: epoch, line, on: session)
            staging = try LineStagingRow.staging(
                of: reads.client,
                first: reads.stagedCount,
                line,
                on: session
            )
        }
        let lost = restorations.values.flatMap(\.objects.keys)
        let keys = reads.keys.union(lost + (staging?.objects ?? [:]).keys)
        // All of these travel together, with the first question for objects.
        let pendingHead = try LineRow.pendingHead(of: name, on: session)
        let pendingSums = try LineRow.sums(of: LineReads.collections(of: keys), line, on: session)
        let pendingPeers = try LinePeerRow.peers(
            [reads.client] + (reads.former.map { [$0] } ?? []),
            of: line,
            on: session
        )
        let states = try LineRow.states(
            at: reads.serials.union([reads.base]),
            of: line,
            on: session
        )
        let openings = try LineOpeningRow.openings(
            since: reads.lostEpoch == nil ? reads.base : 0,
            of: line,
            on: session
        )
        let objects = try LineObjectRow.objects(
            since: reads.base,
            and: {
                let sums = try pendingSums.value()
                return keys.withRecords { sums[$0] != nil }
            },
            countMax: reads.changedMax,
            of: line,
            on: session
        )
        var head = try pendingHead.value()
        head.sum = ContentSum(total: head.sum.all, collections: try pendingSums.value())
        let peers = try pendingPeers.value()
        self.init(
            head: head,
            peer: peers[reads.client],
            former: reads.former.flatMap { peers[$0] },
            objects: objects ?? [:],
            isPartial: objects == nil,
            states: try states.value(),
            openings: try openings.value(),
            restorations: restorations,
            staging: staging
        )
    }
}

extension LineWrites {
    /// Whether everything is still as the slice says; the line is locked from then on.
    func areCurrent(
        decidedOn slice: LineSlice,
        of name: ReplicaName,
        on session: PostgreSQLSession
    ) throws -> Bool {
        let line = LineNumber(name)
        let kept = peer.kept.subtracting(commit.map { [$0.state.serial] } ?? [])
        let pendingHead = try LineRow.pendingHead(of: name, isLocked: true, on: session)
        let peers = try LinePeerRow.peers([client], of: line, on: session)
        let states = try LineRow.states(at: kept, of: line, on: session)
        let head = try pendingHead.value()
        guard head.epoch == slice.head.epoch,
            commit == nil || head.state == slice.head.state,
            commit == nil || head.start == slice.head.start,
            try peers.value()[client] == slice.peer
        else { return false }
        return try states.value().count == kept.count
    }

    func write(
        to line: LineNumber,
        replacing slice: LineSlice,
        at now: Int64,
        _ decision: Int64,
        on session: PostgreSQLSession
    ) throws {
        if let commit {
            try LineRow.setHead(commit, replacing: slice.head.sum, of: line, on: session)
            try LineObjectRow.write(commit.objects, by: client, at: now, of: line, on: session)
        }
        if let epoch { try LineRow.setEpoch(epoch, of: line, on: session) }
        if let (epoch, restoration) = restoration {
            try LineRestorationRow.set(restoration, epoch, of: line, on: session)
        }
        try LineStagingRow.write(
            staging,
            replacing: slice.staging,
            of: client,
            line,
            on: session
        )
        try LinePeerRow.set(
            peer,
            client,
            seen: now,
            decision: decision,
            of: line,
            on: session
        )
    }
}
#endif
