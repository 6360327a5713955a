internal import GRDB
internal import GodwitStore
internal import GodwitTree

// Where the starts of a server found its lines.

extension LineTable {
    /// Notes of all lines where the server found them, and forgets older starts.
    ///
    /// - Returns: The states that were noted for starts that are forgotten.
    static func open(in database: Database) throws -> [(line: LineNumber, serial: Int64)] {
        try PreparedStatement(
            """
            INSERT INTO godwit_line_opening (line, serial, id)
            SELECT number, serial, id FROM godwit_line WHERE serial > 0
            ON CONFLICT (line, serial) DO UPDATE SET id = excluded.id
            """,
            in: database
        ).execute()
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

    static func openings(of line: LineNumber, in database: Database) throws -> [LineState] {
        let statement = try PreparedStatement(
            "SELECT serial, id FROM godwit_line_opening WHERE line = ? ORDER BY serial",
            in: database
        )
        defer { statement.reset() }
        try statement.bind(line.rawValue, at: 1)
        return try statement.lineStates()
    }
}
