import ArgumentParser
import Foundation
import GodwitServer
import GodwitTree

/// What `godwit serve` can be told: by arguments, by the environment, and by a file, in this order.
struct ServeOptions: ParsableArguments {
    @Option(help: "The port to listen on; 0 for a free one. (default: 7007)") var port: Int?
    @Option(help: "The file to keep everything in. (default: godwit-server.sqlite)")
    var store: String?
    @OptionGroup var database: DatabaseArgument
    @Option(help: "The address to listen on. (default: 127.0.0.1)") var host: String?
    @Flag(inversion: .prefixedNo, help: "Ask clients for an API key of the store.")
    var keys: Bool?
    @OptionGroup var tokens: TokenRulesArguments
    @Option(help: "A PEM file with the server's certificate, and those below its root.")
    var tlsCertificate: String?
    @Option(help: "A PEM file with the certificate's private key.") var tlsKey: String?
    @Option(help: "A name under which clients reach the server; may be given several times.")
    var allowHost: [String] = []
    @Option(
        help: """
            Where web pages that may use the server are from, such as https://app.example.com; may be \
            given several times. (default: the server itself)
            """
    )
    var allowOrigin: [String] = []
    @Option(
        help: """
            After how many silent days states are no longer kept for a client; 0 for never. \
            (default: 180)
            """
    )
    var forgetAfter: Int?
    @Option(help: "How many requests a second one key or user may make. (default: any number)")
    var rate: Double?
    @Option(help: "How many requests it may make at once after a pause. (default: 100)")
    var burst: Int?
    @Option(help: "How many devices one key or user may have in a replica. (default: 10000)")
    var maxClients: Int?
    @Option(
        help: "How many replicas there may be that one key or user may make. (default: any number)"
    )
    var maxReplicas: Int?
    @Option(help: "How many bytes the objects of a replica may have. (default: any number)")
    var maxReplicaBytes: Int64?
    @Option(help: "A file to which records of changes and refusals are added, as lines of JSON.")
    var auditLog: String?
    @Option(help: "How the log is written to standard error: text or json. (default: text)")
    var logFormat: LogFormat?
    @Flag(inversion: .prefixedNo, help: "Say more about each request.") var verbose: Bool?
    @Flag(inversion: .prefixedNo, help: "Serve a shopping list at /demo, for browsers.")
    var demo: Bool?

    enum LogFormat: String, ExpressibleByArgument, CaseIterable { case text, json }
}

extension ServeOptions {
    /// These options, and for what they leave open those of `base`.
    func over(_ base: ServeOptions) -> ServeOptions {
        var result = self
        result.port = port ?? base.port
        result.store = store ?? base.store
        result.database.address = database.address ?? base.database.address
        result.host = host ?? base.host
        result.keys = keys ?? base.keys
        result.tokens.jwks = tokens.jwks ?? base.tokens.jwks
        result.tokens.issuer = tokens.issuer ?? base.tokens.issuer
        result.tokens.audience = tokens.audience ?? base.tokens.audience
        result.tlsCertificate = tlsCertificate ?? base.tlsCertificate
        result.tlsKey = tlsKey ?? base.tlsKey
        result.allowHost = allowHost.isEmpty ? base.allowHost : allowHost
        result.allowOrigin = allowOrigin.isEmpty ? base.allowOrigin : allowOrigin
        result.forgetAfter = forgetAfter ?? base.forgetAfter
        result.rate = rate ?? base.rate
        result.burst = burst ?? base.burst
        result.maxClients = maxClients ?? base.maxClients
        result.maxReplicas = maxReplicas ?? base.maxReplicas
        result.maxReplicaBytes = maxReplicaBytes ?? base.maxReplicaBytes
        result.auditLog = auditLog ?? base.auditLog
        result.logFormat = logFormat ?? base.logFormat
        result.verbose = verbose ?? base.verbose
        result.demo = demo ?? base.demo
        return result
    }

    /// Refuses what no server can be.
    func check() throws {
        try tokens.check()
        guard (0...65_535).contains(port ?? 0) else {
            throw ValidationError("--port is a number from 0 to 65535.")
        }
        guard (0...36_500).contains(forgetAfter ?? 0) else {
            throw ValidationError("--forget-after is a number of days, from 0 to 36500.")
        }
        guard (0.001...1_000_000).contains(rate ?? 1), (1...1_000_000).contains(burst ?? 1) else {
            throw ValidationError("--rate and --burst are numbers from 0.001 and 1 to 1000000.")
        }
        guard rate != nil || burst == nil else {
            throw ValidationError("--burst needs --rate.")
        }
        guard (1...10_000_000).contains(maxClients ?? 1) else {
            throw ValidationError("--max-clients is a number from 1 to 10000000.")
        }
        guard (0...10_000_000).contains(maxReplicas ?? 0) else {
            throw ValidationError("--max-replicas is a number from 0 to 10000000.")
        }
        guard maxReplicaBytes ?? 0 >= 0 else {
            throw ValidationError("--max-replica-bytes is a number from 0 on.")
        }
        guard (tlsCertificate == nil) == (tlsKey == nil) else {
            throw ValidationError("--tls-certificate and --tls-key need each other.")
        }
        guard access == .open || !(demo ?? false) else {
            throw ValidationError(
                "--demo serves a list that everybody may edit: leave --keys and --jwks out."
            )
        }
        guard access != .open || allowHost.isEmpty else {
            throw ValidationError(
                "--allow-host publishes the server: give it --keys, or --jwks and --issuer."
            )
        }
    }

