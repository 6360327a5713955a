#if PostgreSQL
internal import GodwitStore

/// A PostgreSQL database in which servers keep their replicas.
///
/// ```swift
/// let database = PostgreSQLDatabase(try PostgreSQLAddress("postgres://godwit@localhost/sync"))
/// try await database.migrate()
/// let node = try await PostgreSQLNode(database)
/// ```
///
/// Any number of servers may share one. It connects when it is first used, with as many connections
/// as are needed at once, up to a bound. What waits for the database waits on threads of its own.
public final class PostgreSQLDatabase: Sendable {
    public let address: PostgreSQLAddress
    package let options: PostgreSQLOptions
    let pool: PostgreSQLPool

    public init(_ address: PostgreSQLAddress, options: PostgreSQLOptions = PostgreSQLOptions()) {
        (self.address, self.options) = (address, options)
        pool = PostgreSQLPool(address, options)
    }

    /// Reads and writes, and throws where that fails: what a health check asks.
    ///
    /// - Throws: ``PostgreSQLError``.
    public func check() async throws {
        try await write { session in
            _ = try session.query(
                """
                INSERT INTO godwit_schema (name, step) VALUES ('health', 1)
                ON CONFLICT (name) DO UPDATE SET step = godwit_schema.step + 1
                """
            )
        }
    }

    /// Ends the connections that are not in use, and the others when they are done.
    public func close() { pool.close() }
}

// MARK: - Transactions

extension PostgreSQLDatabase {
    /// Reads in one snapshot.
    package func read<Result: Sendable>(
        _ body: @escaping @Sendable (PostgreSQLSession) throws -> Result
    ) async throws -> Result {
        try await attempt {
            try await self.pool.run { session in
                try session.begin(.read)
                let result = try body(session)
                try session.leave()
                return result
            }
        }
    }

    /// Writes in one transaction, and returns when it is durable.
    ///
    /// The database may run a body again, also after a commit whose outcome is unknown.
    package func write<Result: Sendable>(
        _ body: @escaping @Sendable (PostgreSQLSession) throws -> Result
    ) async throws -> Result {
        try await attempt {
            do {
                return try await self.writeOnce(body)
            } catch PostgreSQLError.unknownOutcome {
                throw PostgreSQLError.connectionLost(reason: "it ended during a commit")
            }
        }
    }

    /// Writes in one transaction, which is not tried again.
    ///
    /// - Throws: ``PostgreSQLError/unknownOutcome`` when the connection ends during the commit.
    func writeOnce<Result: Sendable>(
        _ body: @escaping @Sendable (PostgreSQLSession) throws -> Result
    ) async throws -> Result {
        try await pool.run { session in
            try session.begin(.write)
            let result = try body(session)
            try session.commit()
            return result
        }
    }

    /// Runs a body again when it meets another transaction, or loses its connection.
    func attempt<Result: Sendable>(
        _ body: @Sendable () async throws -> Result
    ) async throws -> Result {
        for attempts in 1... {
            do {
                return try await body()
            } catch let error as PostgreSQLError
                where isTransient(error) && attempts < options.attemptMax
            {
                try await options.backoff.wait(after: attempts)
            }
        }
        preconditionFailure("The last attempt returns or throws")
    }

    /// Whether another attempt may help: also where a database that has answered is not there, because it
    /// is restarted.
    private func isTransient(_ error: PostgreSQLError) -> Bool {
        if case .unreachable = error, pool.hasAnswered { return true }
        return error.isTransient
    }
}
#endif
