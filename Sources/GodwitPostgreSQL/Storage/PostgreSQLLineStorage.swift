#if PostgreSQL
package import GodwitReplication
package import GodwitStore
internal import GodwitTree
internal import Synchronization

/// The lines of a server in a PostgreSQL database, which any number of servers may share.
///
/// A decision is written in one transaction that locks the row of its line first. So decisions about
/// one line are compared and set one after the other, whichever node they come from, and those about
/// several lines are not in each other's way.
package struct PostgreSQLLineStorage: LineStorage {
    private let database: PostgreSQLDatabase
    /// The lines of which this program has dropped all states that no client can have.
    private let clean = CleanLines()
    /// Tells other nodes of new heads; nil where nothing is to be told.
    private let herald: HeadHerald?

    /// The most entries that a commit folds for a state, besides twice as many as it has made.
    static let foldedMax = 64
    /// After how many commits of a line a node looks for what others have left.
    private static let lookingInterval: Int64 = 64
    /// How many lines a server that starts notes in one transaction.
    private static let openedCountMax = 256

    /// An entry of an index has 2,704 bytes at most, and records have longer names than their objects.
    package var keySizeMax: Int { LineNumber.keySizeMax }

    /// Notes where each line stands.
    ///
    /// - Throws: ``PostgreSQLError``.
    package init(_ database: PostgreSQLDatabase) async throws {
        try await self.init(database, herald: nil)
    }

    init(_ database: PostgreSQLDatabase, herald: HeadHerald?) async throws {
        (self.database, self.herald) = (database, herald)
        try await database.checkSchema()
        let start = ServerStart(Identifiers.random.next())
        var last: Int64 = -1
        while let number = try await Self.open(start, after: last, in: database) { last = number }
    }

    /// Notes of some lines where this server found them.
    ///
    /// - Returns: The last line's number; nil when there is none.
    private static func open(
        _ start: ServerStart,
        after number: Int64,
        in database: PostgreSQLDatabase
    ) async throws -> Int64? {
        try await database.withLock { session in
            let lines = try LineRow.numbers(
                after: number,
                countMax: openedCountMax,
                on: session
            )
            guard let first = lines.first?.rawValue, let last = lines.last?.rawValue else {
                return nil
            }
            for (line, serial) in try LineOpeningRow.open(start, lines: first...last, on: session) {
                _ = try collect(serial, of: line, rowMax: .max, on: session)
            }
            return last
        }
    }

    package func create(_ name: ReplicaName, epoch: Epoch) async throws {
        try await database.write { try LineRow.create(name, epoch: epoch, on: $0) }
    }

    package func load(_ reads: LineReads, of name: ReplicaName) async throws -> LineSlice {
        try await database.read { try LineSlice(reads, of: name, on: $0) }
    }

    package func commit(
        _ writes: LineWrites,
        decidedOn slice: LineSlice,
        of name: ReplicaName
    ) async throws -> Bool {
        let decision = Int64.random(in: .min ... .max)
        let isDone = try await commit(writes, decidedOn: slice, of: name, as: decision)
        if isDone, writes.commit != nil { herald?.tell(of: name) }
        return isDone
    }

    private func commit(
        _ writes: LineWrites,
        decidedOn slice: LineSlice,
        of name: ReplicaName,
        as decision: Int64
    ) async throws -> Bool {
        let now = database.options.clock.millisecondsSince1970()
        return try await database.attempt { [self] in
            do {
                return try await database.writeOnce { session in
                    guard try writes.areCurrent(decidedOn: slice, of: name, on: session) else {
                        return false
                    }
                    let line = LineNumber(name)
                    try writes.write(to: line, replacing: slice, at: now, decision, on: session)
                    try collect(writes.abandoned(since: slice), writes, of: line, on: session)
                    return true
                }
            } catch PostgreSQLError.unknownOutcome {
                if try await isWritten(decision, by: writes.client, of: name) { return true }
                // It was surely not written: the lock of the line has been free since.
                throw PostgreSQLError.connectionLost(reason: "it ended during a commit")
            }
        }
    }

    /// Whether a decision was written whose commit has lost its connection.
    ///
    /// The line's lock is taken for that: the server may still be at the commit.
    ///
    /// - Throws: ``PostgreSQLError/unknownOutcome`` when the database cannot be asked.
    private func isWritten(
        _ decision: Int64,
        by client: ClientID,
        of name: ReplicaName
    ) async throws -> Bool {
        for attempts in 1...database.options.attemptMax {
            do {
                return try await database.writeOnce { session in
                    _ = try LineRow.head(of: name, isLocked: true, on: session)
                    let found = try LinePeerRow.decision(of: client, LineNumber(name), on: session)
                    return found == decision
                }
            } catch is PostgreSQLError {
                try await database.options.backoff.wait(after: attempts)
            }
        }
        throw PostgreSQLError.unknownOutcome
    }

    package func answer(
        _ request: RangeRequest,
        with state: LineState,
        of name: ReplicaName
    ) async throws -> [SpanAnswer]? {
        try await database.read { session in
            _ = try LineRow.head(of: name, on: session)
            let line = LineNumber(name)
            if state != .root {
                let found = try LineRow.states(at: [state.serial], of: line, on: session).value()
                guard found[state.serial] == state.id else { return nil }
            }
            let objects = try LineObjectsAt(state, of: line, on: session)
            return try RangeMachine.answers(to: request, objects)
        }
    }

    package func head(of name: ReplicaName) async throws -> LineState {
        try await database.read { try LineRow.head(of: name, on: $0).state }
    }

    package func summary(of name: ReplicaName) async throws -> ReplicaSummary {
        try await database.read { try LineRow.summary(of: name, on: $0) }
    }

    package func objects(of name: ReplicaName) async throws -> [ObjectKey: VersionedValue] {
        try await database.read { session in
            _ = try LineRow.head(of: name, on: session)
            let objects = try LineObjectRow.all(of: LineNumber(name), countMax: .max, on: session)
            return (objects ?? [:]).compactMapValues(\.value)
        }
    }

    package func lastChanges(
        of keys: [ObjectKey],
        in name: ReplicaName
    ) async throws -> [ObjectKey: LastChange] {
        try await database.read { session in
            _ = try LineRow.head(of: name, on: session)
            return try LineObjectRow.lastChanges(of: keys, LineNumber(name), on: session)
        }
    }

    package func names() async throws -> [ReplicaName] {
        try await database.read { try LineRow.names(on: $0) }
    }

    package func clients(of name: ReplicaName) async throws -> [ReplicaClient] {
        let now = database.options.clock.millisecondsSince1970()
        return try await database.read { session in
            _ = try LineRow.head(of: name, on: session)
            return try LinePeerRow.clients(of: LineNumber(name), at: now, on: session)
        }
    }

    /// - Returns: false, too, when a first attempt has lost its connection after it was done.
    package func forget(_ client: ClientID, of name: ReplicaName) async throws -> Bool {
        try await database.write { session in
            _ = try LineRow.head(of: name, isLocked: true, on: session)
            let line = LineNumber(name)
            let peer = try LinePeerRow.peers([client], of: line, on: session).value()[client]
            try LineStagingRow.remove(of: client, line, on: session)
            guard let kept = peer?.kept, !kept.isEmpty else { return false }
            try LinePeerRow.forget(client, of: line, on: session)
            for serial in kept.sorted() {
                _ = try Self.collect(serial, of: line, rowMax: .max, on: session)
            }
            return true
        }
    }

    package func collectGarbage(of name: ReplicaName, rowMax: Int) async throws -> Bool {
        try await database.write { session in
            _ = try LineRow.head(of: name, isLocked: true, on: session)
            let line = LineNumber(name)
            var rowsLeft = rowMax
            while rowsLeft > 0 {
                let serials = try LineRow.unreferenced(of: line, countMax: 1, on: session)
                guard let serial = serials.first else { return true }
                rowsLeft -= 1
                rowsLeft -= try Self.collect(serial, of: line, rowMax: rowsLeft, on: session)
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
        on session: PostgreSQLSession
    ) throws {
        let rowMax = Self.foldedMax + 2 * (writes.commit?.objects.count ?? 0)
        var serials = serials
        // Another node may have left a state, and gets no more commits: each looks again at times.
        let looksAgain = (writes.commit?.state.serial ?? 1) % Self.lookingInterval == 0
        if looksAgain || !clean.contains(line) {
            let left = try LineRow.unreferenced(of: line, countMax: 2, on: session)
            serials += left.filter { !serials.contains($0) }
            if left.isEmpty { clean.insert(line) }
        }
        for serial in serials {
            let count = try Self.collect(serial, of: line, rowMax: rowMax, on: session)
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
        on session: PostgreSQLSession
    ) throws -> Int {
        guard
            let (previous, next) = try LineRow.neighbours(ofAbandoned: serial, line, on: session)
        else { return 0 }
        let count = try LineEntryRow.fold(
            around: serial,
            between: previous,
            and: next,
            rowMax: rowMax,
            of: line,
            on: session
        )
        if count < rowMax { try LineRow.removeState(at: serial, of: line, on: session) }
        return count
    }
}

/// The lines that have no states to drop, as far as this program knows; a bounded number of them.
private final class CleanLines: Sendable {
    private let lines = Mutex<Set<LineNumber>>([])
    private static let countMax = 65_536

    func contains(_ line: LineNumber) -> Bool { lines.withLock { $0.contains(line) } }

    func insert(_ line: LineNumber) {
        lines.withLock { lines in
            // Those that are forgotten are looked through once more.
            if lines.count >= Self.countMax { lines = [] }
            lines.insert(line)
        }
    }

    func remove(_ line: LineNumber) { lines.withLock { _ = $0.remove(line) } }
}
#endif
