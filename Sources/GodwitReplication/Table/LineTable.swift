internal import GRDB
internal import GodwitStore
internal import GodwitTree

/// Which line's rows.
struct LineNumber: Hashable, Sendable {
    let rawValue: Int64
}

/// The rows of lines, of their collections and of their states.
enum LineTable {
    static func create(_ name: ReplicaName, epoch: Epoch, in database: Database) throws {
        let statement = try PreparedStatement(
            """
            INSERT INTO godwit_line (name, epoch, serial, id, sum) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (name) DO NOTHING
            """,
            in: database
        )
        try statement.bind(name.text, at: 1)
        try statement.bind(epoch.stored, at: 2)
        try statement.bind(LineState.root.serial, at: 3)
        try statement.bind(LineState.root.id.bytes, at: 4)
        try statement.bind(ContentSum.empty.all.bytes, at: 5)
        try statement.execute()
        guard statement.changedRowCount > 0 else { return }
        // A copy of a server that was cut off may have left parts of a line.
        for table in LineSchema.parts {
            try database.execute(
                sql: "DELETE FROM \(table) WHERE line = ?",
                arguments: [database.lastInsertedRowID]
            )
        }
    }

    /// - Throws: ``ReplicationError/unknownReplica(_:)``.
    static func number(of name: ReplicaName, in database: Database) throws -> LineNumber {
        let statement = try PreparedStatement(
            "SELECT number FROM godwit_line WHERE name = ?",
            in: database
        )
        defer { statement.reset() }
        try statement.bind(name.text, at: 1)
        guard try statement.step() else { throw ReplicationError.unknownReplica(name.text) }
        return LineNumber(rawValue: statement.integer(0))
    }

    /// The names of all lines, in their order.
    static func names(in database: Database) throws -> [String] {
        let statement = try PreparedStatement(
            "SELECT name FROM godwit_line ORDER BY name",
            in: database
        )
        defer { statement.reset() }
        var names: [String] = []
        while try statement.step() { names.append(statement.text(0)) }
        return names
    }

    /// The collections of a line that have had objects.
    static func collections(of line: LineNumber, in database: Database) throws -> Set<Key> {
        let statement = try PreparedStatement(
            "SELECT collection FROM godwit_line_collection WHERE line = ?",
            in: database
        )
        defer { statement.reset() }
        try statement.bind(line.rawValue, at: 1)
        var names: Set<Key> = []
        while try statement.step() { names.insert(Key(statement.text(0))) }
        return names
    }

    /// - Parameter collections: Those whose sums are needed.
    static func head(
        of line: LineNumber,
        collections: Set<Key>,
        in database: Database
    ) throws -> LineHead {
        let statement = try PreparedStatement(
            "SELECT epoch, serial, id, sum, size, start FROM godwit_line WHERE number = ?",
            in: database
        )
        defer { statement.reset() }
        try statement.bind(line.rawValue, at: 1)
        guard try statement.step() else {
            throw ReplicationError.damagedHistory(reason: "the row of a line is missing")
        }
        return LineHead(
            epoch: Epoch(stored: statement.integer(0)),
            state: LineState(serial: statement.integer(1), id: try statement.stateID(2)),
            sum: ContentSum(
                total: try statement.setHash(3),
                collections: try sums(of: collections, line, in: database)
            ),
            size: statement.integer(4),
            start: statement.isNull(5)
                ? nil : ServerStart(UInt32(truncatingIfNeeded: statement.integer(5)))
        )
    }

    private static func sums(
        of collections: Set<Key>,
        _ line: LineNumber,
        in database: Database
    ) throws -> [Key: CollectionSum] {
        let sql = """
            SELECT count, sum FROM godwit_line_collection WHERE line = ? AND collection = ?
            """
        var sums: [Key: CollectionSum] = [:]
        for collection in collections {
            let statement = try PreparedStatement(sql, in: database)
            defer { statement.reset() }
            try statement.bind(line.rawValue, at: 1)
            try statement.bind(collection, at: 2)
            // A collection that has become empty is none.
            guard try statement.step(), statement.integer(0) > 0 else { continue }
            sums[collection] = CollectionSum(
                count: statement.integer(0),
                sum: try statement.setHash(1)
            )
        }
        return sums
    }

    // MARK: Writing

    static func setEpoch(_ epoch: Epoch, of line: LineNumber, in database: Database) throws {
        let statement = try PreparedStatement(
            "UPDATE godwit_line SET epoch = ? WHERE number = ?",
            in: database
        )
        try statement.bind(epoch.stored, at: 1)
        try statement.bind(line.rawValue, at: 2)
        try statement.execute()
    }

