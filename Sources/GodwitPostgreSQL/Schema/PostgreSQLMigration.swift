#if PostgreSQL
// Migrations run under an advisory lock: of several nodes that start at once, one makes the tables.

extension PostgreSQLDatabase {
    /// The lock's number: any one that other programs in the database do not use.
    private static let lockNumber: Int64 = 0x676f_6477_6974

    /// Makes the tables, or brings them up to date; does nothing where they are.
    ///
    /// Servers of the version before may go on meanwhile.
    ///
    /// - Returns: How many steps there were to do.
    /// - Throws: ``PostgreSQLError``.
    @discardableResult
    public func migrate() async throws -> Int {
        let known = PostgreSQLSchema.steps.count
        let done = try await step()
        guard done <= known else { throw PostgreSQLError.schemaIsNewer(step: done, known: known) }
        guard done < known else { return 0 }
        try await withLock { session in
            // A step may build an index of a large table.
            try session.withoutStatementMax { try Self.migrate(on: session) }
        }
        await tune()
        return known - done
    }

    private static func migrate(on session: PostgreSQLSession) throws {
        // Another node may have been faster.
        let done = try step(on: session)
        for (offset, step) in PostgreSQLSchema.steps.enumerated().dropFirst(done) {
            for sql in step { try session.execute(sql) }
            try session.query(
                "UPDATE godwit_schema SET step = $1 WHERE name = 'line'",
                [.integer(Int64(offset + 1))]
            )
        }
    }

    /// - Throws: ``PostgreSQLError/schemaIsOlder(step:known:)``,
    ///   ``PostgreSQLError/schemaIsNewer(step:known:)``.
    package func checkSchema() async throws {
        let (done, known) = (try await step(), PostgreSQLSchema.steps.count)
        if done > known { throw PostgreSQLError.schemaIsNewer(step: done, known: known) }
        if done < known { throw PostgreSQLError.schemaIsOlder(step: done, known: known) }
    }

    /// How many steps the tables have seen; 0 where there are none.
    private func step() async throws -> Int {
        do {
            return try await read { session in
                let rows = try session.query("SELECT step FROM godwit_schema WHERE name = 'line'")
                return rows.count > 0 ? Int(try rows.integer(0, 0)) : 0
            }
        } catch PostgreSQLError.refused("42P01", _) {
            return 0
        }
    }

    private static func step(on session: PostgreSQLSession) throws -> Int {
        try session.execute(
            """
            CREATE TABLE IF NOT EXISTS godwit_schema (
                name TEXT NOT NULL PRIMARY KEY,
                step BIGINT NOT NULL
            )
            """
        )
        try session.execute(
            "INSERT INTO godwit_schema (name, step) VALUES ('line', 0) ON CONFLICT (name) DO NOTHING"
        )
        let rows = try session.query("SELECT step FROM godwit_schema WHERE name = 'line'")
        return Int(try rows.integer(0, 0))
    }

    /// Writes while no other node does so under the lock; without it where the database has none.
    func withLock<Result: Sendable>(
        _ body: @escaping @Sendable (PostgreSQLSession) throws -> Result
    ) async throws -> Result {
        do {
            return try await write { session in
                try Self.lock(session)
                return try body(session)
            }
        } catch is NoLocks {
            return try await write(body)
        }
    }

    private struct NoLocks: Error {}

    /// Waits for the lock in short statements: one that waits as long as another node works would be
    /// ended.
    ///
    /// - Throws: ``NoLocks``, ``PostgreSQLError``.
    private static func lock(_ session: PostgreSQLSession) throws {
        for _ in 0..<lockAttemptMax {
            if try hasLock(session) { return }
            // The database waits, and no thread of this program.
            try session.query("SELECT 1 FROM pg_sleep(0.1)")
        }
        throw PostgreSQLError.timedOut
    }

    private static func hasLock(_ session: PostgreSQLSession) throws -> Bool {
        do throws(PostgreSQLError) {
            let sql = "SELECT pg_try_advisory_xact_lock($1)::INT::BIGINT"
            return try session.query(sql, [.integer(lockNumber)]).integer(0, 0) == 1
        } catch {
            throw error.isUnknownFunction ? NoLocks() : error
        }
    }

    /// Ten minutes.
    private static let lockAttemptMax = 6_000

    /// Sets what keeps the tables small; a database that has no such settings does without.
    ///
    /// A statement may take no longer here than elsewhere: no start of a server waits for a vacuum.
    private func tune() async {
        for sql in PostgreSQLSchema.tuning {
            // The tables are there, and everything works: nothing is to be told.
            try? await write { try $0.execute(sql) }
        }
    }
}
#endif
