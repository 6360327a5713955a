package import GodwitStore
package import GodwitTree

// What the server stores of a replica, as values: one type for each table.

/// A replica's newest state.
package struct LineHead: Hashable, Sendable {
    package var epoch: Epoch
    package var state: LineState
    package var sum: ContentSum
    /// How many bytes its objects have, with their keys and the names of their collections.
    package var size: Int64
    /// The last start of the server; nil when the line was made since then.
    package var start: ServerStart?

    package init(
        epoch: Epoch,
        state: LineState,
        sum: ContentSum,
        size: Int64,
        start: ServerStart? = nil
    ) {
        self.epoch = epoch
        self.state = state
        self.sum = sum
        self.size = size
        self.start = start
    }
}

extension LineHead {
    /// What an object adds to the size; nothing where there is none.
    static func size(of object: VersionedValue?, at key: ObjectKey) -> Int64 {
        object.map { Int64(key.sizeInBytes + $0.value.canonicalBytes.count) } ?? 0
    }
}

/// Where a start of the server found a line.
package struct LineOpening: Hashable, Sendable {
    package let state: LineState
    package let start: ServerStart

    /// What devices are told of it.
    package var told: LineStart { LineStart(start: start, serial: state.serial) }

    package init(
        state: LineState,
        start: ServerStart
    ) {
        self.state = state
        self.start = start
    }
}

/// What the server knows of one client.
package struct LinePeer: Hashable, Sendable {
    /// The highest nonce of a request that has written something.
    package var nonce: Int64 = 0
    /// The state that the client last said it has.
    package var acked: Int64 = 0
    /// The state that was last sent to it.
    package var sent: Int64 = 0
    /// The highest serial that was ever sent to it, or to the client that it was, in each epoch.
    package var sentMax: [Epoch: Int64] = [:]
    /// What became of its last batch.
    package var outcome: BatchOutcome?

    /// The number of its last batch that has an outcome.
    package var sequence: Int64 { outcome?.sequence ?? 0 }

    /// Whether a client has a state that was never sent to it: the line has lost it.
    package func isAhead(_ serial: Int64, in epoch: Epoch) -> Bool { serial > sentMax[epoch] ?? 0 }

    package mutating func noteSent(_ serial: Int64, in epoch: Epoch) {
        sentMax[epoch] = max(sentMax[epoch] ?? 0, serial)
    }

    /// The states that stay, because the client may have them.
    package var kept: Set<Int64> { Set([acked, sent]).subtracting([0]) }

    package init(
        nonce: Int64 = 0,
        acked: Int64 = 0,
        sent: Int64 = 0,
        sentMax: [Epoch: Int64] = [:],
        outcome: BatchOutcome? = nil
    ) {
        self.nonce = nonce
        self.acked = acked
        self.sent = sent
        self.sentMax = sentMax
        self.outcome = outcome
    }
}

/// How one commit of the line, or several that were folded into one, changed an object.
package struct LineEntry: Hashable, Sendable {
    /// The state that the entry leads to.
    package let serial: Int64
    /// From the object before to the object after; nil when nothing is left of it.
    package let forward: ObjectDelta?
    /// From the object after back to the object before.
    package let backward: ObjectDelta?

    /// This entry and the next one of its object as one; nil when nothing is left of them.
    package func folded(with next: LineEntry) throws(ReplicationError) -> LineEntry? {
        let forward = try forward.composed(with: next.forward)
        let backward = try next.backward.composed(with: backward)
        guard forward != nil || backward != nil else { return nil }
        return LineEntry(serial: next.serial, forward: forward, backward: backward)
    }

    package init(
        serial: Int64,
        forward: ObjectDelta?,
        backward: ObjectDelta?
    ) {
        self.serial = serial
        self.forward = forward
        self.backward = backward
    }
}

/// An object of the line, with the history that is kept of it.
package struct LineObject: Hashable, Sendable {
    /// The object in the head; nil when there is none.
    package var value: VersionedValue?
    /// Entries of the object, their serials ascending: at least all after the base.
    package var entries: [LineEntry] = []

    package init(
        value: VersionedValue? = nil,
        entries: [LineEntry] = []
    ) {
        self.value = value
        self.entries = entries
    }
}

/// States of an earlier epoch that clients have given back, after the line had lost them.
package struct LineRestoration: Hashable, Sendable {
    /// The state that the clients were compared with.
    package var reference: LineState
    /// The last of the lost states that was given back.
    package var lost: LineState
    /// Where its objects differed from those of the reference; nil where it had none.
    package var objects: [ObjectKey: VersionedValue?]
    /// The lost states that the client has had, their serials ascending.
    package var passed: [LineState]

    /// Whether a client's states are of another line than the one that was given back: the server was
    /// restored more than once.
    package func isElsewhere(_ adopted: [LineState]) -> Bool {
        let ids = Dictionary(
            passed.map { ($0.serial, $0.id) },
            uniquingKeysWith: { _, last in last }
        )
        return adopted.contains { state in ids[state.serial].map { $0 != state.id } ?? false }
    }

    package init(
        reference: LineState,
        lost: LineState,
        objects: [ObjectKey: VersionedValue?],
        passed: [LineState]
    ) {
        self.reference = reference
        self.lost = lost
        self.objects = objects
        self.passed = passed
    }
}

