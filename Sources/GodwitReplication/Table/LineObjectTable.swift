internal import GRDB
internal import GodwitStore
internal import GodwitTree

/// The rows of a line's objects, and of their history.
enum LineObjectTable {
    /// The objects that the line has changed since a state, with their entries, and some others.
    ///
    /// - Returns: nil when the line has changed more than `countMax` objects.
    static func objects(
        since serial: Int64,
        and keys: Set<ObjectKey>,
        countMax: Int,
        of line: LineNumber,
        in database: Database
    ) throws -> [ObjectKey: LineObject]? {
        let found =
            serial == 0
            ? try all(of: line, countMax: countMax, in: database)
            : try changes(since: serial, countMax: countMax, of: line, in: database)
        guard var objects = found else { return nil }
        guard serial > 0 else { return objects }
        for key in keys where objects[key] == nil {
            guard let value = try value(of: key, line, in: database) else { continue }
            objects[key] = LineObject(value: value)
        }
        return objects
    }

    /// The objects that the line has changed since a state.
    static func changes(
        since serial: Int64,
        of line: LineNumber,
        in database: Database
    ) throws -> [ObjectKey: LineObject] {
        try changes(since: serial, countMax: .max, of: line, in: database) ?? [:]
    }

    private static func changes(
        since serial: Int64,
        countMax: Int,
        of line: LineNumber,
        in database: Database
    ) throws -> [ObjectKey: LineObject]? {
        guard
            let entries = try entries(after: serial, countMax: countMax, of: line, in: database)
        else { return nil }
        var objects = entries.mapValues { LineObject(value: nil, entries: $0) }
        for key in objects.keys {
            objects[key]?.value = try value(of: key, line, in: database)
        }
        return objects
    }

    /// All objects of the line, without their history.
    static func all(
        of line: LineNumber,
        in database: Database
    ) throws -> [ObjectKey: LineObject] {
        try all(of: line, countMax: .max, in: database) ?? [:]
    }

    private static func all(
        of line: LineNumber,
        countMax: Int,
        in database: Database
    ) throws -> [ObjectKey: LineObject]? {
        let statement = try PreparedStatement(
            "SELECT collection, key, version, value FROM godwit_line_object WHERE line = ?",
            in: database
        )
        defer { statement.reset() }
        try statement.bind(line.rawValue, at: 1)
        var objects: [ObjectKey: LineObject] = [:]
        var size = 0
        while try statement.step() {
            size += statement.blob(3).count
            guard objects.count < countMax, size <= LineReads.sizeMax(for: countMax) else {
                return nil
            }
            let value = try statement.object(version: 2, value: 3)
            objects[statement.objectKey(0, 1)] = LineObject(value: value)
        }
        return objects
    }

    static func value(
        of key: ObjectKey,
        _ line: LineNumber,
        in database: Database
    ) throws -> VersionedValue? {
        let statement = try PreparedStatement(
            """
            SELECT version, value FROM godwit_line_object
            WHERE line = ? AND collection = ? AND key = ?
            """,
            in: database
        )
        defer { statement.reset() }
        try statement.bind(line, key)
        return try statement.step() ? try statement.object(version: 0, value: 1) : nil
    }

    private static func entries(
        after serial: Int64,
        countMax: Int,
        of line: LineNumber,
        in database: Database
    ) throws -> [ObjectKey: [LineEntry]]? {
        let statement = try PreparedStatement(
            """
            SELECT collection, key, serial, forward, backward FROM godwit_line_entry
            WHERE line = ? AND serial > ? ORDER BY serial
            """,
            in: database
        )
        defer { statement.reset() }
        try statement.bind(line.rawValue, at: 1)
        try statement.bind(serial, at: 2)
        var entries: [ObjectKey: [LineEntry]] = [:]
        var size = 0
        while try statement.step() {
            let entry = LineEntry(
                serial: statement.integer(2),
                forward: try statement.delta(3),
                backward: try statement.delta(4)
            )
            entries[statement.objectKey(0, 1), default: []].append(entry)
            for column: Int32 in 3...4 where !statement.isNull(column) {
                size += statement.blob(column).count
            }
            guard entries.count <= countMax, size <= LineReads.sizeMax(for: countMax) else {
                return nil
            }
        }
        return entries
    }

