internal import GodwitStore
internal import GodwitTree

// What the server stores of a replica, as values: one type for each table.

/// A replica's newest state.
struct LineHead: Hashable, Sendable {
    var epoch: Epoch
    var state: LineState
    var sum: ContentSum
    /// The last start of the server; nil when the line was made since then.
    var start: ServerStart?
}

/// Where a start of the server found a line.
struct LineOpening: Hashable, Sendable {
    let state: LineState
    let start: ServerStart

    /// What devices are told of it.
    var told: LineStart { LineStart(start: start, serial: state.serial) }
}

/// What the server knows of one client.
struct LinePeer: Hashable, Sendable {
    /// The highest nonce of a request that has written something.
    var nonce: Int64 = 0
    /// The state that the client last said it has.
    var acked: Int64 = 0
    /// The state that was last sent to it.
    var sent: Int64 = 0
    /// The highest serial that was ever sent to it, or to the client that it was, in each epoch.
    var sentMax: [Epoch: Int64] = [:]
    /// What became of its last batch.
    var outcome: BatchOutcome?

    /// The number of its last batch that has an outcome.
    var sequence: Int64 { outcome?.sequence ?? 0 }

    /// Whether a client has a state that was never sent to it: the line has lost it.
    func isAhead(_ serial: Int64, in epoch: Epoch) -> Bool { serial > sentMax[epoch] ?? 0 }

    mutating func noteSent(_ serial: Int64, in epoch: Epoch) {
        sentMax[epoch] = max(sentMax[epoch] ?? 0, serial)
    }

    /// The states that stay, because the client may have them.
    var kept: Set<Int64> { Set([acked, sent]).subtracting([0]) }
}

/// How one commit of the line, or several that were folded into one, changed an object.
struct LineEntry: Hashable, Sendable {
    /// The state that the entry leads to.
    let serial: Int64
    /// From the object before to the object after; nil when nothing is left of it.
    let forward: ObjectDelta?
    /// From the object after back to the object before.
    let backward: ObjectDelta?

    /// This entry and the next one of its object as one; nil when nothing is left of them.
    func folded(with next: LineEntry) throws(ReplicationError) -> LineEntry? {
        let forward = try forward.composed(with: next.forward)
        let backward = try next.backward.composed(with: backward)
        guard forward != nil || backward != nil else { return nil }
        return LineEntry(serial: next.serial, forward: forward, backward: backward)
    }
}

/// An object of the line, with the history that is kept of it.
struct LineObject: Hashable, Sendable {
    /// The object in the head; nil when there is none.
    var value: VersionedValue?
    /// Entries of the object, their serials ascending: at least all after the base.
    var entries: [LineEntry] = []
}

/// States of an earlier epoch that clients have given back, after the line had lost them.
struct LineRestoration: Hashable, Sendable {
    /// The state that the clients were compared with.
    var reference: LineState
    /// The last of the lost states that was given back.
    var lost: LineState
    /// Where its objects differed from those of the reference; nil where it had none.
    var objects: [ObjectKey: VersionedValue?]
    /// The lost states that the client has had, their serials ascending.
    var passed: [LineState]

    /// Whether a client's states are of another line than the one that was given back: the server was
    /// restored more than once.
    func isElsewhere(_ adopted: [LineState]) -> Bool {
        let ids = Dictionary(
            passed.map { ($0.serial, $0.id) },
            uniquingKeysWith: { _, last in last }
        )
        return adopted.contains { state in ids[state.serial].map { $0 != state.id } ?? false }
    }
}

/// The pieces of what a client gives back, until the last one is there.
struct LineStaging: Hashable, Sendable {
    /// What the objects are given back for: where all of it is equal, the objects are, too.
    struct Purpose: Hashable, Sendable {
        /// The epoch of the client's base.
        let epoch: Epoch
        let base: LineState
        /// The state that the objects were compared with.
        let comparedWith: LineState
    }

    let purpose: Purpose
    /// How many objects are there.
    var count: Int64
    /// The first ones of them in the order of ``ObjectKey/precedes(_:)``, as many as were asked for.
    var objects: [ObjectKey: VersionedValue?] = [:]
}

/// What a decision needs to know of what is stored.
struct LineReads: Hashable, Sendable {
    let client: ClientID
    let former: ClientID?
    /// Where the changes of the answer begin; 0 for all objects.
    let base: Int64
    /// Objects that are asked for, with the records about them, whether the line has changed them since or
    /// not.
    let keys: Set<ObjectKey>
    /// If the line has changed more objects since, none are asked for.
    var changedMax = Int.max
    /// If these have more bytes as they are stored, either.
    static let changedSizeMax = 8 << 20
    /// States that are asked for beside the base.
    var serials: Set<Int64> = []
    /// The epoch whose lost states were given back, perhaps.
    var lostEpoch: Epoch?
    /// How many of the objects that the client has given back so far are asked for.
    var stagedCount: Int64 = 0
}

extension LineReads {
    /// The collections that a commit may change: those of the objects, and those of the records about them.
    static func collections(of keys: Set<ObjectKey>) -> Set<Key> {
        let collections = Set(keys.map(\.collection))
        return collections.union(collections.flatMap(ReplicaCollection.records))
    }

    /// How many bytes of changes are read; any number where all are asked for.
    static func sizeMax(for countMax: Int) -> Int { countMax == .max ? .max : changedSizeMax }
}

/// What was read, in one snapshot.
struct LineSlice: Hashable, Sendable {
    /// How many starts of the server are remembered.
    static let openingCountMax = LineStart.rememberedMax

    var head: LineHead
    var peer: LinePeer?
    var former: LinePeer?
    /// The objects that were asked for, and all that the line has changed since the base.
    var objects: [ObjectKey: LineObject]
    /// Whether the objects are left out, because the line has changed too many.
    var isPartial = false
    /// Of the states that were asked for, the base among them, those that are kept, by serial.
    var states: [Int64: StateID]
    /// The last starts of the server, their serials ascending: those since the base; for a recovery also
    /// those before it.
    var openings: [LineOpening] = []
    /// What clients have given back of the epoch that was asked for.
    var restorations: [Epoch: LineRestoration] = [:]
    /// What the client has given back so far; only for recoveries.
    var staging: LineStaging?
}

/// What is to be written in one transaction, with a decision.
struct LineWrites: Sendable {
    var client: ClientID
    var peer: LinePeer
    /// Another epoch, when the line is no longer what it was.
    var epoch: Epoch?
    var commit: LineCommit?
    /// What the commit gives back, and of which epoch.
    var restoration: (epoch: Epoch, LineRestoration)?
    var staging = LineStagingWrite.none
}

/// What becomes of the pieces that a client has given back.
enum LineStagingWrite: Sendable {
    case none
    /// The objects follow the first ones of those that are there, and replace all others.
    case append([ObjectKey: VersionedValue?], after: Int64, LineStaging.Purpose)
    case remove
}

/// A new state behind the head.
struct LineCommit: Sendable {
    let state: LineState
    let sum: ContentSum
    let objects: [ObjectKey: LineObjectWrite]
}

/// How an object changes in a commit.
struct LineObjectWrite: Sendable {
    let value: VersionedValue?
    /// What the object adds to the sum of its collection; nil for none.
    let hash: SetHash?
    let entry: LineEntry
}
