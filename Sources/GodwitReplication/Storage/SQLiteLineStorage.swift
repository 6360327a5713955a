internal import GRDB
internal import GodwitStore
internal import GodwitTree
internal import Synchronization

/// The lines of a server in an SQLite database.
///
/// Reads run beside each other, and decisions that are committed at the same time share one sync
/// of the disk.
struct SQLiteLineStorage: LineStorage {
    private let store: Store
    /// The lines of which this program has dropped all states that no client can have.
    private let clean = CleanLines()

    /// The most entries that a commit folds for a state, besides twice as many as it has made.
    static let foldedMax = 64

    init(_ store: Store) async throws {
        try LineTables.make(in: store)
        self.store = store
        try await store.write { transaction in
            let database = transaction.connection
            let start = ServerStart(transaction.newIdentifier())
            for (line, serial) in try LineTable.open(start, in: database) {
                _ = try Self.collect(serial, of: line, rowMax: .max, in: database)
            }
            transaction.touch()
        }
    }

    func create(_ name: ReplicaName, epoch: Epoch) async throws {
        try await store.write { transaction in
            try LineTable.create(name, epoch: epoch, in: transaction.connection)
            transaction.touch()
        }
    }

    func load(_ reads: LineReads, of name: ReplicaName) async throws -> LineSlice {
        try await store.read { transaction in
            try LineSlice(reads, of: name, in: transaction.connection)
        }
    }

    func commit(
        _ writes: LineWrites,
        decidedOn slice: LineSlice,
        of name: ReplicaName
    ) async throws -> Bool {
        let now = now
        return try await store.write { transaction in
            let database = transaction.connection
            guard let line = try writes.line(decidedOn: slice, of: name, in: database) else {
                return false
            }
            try writes.write(to: line, replacing: slice, at: now, in: database)
            try collect(writes.abandoned(since: slice), writes, of: line, in: database)
            transaction.touch()
            return true
        }
    }

    func answer(
        _ request: RangeRequest,
        with state: LineState,
        of name: ReplicaName
    ) async throws -> [SpanAnswer]? {
        try await store.read { transaction in
            let database = transaction.connection
            let line = try LineTable.number(of: name, in: database)
            guard
                try state == .root
                    || LineTable.state(at: state.serial, of: line, in: database) == state.id
            else { return nil }
            let objects = try LineObjectsAt(state, of: line, in: database)
            return try RangeMachine.answers(to: request, objects)
        }
    }

    func head(of name: ReplicaName) async throws -> LineState {
        try await store.read { transaction in
            let database = transaction.connection
            let line = try LineTable.number(of: name, in: database)
            return try LineTable.head(of: line, collections: [], in: database).state
        }
    }

    func summary(of name: ReplicaName) async throws -> ReplicaSummary {
        try await store.read { transaction in
            let database = transaction.connection
            return try LineTable.summary(
                of: LineTable.number(of: name, in: database),
                in: database
            )
        }
    }

    func objects(of name: ReplicaName) async throws -> [ObjectKey: VersionedValue] {
        try await store.read { transaction in
            let database = transaction.connection
            let line = try LineTable.number(of: name, in: database)
            return try LineObjectTable.all(of: line, in: database).compactMapValues(\.value)
        }
    }

    func lastChanges(
        of keys: [ObjectKey],
        in name: ReplicaName
    ) async throws -> [ObjectKey: LastChange] {
        try await store.read { transaction in
            let database = transaction.connection
            let line = try LineTable.number(of: name, in: database)
            return try LineObjectTable.lastChanges(of: keys, line, in: database)
        }
    }

    /// The calendar's time, in milliseconds.
    private var now: Int64 { store.options.clock.millisecondsSince1970() }

    func names() async throws -> [ReplicaName] {
        try await store.read { transaction in
            try LineTable.names(in: transaction.connection).map { try ReplicaName($0) }
        }
    }

    func clients(of name: ReplicaName) async throws -> [ReplicaClient] {
        let now = now
        return try await store.read { transaction in
            let database = transaction.connection
            let line = try LineTable.number(of: name, in: database)
            return try LinePeerTable.clients(of: line, at: now, in: database)
        }
    }

    func forget(_ client: ClientID, of name: ReplicaName) async throws -> Bool {
        try await store.write { transaction in
            let database = transaction.connection
            let line = try LineTable.number(of: name, in: database)
            let peer = try LinePeerTable.peer(client, of: line, in: database)
            try LineStagingTable.remove(of: client, line, in: database)
            transaction.touch()
            guard let kept = peer?.kept, !kept.isEmpty else { return false }
            try LinePeerTable.forget(client, of: line, in: database)
            for serial in kept.sorted() {
                _ = try Self.collect(serial, of: line, rowMax: .max, in: database)
            }
            return true
        }
    }

    func collectGarbage(of name: ReplicaName, rowMax: Int) async throws -> Bool {
        try await store.write { transaction in
            let database = transaction.connection
            let line = try LineTable.number(of: name, in: database)
            var rowsLeft = rowMax
            while rowsLeft > 0 {
                let serials = try LineTable.unreferenced(of: line, countMax: 1, in: database)
                guard let serial = serials.first else { return true }
                rowsLeft -= 1
                rowsLeft -= try Self.collect(serial, of: line, rowMax: rowsLeft, in: database)
                transaction.touch()
            }
            return false
        }
    }