    /// How the objects changed between two states that are kept, and in how many bytes.
    static func steps(
        after serial: Int64,
        until last: Int64,
        of line: LineNumber,
        in database: Database
    ) throws -> (changes: [ObjectKey: ObjectDelta], sizeInBytes: Int) {
        let statement = try PreparedStatement(
            """
            SELECT collection, key, forward FROM godwit_line_entry
            WHERE line = ? AND serial > ? AND serial <= ? ORDER BY serial
            """,
            in: database
        )
        defer { statement.reset() }
        try statement.bind(line.rawValue, at: 1)
        try statement.bind(serial, at: 2)
        try statement.bind(last, at: 3)
        var changes: [ObjectKey: ObjectDelta] = [:]
        var sizeInBytes = 0
        while try statement.step() {
            let key = statement.objectKey(0, 1)
            changes[key] = try changes[key].composed(with: statement.delta(2))
            sizeInBytes += statement.isNull(2) ? 0 : statement.blob(2).count
        }
        return (changes, sizeInBytes)
    }

    // MARK: Writing

    static func write(
        _ write: LineObjectWrite,
        _ key: ObjectKey,
        by client: ClientID,
        at now: Int64,
        of line: LineNumber,
        in database: Database
    ) throws {
        try insert(write.entry, of: key, line, in: database)
        guard let object = write.value, let hash = write.hash else {
            let statement = try PreparedStatement(
                """
                DELETE FROM godwit_line_object WHERE line = ? AND collection = ? AND key = ?
                """,
                in: database
            )
            try statement.bind(line, key)
            return try statement.execute()
        }
        let statement = try PreparedStatement(
            """
            INSERT INTO godwit_line_object
                (line, collection, key, version, value, hash, client, serial, changed)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (line, collection, key) DO UPDATE
            SET version = excluded.version, value = excluded.value, hash = excluded.hash,
                client = excluded.client, serial = excluded.serial, changed = excluded.changed
            """,
            in: database
        )
        try statement.bind(line, key)
        try statement.bind(Int64(object.version), at: 4)
        try statement.bind(object.value.canonicalBytes, at: 5)
        try statement.bind(hash.bytes, at: 6)
        try statement.bind(client.identifier.bytes, at: 7)
        try statement.bind(write.entry.serial, at: 8)
        try statement.bind(now, at: 9)
        try statement.execute()
    }

    private static func insert(
        _ entry: LineEntry,
        of key: ObjectKey,
        _ line: LineNumber,
        in database: Database
    ) throws {
        let statement = try PreparedStatement(
            """
            INSERT INTO godwit_line_entry (line, collection, key, serial, forward, backward)
            VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT (line, collection, key, serial) DO UPDATE
            SET forward = excluded.forward, backward = excluded.backward
            """,
            in: database
        )
        try statement.bind(line, key)
        try statement.bind(entry.serial, at: 4)
        try statement.bind(entry.forward?.storedBytes, at: 5)
        try statement.bind(entry.backward?.storedBytes, at: 6)
        try statement.execute()
    }
}

// MARK: - Folding

extension LineObjectTable {
    /// Folds entries around a state that goes, or drops them where no older state is kept.
    ///
    /// - Parameters:
    ///   - previous: The state before; 0 for none.
    ///   - next: The state after.
    /// - Returns: How many entries went: `rowMax` if there may be more.
    static func fold(
        around serial: Int64,
        between previous: Int64,
        and next: Int64,
        rowMax: Int,
        of line: LineNumber,
        in database: Database
    ) throws -> Int {
        if previous == 0 {
            return try removeEntries(until: next, rowMax: rowMax, of: line, in: database)
        }
        let pairs = try pairs(previous, serial, next, rowMax, of: line, in: database)
        for pair in pairs {
            let first = try entry(at: pair.first, of: pair.key, line, in: database)
            let second = try entry(at: pair.second, of: pair.key, line, in: database)
            try removeEntry(at: pair.first, of: pair.key, line, in: database)
            if let folded = try first.folded(with: second) {
                try insert(folded, of: pair.key, line, in: database)
            } else {
                try removeEntry(at: pair.second, of: pair.key, line, in: database)
            }
        }
        return pairs.count
    }

