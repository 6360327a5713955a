import ArgumentParser
import Foundation
import GodwitServer
import GodwitStore
import Logging
import Metrics
import ServiceLifecycle
import UnixSignals

#if PostgreSQL
import GodwitPostgreSQL
#endif

/// Runs a sync server.
struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run a sync server on embedded SQLite, or on a PostgreSQL database.",
        discussion: """
            Prints its address when it is ready, and ends on SIGTERM or SIGINT after
            answering what it has begun to answer. With --keys, clients need an API key of
            its store (see `godwit key`); with --jwks, a signed token (see `godwit token`).
            Without either it lets every client in, and listens on loopback alone. On
            loopback it answers requests for localhost alone, and for the hosts that
            --allow-host names beside --keys or --jwks: those of a proxy before it.
            With --tls-certificate and --tls-key it serves HTTPS, and reads the files again
            when they change.
            With --demo it has a replica "shopping" and a page that edits it, in several
            browsers at once and offline.
            GET /health/ready answers 200 while the store can be read and written to, else
            503; /metrics is for Prometheus, and /dashboard for people.
            Pages of other sites may use it if --allow-origin names where they are from.
            --jwks is a file, or an https address that is asked every ten minutes.
            With --database, any number of servers may share the replicas and keys of a
            PostgreSQL database; each brings its tables up to date when it starts. Put the
            password into PGPASSFILE: the list of processes shows arguments.
            Options that are not given as arguments are taken from the environment, such as
            GODWIT_MAX_CLIENTS=500, and then from the JSON file of --config, such as
            {"port": 7007, "keys": true, "allow-host": ["sync.example.com"]}.

            EXAMPLES
              godwit serve
              godwit serve --demo
              godwit serve --port 7007 --store /var/lib/godwit/server.sqlite
              godwit serve --keys --allow-host sync.example.com
              godwit serve --host 0.0.0.0 --keys --rate 20
              godwit serve --host 0.0.0.0 --keys --tls-certificate fullchain.pem \\
                --tls-key privkey.pem
              godwit serve --jwks jwks.json --issuer https://id.example.com
              godwit serve --jwks https://id.example.com/jwks.json \\
                --issuer https://id.example.com --allow-origin https://app.example.com
              godwit serve --database postgres://godwit@db.example.com/sync --keys
              godwit serve --config /etc/godwit/server.json
              curl -X PUT http://127.0.0.1:7007/v1/replicas/shopping
            """
    )

    @Option(help: "A JSON file with options; see above.") var config: String?
    @OptionGroup var options: ServeOptions

    func run() async throws {
        let options = try resolved(ProcessInfo.processInfo.environment)
        // No file is made for a server that does not start.
        try options.access.check(listeningOn: options.host ?? Self.defaultHost)
        try options.tls?.check()
        let metrics = PrometheusMetrics()
        MetricsSystem.bootstrap(metrics)
        try await options.serve(metrics)
    }

    /// The options of the arguments, the environment and the file.
    func resolved(_ environment: [String: String]) throws -> ServeOptions {
        var result = options.over(try ServeOptions(environment: environment))
        if let config { result = result.over(try ServeOptions(file: config)) }
        try result.check()
        return result
    }

    fileprivate static let defaultHost = "127.0.0.1"
}

extension ServeOptions {
    fileprivate func serve(_ metrics: PrometheusMetrics) async throws {
        let logger = Terminal.logger(
            level: verbose ?? false ? .debug : .notice,
            isJSON: logFormat == .json
        )
        let host = host ?? Serve.defaultHost
        let scheme = tls == nil ? "http" : "https"
        let whenListening: @Sendable (Int) async -> Void = { port in
            // A server runs without its output, too.
            let address = "\(scheme)://\(host):\(port)"
            try? Terminal.print("godwit is listening on \(address)")
            if demo ?? false { try? Terminal.print("a shopping list is at \(address)/demo") }
        }
        let syncOptions = try syncOptions(metrics)
        #if PostgreSQL
        if let database = try database.opened() {
            let server = SyncServer(
                database: database,
                host: host,
                port: port ?? 7007,
                options: syncOptions,
                tls: tls,
                logger: logger,
                whenListening: whenListening
            )
            try await run(server, logger)
            return database.close()
        }
        #endif
        var storeOptions = Store.Options()
        // `godwit key` writes to the store beside the server.
        if keys ?? false { storeOptions.processes = .several }
        let opened = try Store(.file(store ?? "godwit-server.sqlite"), options: storeOptions)
        let server = SyncServer(
            store: opened,
            host: host,
            port: port ?? 7007,
            options: syncOptions,
            tls: tls,
            logger: logger,
            whenListening: whenListening
        )
        try await run(server, logger)
        try opened.close()
    }

    private func run(_ server: SyncServer, _ logger: Logger) async throws {
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [server],
                gracefulShutdownSignals: [.sigterm, .sigint],
                logger: logger
            )
        )
        try await group.run()
    }
}