    /// Drops states that have lost their last ref, and one that was left by an earlier commit.
    ///
    /// A commit may fold more than it makes, so what is left does not grow.
    private func collect(
        _ serials: [Int64],
        _ writes: LineWrites,
        of line: LineNumber,
        in database: Database
    ) throws {
        let rowMax = Self.foldedMax + 2 * (writes.commit?.objects.count ?? 0)
        var serials = serials
        if !clean.contains(line) {
            let left = try LineTable.unreferenced(of: line, countMax: 2, in: database)
            serials += left.filter { !serials.contains($0) }
            if left.isEmpty { clean.insert(line) }
        }
        for serial in serials {
            let count = try Self.collect(serial, of: line, rowMax: rowMax, in: database)
            if count >= rowMax { clean.remove(line) }
        }
    }

    /// Folds the entries around a state without refs, and drops it when that is done.
    ///
    /// - Returns: How many entries went.
    private static func collect(
        _ serial: Int64,
        of line: LineNumber,
        rowMax: Int,
        in database: Database
    ) throws -> Int {
        guard try !LineTable.isReferenced(serial, of: line, in: database) else { return 0 }
        let (previous, next) = try LineTable.neighbours(of: serial, line, in: database)
        guard let next else { return 0 }
        let count = try LineObjectTable.fold(
            around: serial,
            between: previous,
            and: next,
            rowMax: rowMax,
            of: line,
            in: database
        )
        if count < rowMax { try LineTable.removeState(at: serial, of: line, in: database) }
        return count
    }
}

/// The lines that have no states to drop, as far as this program knows.
private final class CleanLines: Sendable {
    private let lines = Mutex<Set<LineNumber>>([])

    func contains(_ line: LineNumber) -> Bool { lines.withLock { $0.contains(line) } }
    func insert(_ line: LineNumber) { lines.withLock { _ = $0.insert(line) } }
    func remove(_ line: LineNumber) { lines.withLock { _ = $0.remove(line) } }
}

// MARK: - Reading

extension LineSlice {
    fileprivate init(_ reads: LineReads, of name: ReplicaName, in database: Database) throws {
        let line = try LineTable.number(of: name, in: database)
        var restorations: [Epoch: LineRestoration] = [:]
        var staging: LineStaging?
        if let epoch = reads.lostEpoch {
            restorations[epoch] = try LineRestorationTable.restoration(
                of: epoch,
                line,
                in: database
            )
            staging = try LineStagingTable.staging(
                of: reads.client,
                first: reads.stagedCount,
                line,
                in: database
            )
        }
        let lost = restorations.values.flatMap(\.objects.keys)
        let keys = reads.keys.union(lost + (staging?.objects ?? [:]).keys)
        let collections = LineReads.collections(of: keys)
        let head = try LineTable.head(of: line, collections: collections, in: database)
        let objects = try LineObjectTable.objects(
            since: reads.base,
            and: keys.withRecords { head.sum.collections[$0] != nil },
            countMax: reads.changedMax,
            of: line,
            in: database
        )
        self.init(
            head: head,
            peer: try LinePeerTable.peer(reads.client, of: line, in: database),
            former: try reads.former.flatMap {
                try LinePeerTable.peer($0, of: line, in: database)
            },
            objects: objects ?? [:],
            isPartial: objects == nil,
            states: [:],
            openings: try LineTable.openings(
                since: reads.lostEpoch == nil ? reads.base : 0,
                of: line,
                in: database
            ),
            restorations: restorations,
            staging: staging
        )
        for serial in reads.serials.union([reads.base]) {
            states[serial] = try LineTable.state(at: serial, of: line, in: database)
        }
    }
}

// MARK: - Writing

extension LineWrites {
    /// The line, if everything is still as the slice says.
    fileprivate func line(
        decidedOn slice: LineSlice,
        of name: ReplicaName,
        in database: Database
    ) throws -> LineNumber? {
        let line = try LineTable.number(of: name, in: database)
        let head = try LineTable.head(of: line, collections: [], in: database)
        guard head.epoch == slice.head.epoch,
            commit == nil || head.state == slice.head.state,
            commit == nil || head.start == slice.head.start,
            try LinePeerTable.peer(client, of: line, in: database) == slice.peer
        else { return nil }
        for serial in peer.kept where serial != commit?.state.serial {
            guard try LineTable.state(at: serial, of: line, in: database) != nil else { return nil }
        }
        return line
    }

    fileprivate func write(
        to line: LineNumber,
        replacing slice: LineSlice,
        at now: Int64,
        in database: Database
    ) throws {
        if let commit {
            try LineTable.setHead(commit, replacing: slice.head.sum, of: line, in: database)
            try LineTable.insert(commit.state, of: line, in: database)
            for (key, object) in commit.objects {
                try LineObjectTable.write(
                    object,
                    key,
                    by: client,
                    at: now,
                    of: line,
                    in: database
                )
            }
        }
        if let epoch { try LineTable.setEpoch(epoch, of: line, in: database) }
        if let (epoch, restoration) = restoration {
            try LineRestorationTable.set(restoration, epoch, of: line, in: database)
        }
        try LineStagingTable.write(
            staging,
            replacing: slice.staging,
            of: client,
            line,
            in: database
        )
        try LinePeerTable.set(peer, client, seen: now, of: line, in: database)
    }
}
