internal import GodwitStore
internal import GodwitTree

/// A replica's line in memory: what the storages on disk are compared with.
struct LineModel: Hashable, Sendable {
    private(set) var head: LineHead
    private(set) var objects: [ObjectKey: LineObject] = [:]
    /// Which clients have changed the objects last, at no time.
    private(set) var lastChanges: [ObjectKey: LastChange] = [:]
    /// The states that are kept, by serial.
    private(set) var states: [Int64: StateID] = [:]
    var peers: [ClientID: LinePeer] = [:]
    /// The heads that starts of the server have found.
    private(set) var openings: [LineOpening] = []
    private(set) var restorations: [Epoch: LineRestoration] = [:]
    private(set) var stagings: [ClientID: LineStaging] = [:]

    /// A line without objects.
    init(epoch: Epoch) { head = LineHead(epoch: epoch, state: .root, sum: .empty, size: 0) }

    /// Notes that the server was started, perhaps after it was restored.
    mutating func open(_ start: ServerStart) {
        head.start = start
        openings.removeAll { $0.state == head.state }
        openings.append(LineOpening(state: head.state, start: start))
        openings = openings.suffix(LineSlice.openingCountMax)
    }

    func load(_ reads: LineReads) -> LineSlice {
        let lost = reads.lostEpoch.flatMap { restorations[$0] }?.objects ?? [:]
        var staging = reads.lostEpoch == nil ? nil : stagings[reads.client]
        staging?.keep(first: reads.stagedCount)
        let objectKeys = reads.keys.union(lost.keys).union((staging?.objects ?? [:]).keys)
        let sums = head.sum.collections
        let keys = objectKeys.withRecords { sums[$0] != nil }
        var found: [ObjectKey: LineObject] = [:]
        var changedCount = 0
        for (key, object) in objects {
            var object = object
            object.entries.removeAll { reads.base == 0 || $0.serial <= reads.base }
            let isChanged = reads.base == 0 ? object.value != nil : !object.entries.isEmpty
            if isChanged { changedCount += 1 }
            if isChanged || keys.contains(key) && object.value != nil { found[key] = object }
        }
        let isPartial = changedCount > reads.changedMax
        var head = head
        head.sum = head.sum.with(only: LineReads.collections(of: objectKeys))
        return LineSlice(
            head: head,
            peer: peers[reads.client],
            former: reads.former.flatMap { peers[$0] },
            objects: isPartial ? [:] : found,
            isPartial: isPartial,
            states: states.filter { reads.serials.contains($0.key) || $0.key == reads.base },
            openings: openings.filter {
                reads.lostEpoch != nil || $0.state.serial >= reads.base
            },
            restorations: restorations.filter { $0.key == reads.lostEpoch },
            staging: staging
        )
    }

    /// Writes what was decided on a slice.
    ///
    /// - Returns: Whether the line, the peer and its refs were still as in the slice; nothing is
    ///   written otherwise.
    mutating func commit(
        _ writes: LineWrites,
        decidedOn slice: LineSlice
    ) throws(ReplicationError) -> Bool {
        guard peers[writes.client] == slice.peer, head.epoch == slice.head.epoch,
            writes.commit == nil || head.state == slice.head.state,
            writes.commit == nil || head.start == slice.head.start,
            writes.peer.kept.isSubset(of: Set(states.keys).union(writes.commit.serials))
        else { return false }
        if let commit = writes.commit {
            (head.state, head.size) = (commit.state, commit.size)
            let changes = slice.head.sum.changes(to: commit.sum)
            let sums = head.sum.collections.merging(changes) { _, new in new }
            head.sum = ContentSum(
                total: commit.sum.all,
                collections: sums.filter { $0.value != .empty }
            )
            states[commit.state.serial] = commit.state.id
            for (key, write) in commit.objects {
                objects[key, default: LineObject()].take(write)
                lastChanges[key] = write.value.map { _ in
                    LastChange(
                        client: writes.client,
                        serial: commit.state.serial,
                        millisecondsSince1970: 0
                    )
                }
            }
        }
        if let epoch = writes.epoch { head.epoch = epoch }
        if let (epoch, restoration) = writes.restoration { restorations[epoch] = restoration }
        switch writes.staging {
        case .none: break
        case .append(let objects, let count, let purpose):
            var staging = stagings[writes.client] ?? LineStaging(purpose: purpose, count: 0)
            staging.keep(first: count)
            staging.objects.merge(objects) { _, new in new }
            stagings[writes.client] = LineStaging(
                purpose: purpose,
                count: count + Int64(objects.count),
                objects: staging.objects
            )
        case .remove: stagings[writes.client] = nil
        }
        peers[writes.client] = writes.peer
        try collectGarbage()
        return true
    }

    /// Drops a client's refs.
    mutating func forget(_ client: ClientID) throws(ReplicationError) {
        peers[client]?.acked = 0
        peers[client]?.sent = 0
        stagings[client] = nil
        try collectGarbage()
    }

    /// Drops the states that no client can have, and folds the entries around them.
    private mutating func collectGarbage() throws(ReplicationError) {
        let own = [head.state] + openings.map(\.state) + restorations.values.map(\.reference)
        let kept = peers.values.reduce(into: Set(own.map(\.serial))) { $0.formUnion($1.kept) }
        for serial in states.keys.sorted() where !kept.contains(serial) {
            states[serial] = nil
            let previous = states.keys.filter { $0 < serial }.max() ?? 0
            let next = states.keys.filter { $0 > serial }.min() ?? head.state.serial
            for key in objects.keys {
                try objects[key]?.fold(previous, serial, next)
            }
        }
        objects = objects.filter { $0.value.value != nil || !$0.value.entries.isEmpty }
    }
}

extension LineStaging {
    fileprivate mutating func keep(first count: Int64) {
        let keys = objects.keys.sorted { $0.precedes($1) }
        for key in keys.dropFirst(Int(count)) { objects[key] = nil }
    }
}

extension LineCommit? {
    fileprivate var serials: [Int64] { self.map { [$0.state.serial] } ?? [] }
}

extension LineObject {
    fileprivate mutating func take(_ write: LineObjectWrite) {
        value = write.value
        entries.append(write.entry)
    }

    /// Folds entries, now that the state at `serial` is gone and those around it are not.
    fileprivate mutating func fold(
        _ previous: Int64,
        _ serial: Int64,
        _ next: Int64
    ) throws(ReplicationError) {
        guard previous > 0 else { return entries.removeAll { $0.serial <= next } }
        guard let first = entries.lastIndex(where: { $0.serial > previous && $0.serial <= serial }),
            entries.indices.contains(first + 1), entries[first + 1].serial <= next
        else { return }
        let folded = try entries[first].folded(with: entries[first + 1])
        entries.replaceSubrange(first...first + 1, with: folded.map { [$0] } ?? [])
    }
}
