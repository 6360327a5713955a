#if PostgreSQL
internal import GodwitReplication
internal import GodwitStore

/// The rows of a line's clients.
enum LinePeerRow {
    static func peers(
        _ clients: [ClientID],
        of line: LineNumber,
        on session: PostgreSQLSession
    ) throws -> Pending<[ClientID: LinePeer]> {
        let answer = try session.send(
            """
            SELECT client, nonce, acked, sent, sent_max, sequence, name, rejections
            FROM godwit_line_peer WHERE line = $1 AND client = ANY($2)
            """,
            [line.parameter, .byteStrings(clients.map(\.identifier.bytes))]
        )
        return Pending(answer) { rows in
            var peers: [ClientID: LinePeer] = [:]
            for row in 0..<rows.count { peers[try rows.clientID(row, 0)] = try rows.peer(row) }
            return peers
        }
    }

    /// - Parameter decision: A number that no other decision has.
    static func set(
        _ peer: LinePeer,
        _ client: ClientID,
        seen now: Int64,
        decision: Int64,
        of line: LineNumber,
        on session: PostgreSQLSession
    ) throws {
        try session.send(
            """
            INSERT INTO godwit_line_peer
                (line, client, nonce, acked, sent, sent_max, sequence, name, rejections, seen, decision)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
            ON CONFLICT (line, client) DO UPDATE
            SET nonce = excluded.nonce, acked = excluded.acked, sent = excluded.sent,
                sent_max = excluded.sent_max, sequence = excluded.sequence, name = excluded.name,
                rejections = excluded.rejections, seen = excluded.seen,
                decision = excluded.decision
            """,
            [
                line.parameter, client.parameter, .integer(peer.nonce), .integer(peer.acked),
                .integer(peer.sent), .bytes(peer.sentMax.storedBytes), .integer(peer.sequence),
                .integer(peer.outcome.map { Int64($0.name.number) }),
                .bytes(peer.outcome?.rejections?.storedBytes), .integer(now), .integer(decision),
            ]
        )
    }

    /// The last decision about a client that was written.
    static func decision(
        of client: ClientID,
        _ line: LineNumber,
        on session: PostgreSQLSession
    ) throws -> Int64? {
        let rows = try session.query(
            "SELECT decision FROM godwit_line_peer WHERE line = $1 AND client = $2",
            [line.parameter, client.parameter]
        )
        return rows.count > 0 ? try rows.integer(0, 0) : nil
    }

    /// The clients of a line, in the order of their ids.
    static func clients(
        of line: LineNumber,
        at now: Int64,
        on session: PostgreSQLSession
    ) throws -> [ReplicaClient] {
        let rows = try session.query(
            "SELECT client, acked, sent, seen FROM godwit_line_peer WHERE line = $1 ORDER BY client",
            [line.parameter]
        )
        return try (0..<rows.count).map { row in
            ReplicaClient(
                id: try rows.clientID(row, 0),
                acked: try rows.integer(row, 1),
                sent: try rows.integer(row, 2),
                silence: .milliseconds(max(now - (try rows.integer(row, 3)), 0))
            )
        }
    }

    /// Drops a client's refs.
    static func forget(
        _ client: ClientID,
        of line: LineNumber,
        on session: PostgreSQLSession
    ) throws {
        try session.query(
            "UPDATE godwit_line_peer SET acked = 0, sent = 0 WHERE line = $1 AND client = $2",
            [line.parameter, client.parameter]
        )
    }
}

extension PostgreSQLRows {
    /// A client's row, from its second column on.
    fileprivate func peer(_ row: Int) throws -> LinePeer {
        var peer = LinePeer(
            nonce: try integer(row, 1),
            acked: try integer(row, 2),
            sent: try integer(row, 3),
            sentMax: try [Epoch: Int64](storedBytes: bytes(row, 4))
        )
        guard let name = try optionalInteger(row, 6) else { return peer }
        peer.outcome = BatchOutcome(
            sequence: try integer(row, 5),
            name: BatchName(UInt32(truncatingIfNeeded: name)),
            result: isNull(row, 7)
                ? .accepted : .rejected(try [Rejection](storedBytes: bytes(row, 7)))
        )
        return peer
    }
}
#endif