    /// - Complexity: O(`rowMax`), however many entries there are: a DELETE of rows that a subquery names would
    ///   look at all entries of their states.
    private static func removeEntries(
        until serial: Int64,
        rowMax: Int,
        of line: LineNumber,
        in database: Database
    ) throws -> Int {
        let statement = try PreparedStatement(
            """
            SELECT collection, key, serial FROM godwit_line_entry
            INDEXED BY godwit_line_entry_serial WHERE line = ? AND serial <= ? LIMIT ?
            """,
            in: database
        )
        try statement.bind(line.rawValue, at: 1)
        try statement.bind(serial, at: 2)
        try statement.bind(Int64(rowMax), at: 3)
        var entries: [(key: ObjectKey, serial: Int64)] = []
        while try statement.step() {
            entries.append((statement.objectKey(0, 1), statement.integer(2)))
        }
        statement.reset()
        for entry in entries {
            try removeEntry(at: entry.serial, of: entry.key, line, in: database)
        }
        return entries.count
    }

    /// Entries of one object on both sides of a state, of which no other is between them.
    private static func pairs(
        _ previous: Int64,
        _ serial: Int64,
        _ next: Int64,
        _ rowMax: Int,
        of line: LineNumber,
        in database: Database
    ) throws -> [(key: ObjectKey, first: Int64, second: Int64)] {
        let statement = try PreparedStatement(
            """
            SELECT collection, key, min(serial), (
                SELECT max(serial) FROM godwit_line_entry AS earlier
                WHERE earlier.line = ?1 AND earlier.collection = later.collection
                AND earlier.key = later.key AND earlier.serial <= ?3
            ) AS first
            FROM godwit_line_entry AS later INDEXED BY godwit_line_entry_serial
            WHERE line = ?1 AND serial > ?3 AND serial <= ?4
            GROUP BY collection, key HAVING first > ?2 LIMIT ?5
            """,
            in: database
        )
        defer { statement.reset() }
        try statement.bind(line.rawValue, at: 1)
        try statement.bind(previous, at: 2)
        try statement.bind(serial, at: 3)
        try statement.bind(next, at: 4)
        try statement.bind(Int64(rowMax), at: 5)
        var pairs: [(key: ObjectKey, first: Int64, second: Int64)] = []
        while try statement.step() {
            pairs.append((statement.objectKey(0, 1), statement.integer(3), statement.integer(2)))
        }
        return pairs
    }

    private static func entry(
        at serial: Int64,
        of key: ObjectKey,
        _ line: LineNumber,
        in database: Database
    ) throws -> LineEntry {
        let statement = try PreparedStatement(
            """
            SELECT forward, backward FROM godwit_line_entry
            WHERE line = ? AND collection = ? AND key = ? AND serial = ?
            """,
            in: database
        )
        defer { statement.reset() }
        try statement.bind(line, key)
        try statement.bind(serial, at: 4)
        guard try statement.step() else {
            throw ReplicationError.damagedHistory(reason: "an entry is missing")
        }
        return LineEntry(
            serial: serial,
            forward: try statement.delta(0),
            backward: try statement.delta(1)
        )
    }

    private static func removeEntry(
        at serial: Int64,
        of key: ObjectKey,
        _ line: LineNumber,
        in database: Database
    ) throws {
        let statement = try PreparedStatement(
            """
            DELETE FROM godwit_line_entry
            WHERE line = ? AND collection = ? AND key = ? AND serial = ?
            """,
            in: database
        )
        try statement.bind(line, key)
        try statement.bind(serial, at: 4)
        try statement.execute()
    }
}

extension PreparedStatement {
    /// Binds the first three arguments.
    func bind(_ line: LineNumber, _ key: ObjectKey) throws {
        try bind(line.rawValue, at: 1)
        try bind(key.collection, at: 2)
        try bind(key.key, at: 3)
    }
}
