internal import GRDB

/// Counts what a request changes, in the database and in memory.
///
/// The counts differ if the app has rolled a savepoint back around a change, which SQLite does not
/// announce. Counting begins when the app gets the connection: before, it has begun no savepoint.
struct Sentinel {
    private var count: Int64?
    private var failure: (any Error)?

    mutating func begin(in database: Database) {
        guard count == nil else { return }
        count = 0
        do {
            // GRDB prepares all statements anew after one that changes the schema.
            if try !Self.isThere(in: database) {
                try database.execute(
                    sql: """
                        CREATE TEMP TABLE godwit_sentinel (
                            number INTEGER PRIMARY KEY, count INTEGER NOT NULL
                        )
                        """
                )
            }
            try PreparedStatement(
                "INSERT OR REPLACE INTO temp.godwit_sentinel (number, count) VALUES (1, 0)",
                in: database
            ).execute()
        } catch {
            failure = error
        }
    }

    private static func isThere(in database: Database) throws -> Bool {
        let statement = try PreparedStatement(
            "SELECT 1 FROM sqlite_temp_master WHERE name = 'godwit_sentinel'",
            in: database
        )
        defer { statement.reset() }
        return try statement.step()
    }

    /// Counts one more change.
    mutating func note(in database: Database) throws {
        guard let count, failure == nil else { return }
        self.count = count + 1
        try PreparedStatement(
            "UPDATE temp.godwit_sentinel SET count = count + 1",
            in: database
        ).execute()
    }

    /// - Throws: ``StoreError/savepointRolledBack``.
    func check(in database: Database) throws {
        if let failure { throw failure }
        guard let count, count > 0 else { return }
        let statement = try PreparedStatement(
            "SELECT count FROM temp.godwit_sentinel",
            in: database
        )
        defer { statement.reset() }
        guard try statement.step(), statement.integer(0) == count else {
            throw StoreError.savepointRolledBack
        }
    }
}
