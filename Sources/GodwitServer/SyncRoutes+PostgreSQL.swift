#if Server && PostgreSQL
public import GodwitPostgreSQL
public import Logging

extension SyncRoutes {
    /// The routes over a PostgreSQL database, which other servers may share.
    ///
    /// - Parameters:
    ///   - database: Where the replicas are.
    ///   - host: The address that the app's server listens on.
    ///   - options: Which clients are let in, and how much each may use.
    ///   - logger: Where background work logs; a request logs where the app's router does.
    /// - Throws: As ``init(store:host:options:logger:)``, and `PostgreSQLError`.
    public init(
        database: PostgreSQLDatabase,
        host: String,
        options: SyncOptions = SyncOptions(),
        logger: Logger = Logger(label: "godwit.server")
    ) async throws {
        try await self.init(.database(database), host: host, options: options, logger: logger)
    }
}
#endif