    var access: AccessControl {
        switch (keys ?? false, tokens.rules) {
        case (false, nil): .open
        case (true, nil): .keys
        case (false, let rules?): .tokens(rules)
        case (true, let rules?): .keysAndTokens(rules)
        }
    }

    var tls: TLSFiles? {
        guard let tlsCertificate, let tlsKey else { return nil }
        return TLSFiles(certificates: tlsCertificate, privateKey: tlsKey)
    }

    var limits: ServerLimits {
        var limits = ServerLimits()
        limits.requestRate = rate
        limits.requestBurst = burst ?? limits.requestBurst
        limits.clientMax = maxClients ?? limits.clientMax
        limits.replicaMax = maxReplicas
        limits.replicaSizeMax = maxReplicaBytes
        return limits
    }

    /// What the server is told of these.
    ///
    /// - Throws: `ValidationError` where the file of audit records cannot be written.
    func syncOptions(_ metrics: PrometheusMetrics) throws -> SyncOptions {
        var options = SyncOptions(access: access)
        (options.allowedHosts, options.allowedOrigins) = (allowHost, allowOrigin)
        (options.clientSilenceMax, options.limits) = (clientSilenceMax, limits)
        (options.metrics, options.hasDemo) = (metrics, demo ?? false)
        options.auditLogger = try auditLog.map { try AuditFile($0).logger }
        return options
    }

    var clientSilenceMax: Duration? {
        let days = forgetAfter ?? 180
        return days == 0 ? nil : .seconds(days * 24 * 3_600)
    }
}

// MARK: - From a file and the environment

extension ServeOptions {
    /// The names of the options, as the arguments have them without `--`.
    static let names = [
        "port", "store", "database", "host", "keys", "jwks", "issuer", "audience",
        "tls-certificate", "tls-key", "allow-host", "allow-origin", "forget-after", "rate", "burst",
        "max-clients", "max-replicas", "max-replica-bytes", "audit-log", "log-format", "verbose",
        "demo",
    ]

    private static let flags: Set = ["keys", "verbose", "demo"]
    /// Options that may have several texts.
    private static let lists: Set = ["allow-host", "allow-origin"]

    /// Reads the options of a JSON file: a map of their names, such as `{"port": 7007, "keys": true}`.
    init(file path: String) throws {
        let bytes: [UInt8]
        do {
            bytes = Array(try Data(contentsOf: URL(filePath: path)))
        } catch {
            throw ValidationError("--config: \(path) cannot be read: \(error.localizedDescription)")
        }
        let value: Value
        do {
            value = try Value(json: bytes)
        } catch {
            throw ValidationError("--config: \(path) is no JSON: \(error)")
        }
        guard let map = value.map else {
            throw ValidationError("--config: \(path) has no map of options.")
        }
        try self.init(map.map { ($0.key.text, $0.value) }, of: path)
    }

    /// Reads the options of an environment: `GODWIT_PORT=7007`, `GODWIT_ALLOW_HOST=a.example,b.example`.
    init(environment: [String: String]) throws {
        let found: [(String, Value)] = Self.names.compactMap { name in
            let variable = "GODWIT_" + name.uppercased().replacing("-", with: "_")
            // A variable that is set to nothing is not set.
            guard let text = environment[variable], !text.isEmpty else { return nil }
            switch (name, text) {
            case (_, "true") where Self.flags.contains(name): return (name, true)
            case (_, "false") where Self.flags.contains(name): return (name, false)
            case _ where Self.lists.contains(name):
                let texts = text.split(separator: ",").map { Value.string(Key(String($0))) }
                return (name, .list(Value.List(texts)))
            default: return (name, .string(Key(text)))
            }
        }
        try self.init(found, of: "the environment")
    }

    /// - Parameter source: Where the options are from, for errors.
    private init(_ options: [(String, Value)], of source: String) throws {
        var arguments: [String] = []
        for (name, value) in options {
            guard Self.names.contains(name) else {
                throw ValidationError("\(source) has the unknown option \"\(name)\".")
            }
            switch (name, value) {
            case (_, .bool(let isSet)) where Self.flags.contains(name):
                arguments.append(isSet ? "--\(name)" : "--no-\(name)")
            case _ where Self.flags.contains(name):
                throw ValidationError("\(source): \"\(name)\" is true or false.")
            case (_, .list(let list)) where Self.lists.contains(name):
                let texts = list.compactMap(\.text)
                guard !texts.isEmpty, texts.count == list.count else {
                    throw ValidationError("\(source): \"\(name)\" is a list of texts.")
                }
                arguments += texts.map { "--\(name)=\($0)" }
            case (_, .string(let text)): arguments.append("--\(name)=\(text.text)")
            case (_, .int), (_, .double): arguments.append("--\(name)=\(value.jsonText())")
            default: throw ValidationError("\(source): \"\(name)\" is a text or a number.")
            }
        }
        do {
            self = try Self.parse(arguments)
        } catch {
            throw ValidationError("\(source): \(Self.message(for: error))")
        }
    }
}