    static func setHead(
        _ commit: LineCommit,
        replacing old: ContentSum,
        of line: LineNumber,
        in database: Database
    ) throws {
        let statement = try PreparedStatement(
            "UPDATE godwit_line SET serial = ?, id = ?, sum = ?, size = ? WHERE number = ?",
            in: database
        )
        try statement.bind(commit.state.serial, at: 1)
        try statement.bind(commit.state.id.bytes, at: 2)
        try statement.bind(commit.sum.all.bytes, at: 3)
        try statement.bind(commit.size, at: 4)
        try statement.bind(line.rawValue, at: 5)
        try statement.execute()
        for (collection, new) in old.changes(to: commit.sum) {
            try setSum(new, of: collection, line, in: database)
        }
    }

    private static func setSum(
        _ sum: CollectionSum,
        of collection: Key,
        _ line: LineNumber,
        in database: Database
    ) throws {
        let statement = try PreparedStatement(
            """
            INSERT INTO godwit_line_collection (line, collection, count, sum) VALUES (?, ?, ?, ?)
            ON CONFLICT (line, collection) DO UPDATE
            SET count = excluded.count, sum = excluded.sum
            """,
            in: database
        )
        try statement.bind(line.rawValue, at: 1)
        try statement.bind(collection, at: 2)
        try statement.bind(sum.count, at: 3)
        try statement.bind(sum.sum.bytes, at: 4)
        try statement.execute()
    }
}

// MARK: - States

extension LineTable {
    /// The id of a state that is kept.
    ///
    /// The row of one without refs goes after its entries, which may be gone in part: it is not kept.
    static func state(
        at serial: Int64,
        of line: LineNumber,
        in database: Database
    ) throws -> StateID? {
        let statement = try PreparedStatement(
            """
            SELECT id FROM godwit_line_state WHERE line = ?1 AND serial = ?2 AND (\(isReferenced))
            """,
            in: database
        )
        defer { statement.reset() }
        try statement.bind(line.rawValue, at: 1)
        try statement.bind(serial, at: 2)
        return try statement.step() ? try statement.stateID(0) : nil
    }

    static func insert(_ state: LineState, of line: LineNumber, in database: Database) throws {
        let statement = try PreparedStatement(
            "INSERT INTO godwit_line_state (line, serial, id) VALUES (?, ?, ?)",
            in: database
        )
        try statement.bind(line.rawValue, at: 1)
        try statement.bind(state.serial, at: 2)
        try statement.bind(state.id.bytes, at: 3)
        try statement.execute()
    }

    static func removeState(
        at serial: Int64,
        of line: LineNumber,
        in database: Database
    ) throws {
        let statement = try PreparedStatement(
            "DELETE FROM godwit_line_state WHERE line = ? AND serial = ?",
            in: database
        )
        try statement.bind(line.rawValue, at: 1)
        try statement.bind(serial, at: 2)
        try statement.execute()
    }

    /// The states before and after a serial; 0 where there is none before.
    static func neighbours(
        of serial: Int64,
        _ line: LineNumber,
        in database: Database
    ) throws -> (previous: Int64, next: Int64?) {
        func serials(_ sql: String) throws -> Int64? {
            let statement = try PreparedStatement(sql, in: database)
            defer { statement.reset() }
            try statement.bind(line.rawValue, at: 1)
            try statement.bind(serial, at: 2)
            guard try statement.step(), !statement.isNull(0) else { return nil }
            return statement.integer(0)
        }
        let previous = try serials(
            "SELECT max(serial) FROM godwit_line_state WHERE line = ? AND serial < ?"
        )
        let next = try serials(
            "SELECT min(serial) FROM godwit_line_state WHERE line = ? AND serial > ?"
        )
        return (previous ?? 0, next)
    }

    /// The states that are kept, their serials ascending.
    static func states(of line: LineNumber, in database: Database) throws -> [LineState] {
        let statement = try PreparedStatement(
            "SELECT serial, id FROM godwit_line_state WHERE line = ? ORDER BY serial",
            in: database
        )
        defer { statement.reset() }
        try statement.bind(line.rawValue, at: 1)
        return try statement.lineStates()
    }

