internal import GRDB
internal import GodwitStore

/// Which launch of which process runs the queue: the only one whose answers count.
///
/// Each takeover has a new epoch. What an older one still does is noticed when it writes.
enum RunnerTable {
    static let schema = """
        CREATE TABLE godwit_runner (
            slot INTEGER PRIMARY KEY CHECK (slot = 0),
            owner TEXT NOT NULL,
            epoch INTEGER NOT NULL,
            boot TEXT NOT NULL,
            until INTEGER NOT NULL
        ) STRICT;
        """

    struct Row: Hashable, Sendable {
        let owner: String
        let epoch: Int64
        /// Since when the machine runs; a lease of an earlier time is over.
        let boot: String
        /// By the machine's own clock, in milliseconds; a runner that is late may be replaced.
        let until: Int64
    }

    static func row(in database: Database) throws -> Row? {
        let statement = try PreparedStatement(
            "SELECT owner, epoch, boot, until FROM godwit_runner WHERE slot = 0",
            in: database
        )
        defer { statement.reset() }
        guard try statement.step() else { return nil }
        return Row(
            owner: statement.text(0),
            epoch: statement.integer(1),
            boot: statement.text(2),
            until: statement.integer(3)
        )
    }

    static func set(_ row: Row, in database: Database) throws {
        try database.execute(
            sql: """
                INSERT OR REPLACE INTO godwit_runner (slot, owner, epoch, boot, until)
                VALUES (0, ?, ?, ?, ?)
                """,
            arguments: [row.owner, row.epoch, row.boot, row.until]
        )
    }

    /// Makes a lease last to another time.
    ///
    /// - Returns: Whether it was still there.
    static func setEnd(_ until: Int64, ofEpoch epoch: Int64, in database: Database) throws -> Bool {
        try database.execute(
            sql: "UPDATE godwit_runner SET until = ? WHERE slot = 0 AND epoch = ?",
            arguments: [until, epoch]
        )
        return database.changesCount == 1
    }
}
