import ArgumentParser
import GodwitServer
import GodwitStore
import Logging
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
            GET /health answers 200 while the store can be read and written to, else 503.
            With --database, any number of servers may share the replicas and keys of a
            PostgreSQL database; each brings its tables up to date when it starts. Put the
            password into PGPASSFILE: the list of processes shows arguments.

            EXAMPLES
              godwit serve
              godwit serve --port 7007 --store /var/lib/godwit/server.sqlite
              godwit serve --keys --allow-host sync.example.com
              godwit serve --host 0.0.0.0 --keys
              godwit serve --host 0.0.0.0 --keys --tls-certificate fullchain.pem \\
                --tls-key privkey.pem
              godwit serve --jwks jwks.json --issuer https://id.example.com
              godwit serve --database postgres://godwit@db.example.com/sync --keys
              curl -X PUT http://127.0.0.1:7007/v1/replicas/shopping
            """
    )

    @Option(help: "The port to listen on; 0 for a free one.") var port = 7007
    @Option(help: "The file to keep everything in.") var store = "godwit-server.sqlite"
    @OptionGroup var database: DatabaseArgument
    @Option(help: "The address to listen on.") var host = "127.0.0.1"
    @Flag(help: "Ask clients for an API key of the store.") var keys = false
    @OptionGroup var tokens: TokenRulesArguments
    @Option(help: "A PEM file with the server's certificate, and those below its root.")
    var tlsCertificate: String?
    @Option(help: "A PEM file with the certificate's private key.") var tlsKey: String?
    @Option(help: "A name under which clients reach the server; may be given several times.")
    var allowHost: [String] = []
    @Option(help: "After how many silent days states are no longer kept for a client; 0 for never.")
    var forgetAfter = 180
    @Flag(help: "Say more about each request.") var verbose = false

    func validate() throws {
        guard (0...65_535).contains(port) else {
            throw ValidationError("--port is a number from 0 to 65535.")
        }
        guard (0...36_500).contains(forgetAfter) else {
            throw ValidationError("--forget-after is a number of days, from 0 to 36500.")
        }
        guard (tlsCertificate == nil) == (tlsKey == nil) else {
            throw ValidationError("--tls-certificate and --tls-key need each other.")
        }
        guard access != .open || allowHost.isEmpty else {
            throw ValidationError(
                "--allow-host publishes the server: give it --keys, or --jwks and --issuer."
            )
        }
    }

    private var access: AccessControl {
        switch (keys, tokens.rules) {
        case (false, nil): .open
        case (true, nil): .keys
        case (false, let rules?): .tokens(rules)
        case (true, let rules?): .keysAndTokens(rules)
        }
    }

    private var tls: TLSFiles? {
        guard let tlsCertificate, let tlsKey else { return nil }
        return TLSFiles(certificates: tlsCertificate, privateKey: tlsKey)
    }

    func run() async throws {
        let logger = Terminal.logger(level: verbose ? .debug : .notice)
        // No file is made for a server that does not start.
        try access.check(listeningOn: host)
        try tls?.check()
        let (host, scheme) = (host, tls == nil ? "http" : "https")
        let whenListening: @Sendable (Int) async -> Void = { port in
            // A server runs without its output, too.
            try? Terminal.print("godwit is listening on \(scheme)://\(host):\(port)")
        }
        #if PostgreSQL
        if let database = try database.opened() {
            let server = SyncServer(
                database: database,
                host: host,
                port: port,
                access: access,
                tls: tls,
                allowedHosts: allowHost,
                clientSilenceMax: clientSilenceMax,
                logger: logger,
                whenListening: whenListening
            )
            try await run(server, logger)
            return database.close()
        }
        #endif
        try await serveStore(logger, whenListening)
    }

    private var clientSilenceMax: Duration? {
        forgetAfter == 0 ? nil : .seconds(forgetAfter * 24 * 3_600)
    }

    private func serveStore(
        _ logger: Logger,
        _ whenListening: @escaping @Sendable (Int) async -> Void
    ) async throws {
        var options = Store.Options()
        // `godwit key` writes to the store beside the server.
        if keys { options.processes = .several }
        let opened = try Store(.file(store), options: options)
        let server = SyncServer(
            store: opened,
            host: host,
            port: port,
            access: access,
            tls: tls,
            allowedHosts: allowHost,
            clientSilenceMax: clientSilenceMax,
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
