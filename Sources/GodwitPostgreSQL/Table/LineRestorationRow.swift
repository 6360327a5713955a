#if PostgreSQL
internal import GodwitReplication
internal import GodwitStore
internal import GodwitTree

/// The rows of what clients have given back, after a line had lost states.
enum LineRestorationRow {
    static func restoration(
        of epoch: Epoch,
        _ line: LineNumber,
        on session: PostgreSQLSession
    ) throws -> LineRestoration? {
        let place: [PostgreSQLParameter] = [line.parameter, .integer(epoch.stored)]
        let rows = try session.query(
            """
            SELECT reference, reference_id, lost, lost_id, passed FROM godwit_line_restoration
            WHERE line = $1 AND epoch = $2
            """,
            place
        )
        guard rows.count > 0 else { return nil }
        return LineRestoration(
            reference: try rows.state(0, 0),
            lost: try rows.state(0, 2),
            objects: try GivenObjects.read(
                from: "godwit_line_lost WHERE line = $1 AND epoch = $2",
                place,
                on: session
            ),
            passed: try [LineState](storedBytes: rows.bytes(0, 4))
        )
    }

    static func set(
        _ restoration: LineRestoration,
        _ epoch: Epoch,
        of line: LineNumber,
        on session: PostgreSQLSession
    ) throws {
        let place: [PostgreSQLParameter] = [line.parameter, .integer(epoch.stored)]
        try session.send(
            """
            INSERT INTO godwit_line_restoration
                (line, epoch, reference, reference_id, lost, lost_id, passed)
            VALUES ($1, $2, $3, $4, $5, $6, $7)
            ON CONFLICT (line, epoch) DO UPDATE
            SET reference = excluded.reference, reference_id = excluded.reference_id,
                lost = excluded.lost, lost_id = excluded.lost_id, passed = excluded.passed
            """,
            place + [
                .integer(restoration.reference.serial), .bytes(restoration.reference.id.bytes),
                .integer(restoration.lost.serial), .bytes(restoration.lost.id.bytes),
                .bytes(restoration.passed.storedBytes),
            ]
        )
        try session.send("DELETE FROM godwit_line_lost WHERE line = $1 AND epoch = $2", place)
        for objects in Array(restoration.objects).portions() {
            try session.send(
                """
                INSERT INTO godwit_line_lost (line, epoch, collection, key, version, value)
                SELECT $1::BIGINT, $2::BIGINT, new.collection, new.key, new.version, new.value
                FROM unnest($3::BYTEA[], $4::BYTEA[], $5::BIGINT[], $6::BYTEA[])
                    AS new (collection, key, version, value)
                """,
                place + objects.parameters
            )
        }
    }
}

/// The rows of what clients give back in several pieces, until the last one is there.
enum LineStagingRow {
    /// - Parameter count: How many of the objects to read.
    static func staging(
        of client: ClientID,
        first count: Int64,
        _ line: LineNumber,
        on session: PostgreSQLSession
    ) throws -> LineStaging? {
        let place = [line.parameter, client.parameter]
        let rows = try session.query(
            """
            SELECT epoch, base, base_id, compared_with, compared_with_id, count
            FROM godwit_line_staging WHERE line = $1 AND client = $2
            """,
            place
        )
        guard rows.count > 0 else { return nil }
        return LineStaging(
            purpose: LineStaging.Purpose(
                epoch: Epoch(stored: try rows.integer(0, 0)),
                base: try rows.state(0, 1),
                comparedWith: try rows.state(0, 3)
            ),
            count: try rows.integer(0, 5),
            objects: try GivenObjects.read(
                first: Int(count),
                from: "godwit_line_staged WHERE line = $1 AND client = $2",
                place,
                on: session
            )
        )
    }

    static func write(
        _ write: LineStagingWrite,
        replacing old: LineStaging?,
        of client: ClientID,
        _ line: LineNumber,
        on session: PostgreSQLSession
    ) throws {
        switch write {
        case .none: break
        case .remove:
            if old != nil { try remove(of: client, line, on: session) }
        case .append(let objects, let count, let purpose):
            if let old, old.count > count {
                try removeObjects(of: client, after: count, line, on: session)
            }
            try insert(objects, of: client, line, on: session)
            let staging = LineStaging(purpose: purpose, count: count + Int64(objects.count))
            try set(staging, of: client, line, on: session)
        }
    }

