#if Server
internal import GodwitReplication
internal import Hummingbird
internal import Logging
internal import Metrics

/// The replicas of an open backend: the routes over them, and the work that has to go on beside these.
struct ServedReplicas: Sendable {
    let routes: ReplicaRoutes
    private let opened: ServerBackend.Opened
    private let clientSilenceMax: Duration?
    private let logger: Logger

    /// How often the server looks for clients that do not return.
    private static let forgetInterval = Duration.seconds(3_600)

    /// - Parameter address: The address that the server listens on.
    /// - Throws: ``AccessError``, `StoreError`.
    init(
        _ backend: ServerBackend,
        at address: String,
        _ options: SyncOptions,
        _ logger: Logger
    ) async throws {
        try options.access.check(listeningOn: address)
        let origins = try OriginCheck(options.allowedOrigins, hosts: options.allowedHosts)
        opened = try await backend.open(options.limits, logger)
        (clientSilenceMax, self.logger) = (options.clientSilenceMax, logger)
        if options.hasDemo { try await opened.server.create(ReplicaName("shopping")) }
        routes = ReplicaRoutes(
            server: opened.server,
            health: HealthCheck(trial: opened.check),
            hosts: HostCheck(address: address, names: options.allowedHosts),
            origins: origins,
            gate: try await Gate(
                opened.access,
                options.access,
                clientMax: options.limits.clientMax,
                logger: logger
            ),
            limiter: Limiter(options.limits),
            replicaMax: options.limits.replicaMax,
            metrics: ServerMetrics(options.metrics ?? MetricsSystem.factory),
            published: options.metrics,
            audit: AuditLog(options.auditLogger),
            isTraced: options.isTraced,
            hasDemo: options.hasDemo,
            heartbeat: options.heartbeat
        )
    }

    /// Hears of other nodes, and forgets clients that do not return, until the task is cancelled.
    func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            if let run = opened.run { group.addTask { await run() } }
            group.addTask { try await forgetSilentClients() }
            try await group.waitForAll()
        }
    }

    private func forgetSilentClients() async throws {
        while true {
            do {
                if clientSilenceMax != nil { try await forgetSilentClientsOnce() }
            } catch let error as CancellationError {
                throw error
            } catch {
                // It is tried again in an hour, and nothing depends on it.
                logger.error("silent clients stay", metadata: ["error": "\(error)"])
            }
            try await Task.sleep(for: Self.forgetInterval)
        }
    }

    private func forgetSilentClientsOnce() async throws {
        let server = opened.server
        for name in try await server.names() {
            let forgotten = try await server.forgetClients(of: name, silentFor: clientSilenceMax)
            for client in forgotten {
                logger.info("forgot a client", metadata: ["client": "\(client)"])
            }
        }
    }
}
#endif
