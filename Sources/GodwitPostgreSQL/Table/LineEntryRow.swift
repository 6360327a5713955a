#if PostgreSQL
internal import GodwitReplication
internal import GodwitStore

/// The rows of how a line's objects have changed.
enum LineEntryRow {
    /// The entries after a state by object, their serials ascending.
    ///
    /// - Returns: nil when they are of more than `countMax` objects, or too large.
    static func entries(
        after serial: Int64,
        countMax: Int,
        of line: LineNumber,
        on session: PostgreSQLSession
    ) throws -> [ObjectKey: [LineEntry]]? {
        var entries: [ObjectKey: [LineEntry]] = [:]
        var size = 0
        var (last, key) = (serial, ObjectKey?.none)
        while true {
            let rows = try page(after: last, key, of: line, on: session)
            for row in 0..<rows.count {
                let entry = LineEntry(
                    serial: try rows.integer(row, 2),
                    forward: try rows.delta(row, 3),
                    backward: try rows.delta(row, 4)
                )
                let found = rows.objectKey(row)
                entries[found, default: []].append(entry)
                (last, key) = (entry.serial, found)
                size += rows.sizeInBytes(row, 3) + rows.sizeInBytes(row, 4)
                guard entries.count <= countMax, size <= LineReads.sizeMax(for: countMax) else {
                    return nil
                }
            }
            guard rows.fillPage(3...4) else { return entries }
        }
    }

    /// - Parameter key: The last object of the page before; nil for the first page.
    private static func page(
        after serial: Int64,
        _ key: ObjectKey?,
        of line: LineNumber,
        on session: PostgreSQLSession
    ) throws -> PostgreSQLRows {
        let range = key == nil ? "serial > $2" : "(serial, collection, key) > ($2, $3, $4)"
        let page = RowPage(
            columns: "collection, key, serial, forward, backward",
            size: "coalesce(octet_length(forward), 0) + coalesce(octet_length(backward), 0)",
            source: "godwit_line_entry WHERE line = $1 AND \(range)",
            order: "serial, collection, key"
        )
        return try session.query(
            page.sql,
            [line.parameter, .integer(serial)] + (key?.parameters ?? [])
        )
    }

    static func set(
        _ entries: [(key: ObjectKey, entry: LineEntry)],
        of line: LineNumber,
        on session: PostgreSQLSession
    ) throws {
        let rows = entries.map { key, entry in
            (key, entry.serial, entry.forward?.storedBytes, entry.backward?.storedBytes)
        }
        for rows in rows.portions({ ($0.2?.count ?? 0) + ($0.3?.count ?? 0) }) {
            try session.send(
                """
                INSERT INTO godwit_line_entry (line, collection, key, serial, forward, backward)
                SELECT $1::BIGINT, new.collection, new.key, new.serial, new.forward, new.backward
                FROM unnest($2::BYTEA[], $3::BYTEA[], $4::BIGINT[], $5::BYTEA[], $6::BYTEA[])
                    AS new (collection, key, serial, forward, backward)
                ON CONFLICT (line, collection, key, serial) DO UPDATE
                SET forward = excluded.forward, backward = excluded.backward
                """,
                [line.parameter] + rows.map(\.0).parameters + [
                    .integers(rows.map(\.1)), .byteStrings(rows.map(\.2)),
                    .byteStrings(rows.map(\.3)),
                ]
            )
        }
    }

    private static func remove(
        _ entries: [(key: ObjectKey, serial: Int64)],
        of line: LineNumber,
        on session: PostgreSQLSession
    ) throws {
        for entries in entries.portions({ _ in 0 }) {
            try session.send(
                """
                DELETE FROM godwit_line_entry WHERE line = $1 AND (collection, key, serial) IN (
                    SELECT removed.collection, removed.key, removed.serial
                    FROM unnest($2::BYTEA[], $3::BYTEA[], $4::BIGINT[])
                        AS removed (collection, key, serial))
                """,
                [line.parameter] + entries.map(\.key).parameters + [
                    .integers(entries.map(\.serial))
                ]
            )
        }
    }
}

// MARK: - Folding