/// The pieces of what a client gives back, until the last one is there.
package struct LineStaging: Hashable, Sendable {
    /// What the objects are given back for: where all of it is equal, the objects are, too.
    package struct Purpose: Hashable, Sendable {
        /// The epoch of the client's base.
        package let epoch: Epoch
        package let base: LineState
        /// The state that the objects were compared with.
        package let comparedWith: LineState

        package init(
            epoch: Epoch,
            base: LineState,
            comparedWith: LineState
        ) {
            self.epoch = epoch
            self.base = base
            self.comparedWith = comparedWith
        }
    }

    package let purpose: Purpose
    /// How many objects are there.
    package var count: Int64
    /// The first ones of them in the order of ``ObjectKey/precedes(_:)``, as many as were asked for.
    package var objects: [ObjectKey: VersionedValue?] = [:]

    package init(
        purpose: Purpose,
        count: Int64,
        objects: [ObjectKey: VersionedValue?] = [:]
    ) {
        self.purpose = purpose
        self.count = count
        self.objects = objects
    }
}

/// What a decision needs to know of what is stored.
package struct LineReads: Hashable, Sendable {
    package let client: ClientID
    package let former: ClientID?
    /// Where the changes of the answer begin; 0 for all objects.
    package let base: Int64
    /// Objects that are asked for, with the records about them, whether the line has changed them since or
    /// not.
    package let keys: Set<ObjectKey>
    /// If the line has changed more objects since, none are asked for.
    package var changedMax = Int.max
    /// If these have more bytes as they are stored, either.
    package static let changedSizeMax = 8 << 20
    /// States that are asked for beside the base.
    package var serials: Set<Int64> = []
    /// The epoch whose lost states were given back, perhaps.
    package var lostEpoch: Epoch?
    /// How many of the objects that the client has given back so far are asked for.
    package var stagedCount: Int64 = 0
}

extension LineReads {
    /// The collections that a commit may change: those of the objects, and those of the records about them.
    package static func collections(of keys: Set<ObjectKey>) -> Set<Key> {
        let collections = Set(keys.map(\.collection))
        return collections.union(collections.flatMap(ReplicaCollection.records))
    }

    /// How many bytes of changes are read; any number where all are asked for.
    package static func sizeMax(for countMax: Int) -> Int {
        countMax == .max ? .max : changedSizeMax
    }
}

/// What was read, in one snapshot.
package struct LineSlice: Hashable, Sendable {
    /// How many starts of the server are remembered.
    package static let openingCountMax = LineStart.rememberedMax

    package var head: LineHead
    package var peer: LinePeer?
    package var former: LinePeer?
    /// The objects that were asked for, and all that the line has changed since the base.
    package var objects: [ObjectKey: LineObject]
    /// Whether the objects are left out, because the line has changed too many.
    package var isPartial = false
    /// Of the states that were asked for, the base among them, those that are kept, by serial.
    package var states: [Int64: StateID]
    /// The last starts of the server, their serials ascending: those since the base; for a recovery also
    /// those before it.
    package var openings: [LineOpening] = []
    /// What clients have given back of the epoch that was asked for.
    package var restorations: [Epoch: LineRestoration] = [:]
    /// What the client has given back so far; only for recoveries.
    package var staging: LineStaging?

    package init(
        head: LineHead,
        peer: LinePeer?,
        former: LinePeer?,
        objects: [ObjectKey: LineObject],
        isPartial: Bool = false,
        states: [Int64: StateID],
        openings: [LineOpening] = [],
        restorations: [Epoch: LineRestoration] = [:],
        staging: LineStaging? = nil
    ) {
        self.head = head
        self.peer = peer
        self.former = former
        self.objects = objects
        self.isPartial = isPartial
        self.states = states
        self.openings = openings
        self.restorations = restorations
        self.staging = staging
    }
}

/// What is to be written in one transaction, with a decision.
package struct LineWrites: Sendable {
    package var client: ClientID
    package var peer: LinePeer
    /// Another epoch, when the line is no longer what it was.
    package var epoch: Epoch?
    package var commit: LineCommit?
    /// What the commit gives back, and of which epoch.
    package var restoration: (epoch: Epoch, LineRestoration)?
    package var staging = LineStagingWrite.none

    /// States that may have lost their last ref.
    package func abandoned(since slice: LineSlice) -> [Int64] {
        var states = slice.peer?.kept ?? []
        if commit != nil { states.insert(slice.head.state.serial) }
        if let (epoch, _) = restoration, let earlier = slice.restorations[epoch] {
            states.insert(earlier.reference.serial)
        }
        return states.subtracting(peer.kept.union([0])).sorted()
    }
}

/// What becomes of the pieces that a client has given back.
package enum LineStagingWrite: Sendable {
    case none
    /// The objects follow the first ones of those that are there, and replace all others.
    case append([ObjectKey: VersionedValue?], after: Int64, LineStaging.Purpose)
    case remove
}

/// A new state behind the head.
package struct LineCommit: Sendable {
    package let state: LineState
    package let sum: ContentSum
    /// How many bytes the objects have then: see ``LineHead/size``.
    package let size: Int64
    package let objects: [ObjectKey: LineObjectWrite]
}

/// How an object changes in a commit.
package struct LineObjectWrite: Sendable {
    package let value: VersionedValue?
    /// What the object adds to the sum of its collection; nil for none.
    package let hash: SetHash?
    /// By how many bytes the line grows.
    package let growth: Int64
    package let entry: LineEntry
}
