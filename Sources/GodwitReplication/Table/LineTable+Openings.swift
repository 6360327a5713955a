internal import GRDB
internal import GodwitStore
internal import GodwitTree

// Where the starts of a server found its lines.

extension LineTable {
    /// Notes of all lines where the server found them, and forgets older starts.
    ///
    /// - Returns: The states that were noted for starts that are forgotten.
    static func open(
        _ start: ServerStart,
        in database: Database
    ) throws -> [(line: LineNumber, serial: Int64)] {
        for sql in [
            "UPDATE godwit_line SET start = ?",
            """
            INSERT INTO godwit_line_opening (line, serial, id, start)
            SELECT number, serial, id, ? FROM godwit_line WHERE TRUE
            ON CONFLICT (line, serial) DO UPDATE SET id = excluded.id, start = excluded.start
            """,
        ] {
            let statement = try PreparedStatement(sql, in: database)
            try statement.bind(Int64(start.number), at: 1)
            try statement.execute()
        }
        let statement = try PreparedStatement(
            """
            DELETE FROM godwit_line_opening AS opening WHERE serial < (
                SELECT serial FROM godwit_line_opening WHERE line = opening.line
                ORDER BY serial DESC LIMIT 1 OFFSET ?)
            RETURNING line, serial
            """,
            in: database
        )
        defer { statement.reset() }
        try statement.bind(Int64(LineSlice.openingCountMax - 1), at: 1)
        var forgotten: [(line: LineNumber, serial: Int64)] = []
        while try statement.step() {
            forgotten.append((LineNumber(rawValue: statement.integer(0)), statement.integer(1)))
        }
        return forgotten
    }

    static func openings(
        since serial: Int64,
        of line: LineNumber,
        in database: Database
    ) throws -> [LineOpening] {
        let statement = try PreparedStatement(
            """
            SELECT serial, id, start FROM godwit_line_opening
            WHERE line = ? AND serial >= ? ORDER BY serial
            """,
            in: database
        )
        defer { statement.reset() }
        try statement.bind(line.rawValue, at: 1)
        try statement.bind(serial, at: 2)
        var openings: [LineOpening] = []
        while try statement.step() {
            let state = LineState(serial: statement.integer(0), id: try statement.stateID(1))
            let start = ServerStart(UInt32(truncatingIfNeeded: statement.integer(2)))
            openings.append(LineOpening(state: state, start: start))
        }
        return openings
    }
}