extension LineEntryRow {
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
        on session: PostgreSQLSession
    ) throws -> Int {
        if previous == 0 {
            return try removeEntries(until: next, rowMax: rowMax, of: line, on: session)
        }
        var count = 0
        while count < rowMax {
            // All entries between the states are looked at each time: few times for many pairs.
            let countMax = min(rowMax - count, pairCountMax)
            let places = try places(
                [previous, serial, next],
                rowMax: countMax,
                of: line,
                on: session
            )
            try fold(at: places, of: line, on: session)
            count += places.count
            if places.count < countMax { break }
        }
        return count
    }

    /// Folds the pairs at some places page by page: their changes may be large.
    private static func fold(
        at places: [Place],
        of line: LineNumber,
        on session: PostgreSQLSession
    ) throws {
        for places in places.portions({ _ in 0 }) {
            var left = places[...]
            while !left.isEmpty {
                let pairs = try pairs(at: left, of: line, on: session)
                guard !pairs.isEmpty else { break }
                try fold(pairs, of: line, on: session)
                // The line is locked, so that each place has its pair.
                left = left.dropFirst(pairs.count)
            }
        }
    }

    private static func fold(
        _ pairs: [Pair],
        of line: LineNumber,
        on session: PostgreSQLSession
    ) throws {
        let gone = pairs.flatMap { [($0.key, $0.first.serial), ($0.key, $0.second.serial)] }
        try remove(gone, of: line, on: session)
        let folded = try pairs.compactMap { pair in
            try pair.first.folded(with: pair.second).map { (pair.key, $0) }
        }
        try set(folded, of: line, on: session)
    }

    private static let pairCountMax = 16_384

    private static func removeEntries(
        until serial: Int64,
        rowMax: Int,
        of line: LineNumber,
        on session: PostgreSQLSession
    ) throws -> Int {
        var count = 0
        while count < rowMax {
            let countMax = min(rowMax - count, RowPage.countMax)
            let rows = try session.query(
                """
                DELETE FROM godwit_line_entry WHERE line = $1 AND (collection, key, serial) IN (
                    SELECT collection, key, serial FROM godwit_line_entry
                    WHERE line = $1 AND serial <= $2 ORDER BY serial, collection, key LIMIT $3)
                """,
                [line.parameter, .integer(serial), .integer(Int64(countMax))]
            )
            count += rows.changedCount
            if rows.changedCount < countMax { break }
        }
        return count
    }

    private struct Place {
        let key: ObjectKey
        let first: Int64
        let second: Int64
    }

    private struct Pair {
        let key: ObjectKey
        let first: LineEntry
        let second: LineEntry
    }

    /// Where entries of one object are on both sides of a state, of which no other is between them.
    ///
    /// - Parameter serials: The states before, at and after the one that goes.
    private static func places(
        _ serials: [Int64],
        rowMax: Int,
        of line: LineNumber,
        on session: PostgreSQLSession
    ) throws -> [Place] {
        let rows = try session.query(
            """
            SELECT pair.collection, pair.key, pair.first, pair.second
            FROM (
                SELECT collection, key, min(serial) AS second, (
                    SELECT max(before.serial) FROM godwit_line_entry AS before
                    WHERE before.line = $1 AND before.collection = after.collection
                    AND before.key = after.key AND before.serial <= $3
                ) AS first
                FROM godwit_line_entry AS after
                WHERE line = $1 AND serial > $3 AND serial <= $4
                GROUP BY collection, key
            ) AS pair
            WHERE pair.first > $2 LIMIT $5
            """,
            [line.parameter] + serials.map { .integer($0) } + [.integer(Int64(rowMax))]
        )
        return try (0..<rows.count).map { row in
            Place(
                key: rows.objectKey(row),
                first: try rows.integer(row, 2),
                second: try rows.integer(row, 3)
            )
        }
    }

    /// The first pairs of some places, as many as a page has room for.
    private static func pairs(
        at places: ArraySlice<Place>,
        of line: LineNumber,
        on session: PostgreSQLSession
    ) throws -> [Pair] {
        let rows = try session.query(
            pairsSQL,
            [line.parameter] + places.map(\.key).parameters + [
                .integers(places.map(\.first)), .integers(places.map(\.second)),
            ]
        )
        return try (0..<rows.count).map { row in
            Pair(
                key: rows.objectKey(row),
                first: LineEntry(
                    serial: try rows.integer(row, 2),
                    forward: try rows.delta(row, 4),
                    backward: try rows.delta(row, 5)
                ),
                second: LineEntry(
                    serial: try rows.integer(row, 3),
                    forward: try rows.delta(row, 6),
                    backward: try rows.delta(row, 7)
                )
            )
        }
    }

    private static let pairsSQL = RowPage(
        columns: """
            collection, key, first, second, first_forward, first_backward, second_forward,
            second_backward, place
            """,
        size: ["first_forward", "first_backward", "second_forward", "second_backward"]
            .map { "coalesce(octet_length(\($0)), 0)" }.joined(separator: " + "),
        source: """
            (
                SELECT pair.collection, pair.key, pair.first, pair.second, pair.place,
                    earlier.forward AS first_forward, earlier.backward AS first_backward,
                    later.forward AS second_forward, later.backward AS second_backward
                FROM unnest($2::BYTEA[], $3::BYTEA[], $4::BIGINT[], $5::BIGINT[]) WITH ORDINALITY
                    AS pair (collection, key, first, second, place)
                JOIN godwit_line_entry AS earlier ON earlier.line = $1
                    AND earlier.collection = pair.collection AND earlier.key = pair.key
                    AND earlier.serial = pair.first
                JOIN godwit_line_entry AS later ON later.line = $1
                    AND later.collection = pair.collection AND later.key = pair.key
                    AND later.serial = pair.second
            ) AS found
            """,
        order: "place"
    ).sql
}
#endif
