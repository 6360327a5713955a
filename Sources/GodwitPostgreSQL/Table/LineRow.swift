#if PostgreSQL
internal import GodwitReplication
internal import GodwitStore
internal import GodwitTree

/// The row of a line, the sums of its collections, and its states.
package enum LineRow {
    static func create(
        _ name: ReplicaName,
        epoch: Epoch,
        on session: PostgreSQLSession
    ) throws {
        let number = LineNumber(name)
        let result = try session.query(
            """
            INSERT INTO godwit_line (number, name, epoch, serial, id, sum)
            VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (number) DO NOTHING
            """,
            [
                number.parameter, .text(name.text), .integer(epoch.stored),
                .integer(LineState.root.serial), .bytes(LineState.root.id.bytes),
                .bytes(ContentSum.empty.all.bytes),
            ]
        )
        if result.changedCount > 0 { try removeParts(of: number, on: session) }
        let rows = try session.query(
            "SELECT name FROM godwit_line WHERE number = $1",
            [number.parameter]
        )
        guard rows.count == 1, rows.text(0, 0) == name.text else {
            throw PostgreSQLError.numberTaken(name: name.text)
        }
    }

    /// Removes what a copy of a server that was cut off may have left.
    package static func removeParts(
        of number: LineNumber,
        on session: PostgreSQLSession
    ) throws {
        // There may be much of it.
        try session.withoutStatementMax {
            for table in PostgreSQLSchema.parts {
                try session.query("DELETE FROM \(table) WHERE line = $1", [number.parameter])
            }
        }
    }

    /// The names of all lines, in their order.
    static func names(on session: PostgreSQLSession) throws -> [ReplicaName] {
        let rows = try session.query("SELECT name FROM godwit_line")
        let names = (0..<rows.count).map { Key(rows.text($0, 0)) }
        return try names.sorted { Key.isBefore($0, $1) }.map { try ReplicaName($0.text) }
    }

    /// Some numbers of lines in their order, behind another one.
    static func numbers(
        after number: Int64,
        countMax: Int,
        on session: PostgreSQLSession
    ) throws -> [LineNumber] {
        let rows = try session.query(
            "SELECT number FROM godwit_line WHERE number > $1 ORDER BY number LIMIT $2",
            [.integer(number), .integer(Int64(countMax))]
        )
        return try (0..<rows.count).map { LineNumber(rawValue: try rows.integer($0, 0)) }
    }

    /// The head of a line, without the sums of its collections.
    ///
    /// - Parameter isLocked: Whether no other transaction may lock the line until this one ends.
    /// - Throws: ``ReplicationError/unknownReplica(_:)``.
    static func head(
        of name: ReplicaName,
        isLocked: Bool = false,
        on session: PostgreSQLSession
    ) throws -> LineHead {
        try pendingHead(of: name, isLocked: isLocked, on: session).value()
    }

    static func pendingHead(
        of name: ReplicaName,
        isLocked: Bool = false,
        on session: PostgreSQLSession
    ) throws -> Pending<LineHead> {
        let sql =
            "SELECT name, epoch, serial, id, sum, size, start FROM godwit_line WHERE number = $1"
        let answer = try session.send(
            isLocked ? sql + " FOR UPDATE" : sql,
            [LineNumber(name).parameter]
        )
        return Pending(answer) { rows in
            guard rows.count == 1, rows.text(0, 0) == name.text else {
                throw ReplicationError.unknownReplica(name.text)
            }
            return LineHead(
                epoch: Epoch(stored: try rows.integer(0, 1)),
                state: try rows.state(0, 2),
                sum: ContentSum(total: try rows.setHash(0, 4), collections: [:]),
                size: try rows.integer(0, 5),
                start: try rows.optionalInteger(0, 6).map {
                    ServerStart(UInt32(truncatingIfNeeded: $0))
                }
            )
        }
    }

    /// The sums of some collections; those that are empty are none.
    static func sums(
        of collections: Set<Key>,
        _ line: LineNumber,
        on session: PostgreSQLSession
    ) throws -> Pending<[Key: CollectionSum]> {
        guard !collections.isEmpty else { return Pending([:]) }
        let answer = try session.send(
            """
            SELECT collection, count, sum FROM godwit_line_collection
            WHERE line = $1 AND collection = ANY($2) AND count > 0
            """,
            [line.parameter, .byteStrings(collections.map(\.bytes))]
        )
        return Pending(answer) { rows in
            var sums: [Key: CollectionSum] = [:]
            for row in 0..<rows.count {
                sums[rows.key(row, 0)] = CollectionSum(
                    count: try rows.integer(row, 1),
                    sum: try rows.setHash(row, 2)
                )
            }
            return sums
        }
    }

    // MARK: Writing

    static func setEpoch(
        _ epoch: Epoch,
        of line: LineNumber,
        on session: PostgreSQLSession
    ) throws {
        try session.send(
            "UPDATE godwit_line SET epoch = $2 WHERE number = $1",
            [line.parameter, .integer(epoch.stored)]
        )
    }

    static func setHead(
        _ commit: LineCommit,
        replacing old: ContentSum,
        of line: LineNumber,
        on session: PostgreSQLSession
    ) throws {
        let state: [PostgreSQLParameter] = [
            line.parameter, .integer(commit.state.serial), .bytes(commit.state.id.bytes),
        ]
        try session.send(
            "UPDATE godwit_line SET serial = $2, id = $3, sum = $4, size = $5 WHERE number = $1",
            state + [.bytes(commit.sum.all.bytes), .integer(commit.size)]
        )
        try session.send(
            "INSERT INTO godwit_line_state (line, serial, id) VALUES ($1, $2, $3)",
            state
        )
        let changes = Array(old.changes(to: commit.sum))
        guard !changes.isEmpty else { return }
        try session.send(
            """
            INSERT INTO godwit_line_collection (line, collection, count, sum)
            SELECT $1::BIGINT, new.collection, new.count, new.sum
            FROM unnest($2::BYTEA[], $3::BIGINT[], $4::BYTEA[]) AS new (collection, count, sum)
            ON CONFLICT (line, collection) DO UPDATE
            SET count = excluded.count, sum = excluded.sum
            """,
            [
                line.parameter, .byteStrings(changes.map(\.key.bytes)),
                .integers(changes.map(\.value.count)),
                .byteStrings(changes.map(\.value.sum.bytes)),
            ]
        )
    }
}