    static func remove(
        of client: ClientID,
        _ line: LineNumber,
        on session: PostgreSQLSession
    ) throws {
        try session.send(
            "DELETE FROM godwit_line_staging WHERE line = $1 AND client = $2",
            [line.parameter, client.parameter]
        )
        try removeObjects(of: client, after: 0, line, on: session)
    }

    private static func removeObjects(
        of client: ClientID,
        after count: Int64,
        _ line: LineNumber,
        on session: PostgreSQLSession
    ) throws {
        try session.send(
            """
            DELETE FROM godwit_line_staged
            WHERE line = $1 AND client = $2 AND (collection, key) IN (
                SELECT collection, key FROM godwit_line_staged
                WHERE line = $1 AND client = $2 ORDER BY collection, key OFFSET $3)
            """,
            [line.parameter, client.parameter, .integer(count)]
        )
    }

    private static func insert(
        _ objects: [ObjectKey: VersionedValue?],
        of client: ClientID,
        _ line: LineNumber,
        on session: PostgreSQLSession
    ) throws {
        for objects in Array(objects).portions() {
            try session.send(
                """
                INSERT INTO godwit_line_staged (line, client, collection, key, version, value)
                SELECT $1::BIGINT, $2::BYTEA, new.collection, new.key, new.version, new.value
                FROM unnest($3::BYTEA[], $4::BYTEA[], $5::BIGINT[], $6::BYTEA[])
                    AS new (collection, key, version, value)
                ON CONFLICT (line, client, collection, key) DO UPDATE
                SET version = excluded.version, value = excluded.value
                """,
                [line.parameter, client.parameter] + objects.parameters
            )
        }
    }

    private static func set(
        _ staging: LineStaging,
        of client: ClientID,
        _ line: LineNumber,
        on session: PostgreSQLSession
    ) throws {
        let purpose = staging.purpose
        try session.send(
            """
            INSERT INTO godwit_line_staging
                (line, client, epoch, base, base_id, compared_with, compared_with_id, count)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
            ON CONFLICT (line, client) DO UPDATE
            SET epoch = excluded.epoch, base = excluded.base, base_id = excluded.base_id,
                compared_with = excluded.compared_with,
                compared_with_id = excluded.compared_with_id, count = excluded.count
            """,
            [
                line.parameter, client.parameter, .integer(purpose.epoch.stored),
                .integer(purpose.base.serial), .bytes(purpose.base.id.bytes),
                .integer(purpose.comparedWith.serial), .bytes(purpose.comparedWith.id.bytes),
                .integer(staging.count),
            ]
        )
    }
}

/// The objects that clients give back, as both tables have them; nil where a client had none.
private enum GivenObjects {
    /// Reads rows in the order of their keys, page by page.
    ///
    /// - Parameters:
    ///   - countMax: How many of them to read.
    ///   - source: A table with its condition, whose two arguments are `place`.
    static func read(
        first countMax: Int = .max,
        from source: String,
        _ place: [PostgreSQLParameter],
        on session: PostgreSQLSession
    ) throws -> [ObjectKey: VersionedValue?] {
        var objects: [ObjectKey: VersionedValue?] = [:]
        var last: ObjectKey?
        while objects.count < countMax {
            let page = RowPage(
                columns: "collection, key, version, value",
                size: "coalesce(octet_length(value), 0)",
                source: last == nil ? source : source + " AND (collection, key) > ($3, $4)",
                order: "collection, key"
            )
            let rows = try session.query(page.sql, place + (last?.parameters ?? []))
            for row in 0..<min(rows.count, countMax - objects.count) {
                objects[rows.objectKey(row)] = .some(try rows.givenObject(row))
            }
            guard rows.fillPage(3...3) else { break }
            last = rows.objectKey(rows.count - 1)
        }
        return objects
    }
}

extension Array where Element == (key: ObjectKey, value: VersionedValue?) {
    fileprivate func portions() -> [[Element]] {
        portions { $0.value?.value.canonicalBytes.count ?? 0 }
    }

    /// Four arguments: collections, keys, versions and values.
    fileprivate var parameters: [PostgreSQLParameter] {
        map(\.key).parameters + [
            .integers(map { Int64($0.value?.version ?? 1) }),
            .byteStrings(map { $0.value?.value.canonicalBytes }),
        ]
    }
}
#endif
