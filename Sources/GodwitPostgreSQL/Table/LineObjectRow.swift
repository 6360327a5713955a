#if PostgreSQL
internal import GodwitReplication
internal import GodwitStore
internal import GodwitTree

/// The rows of a line's objects.
enum LineObjectRow {
    /// The objects that the line has changed since a state, with their entries, and some others.
    ///
    /// The others are asked for when the entries are there, with the answers to all that was sent before.
    ///
    /// - Returns: nil when the line has changed more than `countMax` objects.
    static func objects(
        since serial: Int64,
        and keys: () throws -> Set<ObjectKey>,
        countMax: Int,
        of line: LineNumber,
        on session: PostgreSQLSession
    ) throws -> [ObjectKey: LineObject]? {
        guard serial > 0 else { return try all(of: line, countMax: countMax, on: session) }
        let found = try LineEntryRow.entries(
            after: serial,
            countMax: countMax,
            of: line,
            on: session
        )
        guard let found else { return nil }
        var objects = found.mapValues { LineObject(value: nil, entries: $0) }
        let wanted = try keys().union(objects.keys)
        for (key, value) in try values(of: Array(wanted), line, on: session) {
            objects[key, default: LineObject()].value = value
        }
        return objects
    }

    /// The objects that the line has changed since a state.
    static func changes(
        since serial: Int64,
        of line: LineNumber,
        on session: PostgreSQLSession
    ) throws -> [ObjectKey: LineObject] {
        try objects(since: serial, and: { [] }, countMax: .max, of: line, on: session) ?? [:]
    }

    /// All objects of the line, without their history; nil when there are too many.
    static func all(
        of line: LineNumber,
        countMax: Int,
        on session: PostgreSQLSession
    ) throws -> [ObjectKey: LineObject]? {
        var objects: [ObjectKey: LineObject] = [:]
        var size = 0
        let isWhole = try eachPage(of: line, in: .all, on: session) { rows in
            for row in 0..<rows.count {
                size += rows.sizeInBytes(row, 3)
                guard objects.count < countMax, size <= LineReads.sizeMax(for: countMax) else {
                    return false
                }
                objects[rows.objectKey(row)] = LineObject(value: try rows.object(row, 2))
            }
            return true
        }
        return isWhole ? objects : nil
    }

    /// Those of some objects that are there.
    private static func values(
        of keys: [ObjectKey],
        _ line: LineNumber,
        on session: PostgreSQLSession
    ) throws -> [ObjectKey: VersionedValue] {
        var values: [ObjectKey: VersionedValue] = [:]
        for keys in keys.portions({ _ in 0 }) {
            var left = keys[...]
            while !left.isEmpty {
                let rows = try session.query(valuesSQL, [line.parameter] + Array(left).parameters)
                for row in 0..<rows.count { values[rows.objectKey(row)] = try rows.object(row, 2) }
                guard rows.fillPage(3...3) else { break }
                left = left.dropFirst(Int(try rows.integer(rows.count - 1, 4)))
            }
        }
        return values
    }

    /// Those that are there, with the place of each among those that are wanted, from 1 on.
    private static let valuesSQL = RowPage(
        columns: "collection, key, version, value, place",
        size: "octet_length(value)",
        source: """
            (
                SELECT object.collection, object.key, object.version, object.value, wanted.place
                FROM unnest($2::BYTEA[], $3::BYTEA[]) WITH ORDINALITY
                    AS wanted (collection, key, place)
                JOIN godwit_line_object AS object ON object.line = $1
                AND object.collection = wanted.collection AND object.key = wanted.key
            ) AS found
            """,
        order: "place"
    ).sql

    /// Hands on a line's objects in the order of their keys: collection, key, version and value.
    ///
    /// - Parameter body: Whether to go on.
    /// - Returns: Whether all were handed on.
    static func eachPage(
        of line: LineNumber,
        in span: KeySpan,
        on session: PostgreSQLSession,
        _ body: (PostgreSQLRows) throws -> Bool
    ) throws -> Bool {
        try eachPage(of: line, in: span, on: session, sized, body)
    }

    private static func sized(_ range: String) -> String {
        RowPage(
            columns: "collection, key, version, value",
            size: "octet_length(value)",
            source: "godwit_line_object WHERE \(range)",
            order: "collection, key"
        ).sql
    }

    /// Hands on what objects add to the sums of their collections: collection, key and hash.
    static func eachPageOfHashes(
        of line: LineNumber,
        in span: KeySpan,
        on session: PostgreSQLSession,
        _ body: (PostgreSQLRows) throws -> Void
    ) throws {
        let isWhole = try eachPage(
            of: line,
            in: span,
            on: session,
            { range in
                """
                SELECT collection, key, hash FROM godwit_line_object
                WHERE \(range) ORDER BY collection, key LIMIT \(RowPage.countMax)
                """
            }
        ) { rows in
            try body(rows)
            return true
        }
        precondition(isWhole, "The body has ended nothing")
    }