// MARK: - States

extension LineRow {
    /// Whether a client can have a state, or something else needs it.
    private static func isReferenced(_ serial: String) -> String {
        """
        EXISTS (SELECT 1 FROM godwit_line AS head
            WHERE head.number = $1 AND head.serial = \(serial))
        OR EXISTS (SELECT 1 FROM godwit_line_opening AS opening
            WHERE opening.line = $1 AND opening.serial = \(serial))
        OR EXISTS (SELECT 1 FROM godwit_line_peer AS peer
            WHERE peer.line = $1 AND peer.acked = \(serial))
        OR EXISTS (SELECT 1 FROM godwit_line_peer AS peer
            WHERE peer.line = $1 AND peer.sent = \(serial))
        OR EXISTS (SELECT 1 FROM godwit_line_restoration AS restoration
            WHERE restoration.line = $1 AND restoration.reference = \(serial))
        """
    }

    /// Of some serials, the states that are kept.
    ///
    /// The row of one without refs goes after its entries, which may be gone in part: it is not kept.
    static func states(
        at serials: Set<Int64>,
        of line: LineNumber,
        on session: PostgreSQLSession
    ) throws -> Pending<[Int64: StateID]> {
        guard !serials.isEmpty else { return Pending([:]) }
        let answer = try session.send(
            """
            SELECT serial, id FROM godwit_line_state AS state
            WHERE line = $1 AND serial = ANY($2) AND (\(isReferenced("state.serial")))
            """,
            [line.parameter, .integers(Array(serials))]
        )
        return Pending(answer) { rows in
            var states: [Int64: StateID] = [:]
            for row in 0..<rows.count {
                states[try rows.integer(row, 0)] = try rows.stateID(row, 1)
            }
            return states
        }
    }

    static func removeState(
        at serial: Int64,
        of line: LineNumber,
        on session: PostgreSQLSession
    ) throws {
        try session.send(
            "DELETE FROM godwit_line_state WHERE line = $1 AND serial = $2",
            [line.parameter, .integer(serial)]
        )
    }

    /// The states around one that nothing needs, 0 where there is none before; nil when it is needed, or
    /// the last one.
    static func neighbours(
        ofAbandoned serial: Int64,
        _ line: LineNumber,
        on session: PostgreSQLSession
    ) throws -> (previous: Int64, next: Int64)? {
        let rows = try session.query(
            """
            SELECT \(isReferenced("$2")),
                (SELECT max(serial) FROM godwit_line_state WHERE line = $1 AND serial < $2),
                (SELECT min(serial) FROM godwit_line_state WHERE line = $1 AND serial > $2)
            """,
            [line.parameter, .integer(serial)]
        )
        guard !rows.isTrue(0, 0), let next = try rows.optionalInteger(0, 2) else { return nil }
        return (try rows.optionalInteger(0, 1) ?? 0, next)
    }

    /// Some states that no client can have, the head left out.
    static func unreferenced(
        of line: LineNumber,
        countMax: Int,
        on session: PostgreSQLSession
    ) throws -> [Int64] {
        let rows = try session.query(
            """
            SELECT serial FROM godwit_line_state AS state WHERE line = $1
            AND NOT (\(isReferenced("state.serial")))
            LIMIT $2
            """,
            [line.parameter, .integer(Int64(countMax))]
        )
        return try (0..<rows.count).map { try rows.integer($0, 0) }
    }

    static func summary(
        of name: ReplicaName,
        on session: PostgreSQLSession
    ) throws -> ReplicaSummary {
        let head = try head(of: name, on: session)
        let rows = try session.query(
            """
            SELECT (SELECT coalesce(sum(count), 0)::BIGINT FROM godwit_line_collection
                    WHERE line = $1),
                (SELECT count(*) FROM godwit_line_state WHERE line = $1),
                (SELECT count(*) FROM godwit_line_peer WHERE line = $1)
            """,
            [LineNumber(name).parameter]
        )
        return ReplicaSummary(
            epoch: head.epoch,
            head: head.state,
            objectCount: Int(try rows.integer(0, 0)),
            sizeInBytes: head.size,
            stateCount: Int(try rows.integer(0, 1)),
            clientCount: Int(try rows.integer(0, 2))
        )
    }
}
#endif
