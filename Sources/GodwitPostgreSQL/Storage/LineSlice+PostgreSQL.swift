#if PostgreSQL
internal import GodwitReplication
internal import GodwitStore
internal import GodwitTree

// What is read for a decision, and what is written of it.

extension LineSlice {
    init(_ reads: LineReads, of name: ReplicaName, on session: PostgreSQLSession) throws {
        var head = try LineRow.head(of: name, on: session)
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
        let sums = try LineRow.sums(of: LineReads.collections(of: keys), line, on: session)
        head.sum = ContentSum(total: head.sum.all, collections: sums)
        let objects = try LineObjectRow.objects(
            since: reads.base,
            and: keys.withRecords { sums[$0] != nil },
            countMax: reads.changedMax,
            of: line,
            on: session
        )
        let peers = try LinePeerRow.peers(
            [reads.client] + (reads.former.map { [$0] } ?? []),
            of: line,
            on: session
        )
        self.init(
            head: head,
            peer: peers[reads.client],
            former: reads.former.flatMap { peers[$0] },
            objects: objects ?? [:],
            isPartial: objects == nil,
            states: try LineRow.states(
                at: reads.serials.union([reads.base]),
                of: line,
                on: session
            ),
            openings: try LineOpeningRow.openings(
                since: reads.lostEpoch == nil ? reads.base : 0,
                of: line,
                on: session
            ),
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
        let head = try LineRow.head(of: name, isLocked: true, on: session)
        let line = LineNumber(name)
        guard head.epoch == slice.head.epoch,
            commit == nil || head.state == slice.head.state,
            commit == nil || head.start == slice.head.start,
            try LinePeerRow.peers([client], of: line, on: session)[client] == slice.peer
        else { return false }
        let kept = peer.kept.subtracting(commit.map { [$0.state.serial] } ?? [])
        return try LineRow.states(at: kept, of: line, on: session).count == kept.count
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
            try LineObjectRow.write(commit.objects, of: line, on: session)
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