    /// Some states that no client can have, the head left out.
    static func unreferenced(
        of line: LineNumber,
        countMax: Int,
        in database: Database
    ) throws -> [Int64] {
        let statement = try PreparedStatement(
            """
            SELECT serial FROM godwit_line_state AS state WHERE line = ?1
            AND serial <> (SELECT serial FROM godwit_line WHERE number = ?1)
            AND NOT EXISTS (
                SELECT 1 FROM godwit_line_opening WHERE line = ?1 AND serial = state.serial)
            AND NOT EXISTS (
                SELECT 1 FROM godwit_line_peer WHERE line = ?1 AND acked = state.serial)
            AND NOT EXISTS (
                SELECT 1 FROM godwit_line_peer WHERE line = ?1 AND sent = state.serial)
            AND NOT EXISTS (
                SELECT 1 FROM godwit_line_restoration
                WHERE line = ?1 AND reference = state.serial)
            LIMIT ?2
            """,
            in: database
        )
        defer { statement.reset() }
        try statement.bind(line.rawValue, at: 1)
        try statement.bind(Int64(countMax), at: 2)
        var serials: [Int64] = []
        while try statement.step() { serials.append(statement.integer(0)) }
        return serials
    }

    private static let isReferenced = """
        EXISTS (SELECT 1 FROM godwit_line WHERE number = ?1 AND serial = ?2)
        OR EXISTS (SELECT 1 FROM godwit_line_opening WHERE line = ?1 AND serial = ?2)
        OR EXISTS (SELECT 1 FROM godwit_line_peer WHERE line = ?1 AND acked = ?2)
        OR EXISTS (SELECT 1 FROM godwit_line_peer WHERE line = ?1 AND sent = ?2)
        OR EXISTS (SELECT 1 FROM godwit_line_restoration WHERE line = ?1 AND reference = ?2)
        """

    /// Whether a client can have the state, or something else needs it.
    static func isReferenced(
        _ serial: Int64,
        of line: LineNumber,
        in database: Database
    ) throws -> Bool {
        let statement = try PreparedStatement("SELECT \(isReferenced)", in: database)
        defer { statement.reset() }
        try statement.bind(line.rawValue, at: 1)
        try statement.bind(serial, at: 2)
        return try statement.step() && statement.integer(0) != 0
    }
}

// MARK: - Summary

extension LineTable {
    static func summary(of line: LineNumber, in database: Database) throws -> ReplicaSummary {
        let head = try head(of: line, collections: [], in: database)
        let statement = try PreparedStatement(
            """
            SELECT (SELECT ifnull(sum(count), 0) FROM godwit_line_collection WHERE line = ?1),
                (SELECT count(*) FROM godwit_line_state WHERE line = ?1),
                (SELECT count(*) FROM godwit_line_peer WHERE line = ?1)
            """,
            in: database
        )
        defer { statement.reset() }
        try statement.bind(line.rawValue, at: 1)
        guard try statement.step() else { preconditionFailure("A SELECT of sums has a row") }
        return ReplicaSummary(
            epoch: head.epoch,
            head: head.state,
            objectCount: Int(statement.integer(0)),
            sizeInBytes: head.size,
            stateCount: Int(statement.integer(1)),
            clientCount: Int(statement.integer(2))
        )
    }
}

// MARK: - Cells

extension Epoch {
    package var stored: Int64 { Int64(bitPattern: number) }

    package init(stored: Int64) { self.init(UInt64(bitPattern: stored)) }
}

extension PreparedStatement {
    /// The rows of serials and ids.
    func lineStates() throws -> [LineState] {
        var states: [LineState] = []
        while try step() { states.append(LineState(serial: integer(0), id: try stateID(1))) }
        return states
    }

    func stateID(_ column: Int32) throws -> StateID {
        guard let id = StateID(bytes: Array(blob(column))) else {
            throw ReplicationError.damagedHistory(reason: "an id is damaged")
        }
        return id
    }

    func setHash(_ column: Int32) throws -> SetHash {
        guard let hash = SetHash(bytes: Array(blob(column))) else {
            throw ReplicationError.damagedHistory(reason: "a sum is damaged")
        }
        return hash
    }

    /// A change, or nil where the column is NULL.
    func delta(_ column: Int32) throws -> ObjectDelta? {
        isNull(column) ? nil : try ObjectDelta(storedBytes: Array(blob(column)))
    }

    func object(version: Int32, value: Int32) throws -> VersionedValue {
        do throws(TreeError) {
            let value = try Value(canonicalBytes: Array(blob(value)), budget: .unlimited)
            return VersionedValue(value, version: Int(integer(version)))
        } catch {
            throw ReplicationError.damagedHistory(reason: "an object is damaged: \(error)")
        }
    }

    func objectKey(_ collection: Int32, _ key: Int32) -> ObjectKey {
        ObjectKey(collection: Key(text(collection)), key: Key(text(key)))
    }
}
