#if Server && PostgreSQL
public import GodwitPostgreSQL
public import Logging

extension SyncServer {
    /// A server that keeps its replicas and keys in a PostgreSQL database, which others may share.
    ///
    /// ```swift
    /// let address = try PostgreSQLAddress("postgres://godwit@db.example.com/sync")
    /// let server = SyncServer(database: PostgreSQLDatabase(address), options: SyncOptions(access: .keys))
    /// try await server.run()
    /// ```
    ///
    /// It brings the tables up to date when it begins to run.
    ///
    /// - Parameters:
    ///   - database: Where the replicas are.
    ///   - host: The address to listen on.
    ///   - port: Where to listen; 0 for a free port.
    ///   - options: Which clients are let in, and how much each may use.
    ///   - tls: The server's certificate; nil for HTTP without TLS, on loopback or behind a proxy.
    ///   - logger: Where the server logs.
    ///   - whenListening: Called with the port, once it is open.
    public init(
        database: PostgreSQLDatabase,
        host: String = "127.0.0.1",
        port: Int = 7007,
        options: SyncOptions = SyncOptions(),
        tls: TLSFiles? = nil,
        logger: Logger = Logger(label: "godwit.server"),
        whenListening: @escaping @Sendable (Int) async -> Void = { _ in }
    ) {
        self.init(
            .database(database),
            host: host,
            port: port,
            options: options,
            tls: tls,
            logger: logger,
            whenListening: whenListening
        )
    }
}

extension APIKeys {
    /// The keys in a database of replicas, whose tables have been made.
    public init(_ database: PostgreSQLDatabase) throws {
        try self.init(PostgreSQLAccess(database: database))
    }
}
#endif
