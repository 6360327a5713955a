import Foundation
import GodwitReplication
import GodwitStore
import GodwitTestKit
import GodwitTree
import HTTPTypes
import Logging
import ServiceLifecycle
import Synchronization
import Testing

@testable import GodwitServer

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A server with access control over real HTTP on loopback, and all that it logs.
final class AccessServer: Sendable {
    let store: Store
    let keys: APIKeys
    let folder: TemporaryFolder
    let log = RecordedLog()
    let clock = Calendar()
    private let address = Mutex("")

    /// - Parameter path: The file of the store; nil for a new one.
    init(at path: String? = nil) throws {
        folder = try TemporaryFolder()
        var options = Store.Options()
        options.processes = .several
        options.clock = StoreClock(elapsed: { .zero }, now: { [clock] in clock.now })
        store = try Store(.file(path ?? folder.path("server.sqlite")), options: options)
        keys = try APIKeys(store)
    }

    deinit { try? store.close() }

    var url: String { address.withLock(\.self) }

    func write(_ value: Value, to name: String) throws {
        try Data(value.jsonText().utf8).write(to: URL(filePath: folder.path(name)))
    }

    /// A key with rights, and the principal's token.
    func key(_ name: String, _ rights: [Permission: String]) async throws -> NewAPIKey {
        let patterns = try rights.mapValues { [try ReplicaPattern($0)] }
        return try await keys.create(name, rights: Rights(patterns))
    }

    /// Runs `body` while the server runs.
    func serving(
        _ access: AccessControl = .keys,
        heartbeat: Duration = .seconds(20),
        silenceMax: Duration = .seconds(120),
        tls: TLSFiles? = nil,
        limits: ServerLimits = ServerLimits(),
        drainMax: Duration = .seconds(20),
        hasDemo: Bool = false,
        origins: [String] = [],
        hosts: [String] = [],
        audit: RecordedLog? = nil,
        isTraced: Bool = false,
        _ body: () async throws -> Void
    ) async throws {
        let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
        let logger = log.logger
        var options = SyncOptions(access: access)
        (options.limits, options.metrics) = (limits, PrometheusMetrics())
        (options.heartbeat, options.hasDemo) = (heartbeat, hasDemo)
        (options.allowedOrigins, options.auditLogger) = (origins, audit?.logger)
        (options.isTraced, options.allowedHosts) = (isTraced, hosts)
        var server = SyncServer(store: store, port: 0, options: options, tls: tls, logger: logger) {
            continuation.yield($0)
        }
        (server.silenceMax, server.drainMax) = (silenceMax, drainMax)
        let services = ServiceGroup(services: [server], logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { continuation.finish() }
                try await services.run()
            }
            if let port = await ports.first(where: { _ in true }) {
                address.withLock { $0 = "\(tls == nil ? "http" : "https")://127.0.0.1:\(port)" }
                let outcome = await Self.outcome(body)
                await services.triggerGracefulShutdown()
                try outcome.get()
            }
            try await group.waitForAll()
        }
    }

    private static func outcome(
        _ body: () async throws -> Void
    ) async -> Result<Void, any Error> {
        do { return .success(try await body()) } catch { return .failure(error) }
    }
}

// MARK: - Requests

/// What a server has answered.
struct Answer: Equatable {
    let status: Int
    let body: Value
    let challenge: String?

    var code: String? { body["error"]?.text }
}

extension AccessServer {
    /// A client with a key that announces a message of an exchange and sends none of it.
    ///
    /// The server has read the request's head when this returns: it has noted that the key was used.
    func silentClient(_ key: NewAPIKey, announcing count: Int) async throws -> SilentClient {
        let client = try SilentClient(
            port: try #require(URL(string: url)?.port),
            beginning: """
                POST /v1/replicas/shopping/exchange HTTP/1.1\r
                host: localhost\r
                authorization: Bearer \(key.token)\r
                godwit-client: \(String(repeating: "0", count: 32))\r
                content-length: \(count)\r
                \r

                """
        )
        for await _ in store.changes() {
            if try await keys.all().keys.first(where: { $0.id == key.key.id })?.lastUsed != nil {
                break
            }
        }
        return client
    }

    /// Makes a request, with a message of an exchange where the route takes one.
    func ask(
        _ route: ServerRoute,
        _ token: String?,
        of replica: String = "shopping",
        at path: String? = nil,
        client: String = String(repeating: "0", count: 32),
        message: [UInt8] = [],
        headers: [String: String] = [:]
    ) async throws -> Answer {
        let path = path ?? route.path.replacing("{name}", with: replica)
        var request = URLRequest(url: try #require(URL(string: url + path)))
        request.httpMethod = route.method.rawValue
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "authorization") }
        if route == .exchange {
            request.setValue(client, forHTTPHeaderField: "godwit-client")
            request.httpBody = Data(message)
        }
        let (data, response) = try await URLSession.shared.data(for: request)
        let http = try #require(response as? HTTPURLResponse)
        return Answer(
            status: http.statusCode,
            body: (try? Value(json: Array(data))) ?? .null,
            challenge: http.value(forHTTPHeaderField: "www-authenticate")
        )
    }
}

// MARK: - Time and log

/// The time that a server sees, moved by hand.
final class Calendar: Sendable {
    private let date = Mutex(Date(timeIntervalSince1970: 1_800_000_000))

    var now: Date { date.withLock(\.self) }

    func set(to new: Date) { date.withLock { $0 = new } }
    func advance(bySeconds seconds: Double) { date.withLock { $0 += seconds } }
}

/// Keeps every line that is logged, with its metadata.
final class RecordedLog: Sendable {
    private let recorded = Mutex<[String]>([])

    var lines: [String] { recorded.withLock(\.self) }

    var logger: Logger {
        var logger = Logger(label: "test") { _ in Recorder(log: self) }
        logger.logLevel = .trace
        return logger
    }

    private struct Recorder: LogHandler {
        let log: RecordedLog
        var logLevel = Logger.Level.trace
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let metadata = metadata.merging(event.metadata ?? [:]) { $1 }
            log.recorded.withLock { $0.append("\(event.level) \(event.message) \(metadata)") }
        }
    }
}