    private static func eachPage(
        of line: LineNumber,
        in span: KeySpan,
        on session: PostgreSQLSession,
        _ sql: (_ range: String) -> String,
        _ body: (PostgreSQLRows) throws -> Bool
    ) throws -> Bool {
        var (lower, isAfter) = (span.lower, false)
        while true {
            let start = isAfter ? ">" : ">="
            let end = span.upper == nil ? "" : " AND (collection, key) < ($4, $5)"
            let rows = try session.query(
                sql("line = $1 AND (collection, key) \(start) ($2, $3)\(end)"),
                [
                    line.parameter, .bytes(lower?.collection.bytes ?? []),
                    .bytes(lower?.key.bytes ?? []),
                ] + (span.upper?.parameters ?? [])
            )
            guard rows.count > 0 else { return true }
            guard try body(rows) else { return false }
            (lower, isAfter) = (rows.objectKey(rows.count - 1), true)
        }
    }

    /// Which clients have changed some objects last; nothing of objects that are not there.
    static func lastChanges(
        of keys: [ObjectKey],
        _ line: LineNumber,
        on session: PostgreSQLSession
    ) throws -> [ObjectKey: LastChange] {
        let rows = try session.query(
            """
            SELECT object.collection, object.key, object.client, object.serial, object.changed
            FROM unnest($2::BYTEA[], $3::BYTEA[]) AS wanted (collection, key)
            JOIN godwit_line_object AS object ON object.line = $1
            AND object.collection = wanted.collection AND object.key = wanted.key
            WHERE object.client IS NOT NULL
            """,
            [line.parameter] + keys.parameters
        )
        var changes: [ObjectKey: LastChange] = [:]
        for row in 0..<rows.count {
            changes[rows.objectKey(row)] = LastChange(
                client: try rows.clientID(row, 2),
                serial: try rows.integer(row, 3),
                millisecondsSince1970: try rows.integer(row, 4)
            )
        }
        return changes
    }

    // MARK: Writing

    static func write(
        _ writes: [ObjectKey: LineObjectWrite],
        by client: ClientID,
        at now: Int64,
        of line: LineNumber,
        on session: PostgreSQLSession
    ) throws {
        try LineEntryRow.set(writes.map { ($0, $1.entry) }, of: line, on: session)
        let removed = writes.filter { $0.value.value == nil }.map(\.key)
        for keys in removed.portions({ _ in 0 }) {
            try session.send(
                """
                DELETE FROM godwit_line_object WHERE line = $1 AND (collection, key) IN (
                    SELECT removed.collection, removed.key
                    FROM unnest($2::BYTEA[], $3::BYTEA[]) AS removed (collection, key))
                """,
                [line.parameter] + keys.parameters
            )
        }
        try insert(
            writes.compactMap { key, write in
                guard let value = write.value, let hash = write.hash else { return nil }
                return Row(key: key, object: value, hash: hash, serial: write.entry.serial)
            },
            by: client,
            at: now,
            of: line,
            on: session
        )
    }

    private struct Row {
        let key: ObjectKey
        let object: VersionedValue
        let hash: SetHash
        let serial: Int64
    }

    private static func insert(
        _ rows: [Row],
        by client: ClientID,
        at now: Int64,
        of line: LineNumber,
        on session: PostgreSQLSession
    ) throws {
        for rows in rows.portions({ $0.object.value.canonicalBytes.count }) {
            try session.send(
                """
                INSERT INTO godwit_line_object
                    (line, collection, key, version, value, hash, serial, client, changed)
                SELECT $1::BIGINT, new.collection, new.key, new.version, new.value, new.hash,
                    new.serial, $8::BYTEA, $9::BIGINT
                FROM unnest($2::BYTEA[], $3::BYTEA[], $4::BIGINT[], $5::BYTEA[], $6::BYTEA[], $7::BIGINT[])
                    AS new (collection, key, version, value, hash, serial)
                ON CONFLICT (line, collection, key) DO UPDATE
                SET version = excluded.version, value = excluded.value, hash = excluded.hash,
                    serial = excluded.serial, client = excluded.client, changed = excluded.changed
                """,
                [line.parameter] + rows.map(\.key).parameters + [
                    .integers(rows.map { Int64($0.object.version) }),
                    .byteStrings(rows.map(\.object.value.canonicalBytes)),
                    .byteStrings(rows.map(\.hash.bytes)), .integers(rows.map(\.serial)),
                    client.parameter, .integer(now),
                ]
            )
        }
    }
}
#endif
