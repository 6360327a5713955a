#if Server
internal import GodwitReplication
internal import GodwitStore
internal import Logging

#if PostgreSQL
internal import GodwitPostgreSQL
#endif

/// Where a server keeps its replicas, and who may use them.
enum ServerBackend: Sendable {
    case store(Store)
    #if PostgreSQL
    case database(PostgreSQLDatabase)
    #endif

    /// An open backend: what answers, and what has to run meanwhile.
    struct Opened: Sendable {
        let server: ReplicaServer
        let access: any AccessStorage
        /// Reads and writes, and throws where that fails.
        let check: @Sendable () async throws -> Void
        /// Goes on until it is cancelled; nil where nothing has to.
        var run: (@Sendable () async -> Void)?
    }

    var clock: StoreClock {
        switch self {
        case .store(let store): store.options.clock
        #if PostgreSQL
        case .database(let database): database.options.clock
        #endif
        }
    }

    func open(_ limits: ServerLimits, _ logger: Logger) async throws -> Opened {
        var options = ReplicaServer.Options()
        options.replicaSizeMax = limits.replicaSizeMax
        switch self {
        case .store(let store):
            let server = try await ReplicaServer(store, options: options)
            return Opened(server: server, access: StoreAccess(store: store)) {
                _ = try await server.names()
                // A transaction that changes nothing writes no page.
                try await store.write { $0.touch() }
            }
        #if PostgreSQL
        case .database(let database):
            try await database.migrate()
            let node = try await PostgreSQLNode(database, options: options, logger: logger)
            var opened = Opened(
                server: node.server,
                access: PostgreSQLAccess(database: database),
                check: database.check
            )
            opened.run = node.run
            return opened
        #endif
        }
    }
}
#endif
