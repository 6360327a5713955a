#if Server && PostgreSQL
public import GodwitPostgreSQL
public import Logging

extension SyncServer {
    /// A server that keeps its replicas and keys in a PostgreSQL database, which others may share.
    ///
    /// ```swift
    /// let address = try PostgreSQLAddress("postgres://godwit@db.example.com/sync")
    /// let server = SyncServer(database: PostgreSQLDatabase(address), access: .keys)
    /// try await server.run()
    /// ```
    ///
    /// It brings the tables up to date when it begins to run.
    ///
    /// - Parameters:
    ///   - database: Where the replicas are.
    ///   - host: The address to listen on.
    ///   - port: Where to listen; 0 for a free port.
    ///   - access: Which clients are let in.
    ///   - tls: The server's certificate; nil for HTTP without TLS, on loopback or behind a proxy.
    ///   - allowedHosts: The names under which clients reach the server.
    ///   - clientSilenceMax: For how long states are kept for a client that is not heard of; nil for
    ///     ever.
    ///   - logger: Where the server logs.
    ///   - whenListening: Called with the port, once it is open.
    public init(
        database: PostgreSQLDatabase,
        host: String = "127.0.0.1",
        port: Int = 7007,
        access: AccessControl = .open,
        tls: TLSFiles? = nil,
        allowedHosts: [String] = [],
        clientSilenceMax: Duration? = .seconds(180 * 24 * 3_600),
        logger: Logger = Logger(label: "godwit.server"),
        whenListening: @escaping @Sendable (Int) async -> Void = { _ in }
    ) {
        self.init(
            .database(database),
            host: host,
            port: port,
            access: access,
            tls: tls,
            allowedHosts: allowedHosts,
            clientSilenceMax: clientSilenceMax,
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
