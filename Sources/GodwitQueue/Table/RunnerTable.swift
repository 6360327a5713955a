internal import GRDB
internal import GodwitStore

/// Which launch of which process runs the queue: the only one whose answers count.
///
/// Each takeover has a new epoch. What an older one still does is noticed when it writes.
enum RunnerTable {
    struct Row: Hashable, Sendable {
        let owner: String
        let epoch: Int64
        /// Milliseconds since 1970; a runner that is late may be replaced.
        let until: Int64
    }

    static func row(in database: Database) throws -> Row? {
        let statement = try PreparedStatement(
            "SELECT owner, epoch, until FROM godwit_runner WHERE slot = 0",
            in: database
        )
        defer { statement.reset() }
        guard try statement.step() else { return nil }
        return Row(
            owner: statement.text(0),
            epoch: statement.integer(1),
            until: statement.integer(2)
        )
    }

    static func set(_ row: Row, in database: Database) throws {
        try database.execute(
            sql: """
                INSERT OR REPLACE INTO godwit_runner (slot, owner, epoch, until)
                VALUES (0, ?, ?, ?)
                """,
            arguments: [row.owner, row.epoch, row.until]
        )
    }
}
