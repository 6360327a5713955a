#if PostgreSQL
internal import GodwitReplication

/// The rows of where the starts of servers found lines.
enum LineOpeningRow {
    /// Notes of some lines where a server found them, and forgets older starts.
    ///
    /// - Parameter numbers: The first and the last of these lines, in the order of their numbers.
    /// - Returns: The states that were noted for starts that are forgotten.
    static func open(
        _ start: ServerStart,
        lines numbers: ClosedRange<Int64>,
        on session: PostgreSQLSession
    ) throws -> [(line: LineNumber, serial: Int64)] {
        let bounds: [PostgreSQLParameter] = [
            .integer(numbers.lowerBound), .integer(numbers.upperBound),
        ]
        let number = PostgreSQLParameter.integer(Int64(start.number))
        try session.query(
            "UPDATE godwit_line SET start = $3 WHERE number >= $1 AND number <= $2",
            bounds + [number]
        )
        // A line that was made since then has no start, and needs none.
        try session.query(
            """
            INSERT INTO godwit_line_opening (line, serial, id, start)
            SELECT number, serial, id, $3::BIGINT FROM godwit_line
            WHERE number >= $1 AND number <= $2 AND start = $3
            ON CONFLICT (line, serial) DO UPDATE SET id = excluded.id, start = excluded.start
            """,
            bounds + [number]
        )
        let rows = try session.query(
            """
            DELETE FROM godwit_line_opening AS opening
            WHERE line >= $1 AND line <= $2 AND serial < (
                SELECT newer.serial FROM godwit_line_opening AS newer
                WHERE newer.line = opening.line ORDER BY newer.serial DESC LIMIT 1 OFFSET $3)
            RETURNING line, serial
            """,
            bounds + [.integer(Int64(LineSlice.openingCountMax - 1))]
        )
        return try (0..<rows.count).map { row in
            (LineNumber(rawValue: try rows.integer(row, 0)), try rows.integer(row, 1))
        }
    }

    static func openings(
        since serial: Int64,
        of line: LineNumber,
        on session: PostgreSQLSession
    ) throws -> Pending<[LineOpening]> {
        let answer = try session.send(
            """
            SELECT serial, id, start FROM godwit_line_opening
            WHERE line = $1 AND serial >= $2 ORDER BY serial
            """,
            [line.parameter, .integer(serial)]
        )
        return Pending(answer) { rows in
            try (0..<rows.count).map { row in
                let start = ServerStart(UInt32(truncatingIfNeeded: try rows.integer(row, 2)))
                return LineOpening(state: try rows.state(row, 0), start: start)
            }
        }
    }
}
#endif
