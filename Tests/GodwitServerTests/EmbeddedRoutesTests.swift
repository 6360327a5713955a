import Foundation
import GodwitConnectors
import GodwitReplication
import GodwitStore
import GodwitTestKit
import GodwitTree
import Hummingbird
import Logging
import ServiceLifecycle
import Testing

@testable import GodwitServer

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The routes of a sync server in an app's own HTTP server.
@Suite(.timeLimit(.minutes(Soak.minutesMax))) struct EmbeddedRoutesTests {
    private let server: AccessServer
    private let name: ReplicaName

    init() throws {
        server = try AccessServer()
        name = ReplicaName("shopping")
    }

    /// Runs an app that has a page of its own, and the routes behind a path.
    private func serving(
        at path: String,
        inGroup group: String? = nil,
        _ body: (String) async throws -> Void
    ) async throws {
        let logger = server.log.logger
        var options = SyncOptions(access: .keys)
        options.allowedOrigins = ["https://app.example.com"]
        let sync = try await SyncRoutes(
            store: server.store,
            host: "127.0.0.1",
            options: options,
            logger: logger
        )
        let router = Router()
        router.get("/") { _, _ in "the app" }
        if let group {
            sync.add(to: router.group(RouterPath(group)), at: path)
        } else {
            sync.add(to: router, at: path)
        }
        let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
        let app = Application(
            router: router,
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { continuation.yield($0.localAddress?.port ?? 0) },
            logger: logger
        )
        let services = ServiceGroup(services: [sync, app], logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { continuation.finish() }
                try await services.run()
            }
            if let port = await ports.first(where: { _ in true }) {
                let outcome = await Self.outcome { try await body("http://127.0.0.1:\(port)") }
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

    @Test(arguments: ["", "/sync", "data/sync/"])
    func `devices meet under a path of the app, and are told at once`(path: String) async throws {
        let key = try await server.key("phones", [.create: "*"])
        try await serving(at: path) { url in
            let address = ([url] + path.split(separator: "/").map(String.init))
                .joined(separator: "/")
            let transport = try HTTPTransport(server: address, token: key.token)
            try await transport.create(name)
            let (phone, tablet) = (try await store(transport), try await store(transport))
            try await phone.store.write { try $0.set("bread", for: "a", in: lists) }
            try await phone.connector.synchronize(name)
            try await tablet.connector.synchronize(name)
            #expect(try await tablet.store.read { try $0.get("a", in: lists) } == "bread")
            var heads = transport.heads(of: name).makeAsyncIterator()
            #expect(try await heads.next()?.serial == 1)
            try await tablet.store.write { try $0.set("cheese", for: "b", in: lists) }
            try await tablet.connector.synchronize(name)
            #expect(try await heads.next()?.serial == 2)
        }
    }

    @Test func `a group of the app's router and a page of another site find the routes, too`()
        async throws
    {
        let key = try await server.key("phones", [.create: "*"])
        try await serving(at: "/sync", inGroup: "/api") { url in
            let transport = try HTTPTransport(server: "\(url)/api/sync", token: key.token)
            try await transport.create(name)
            let list = try await status(of: "\(url)/api/sync/v1/replicas?limit=1", key.token)
            #expect(list == 200)
            let address = try #require(URL(string: "\(url)/api/sync/v1/replicas/shopping"))
            var request = URLRequest(url: address)
            request.httpMethod = "OPTIONS"
            request.setValue("https://app.example.com", forHTTPHeaderField: "origin")
            request.setValue("PUT", forHTTPHeaderField: "access-control-request-method")
            let (_, response) = try await URLSession.shared.data(for: request)
            #expect((response as? HTTPURLResponse)?.statusCode == 204)
        }
    }

    @Test func `the app keeps its own pages, and the routes their access control`() async throws {
        let reader = try await server.key("reader", [.read: "*"])
        try await serving(at: "/sync") { url in
            let expected: [(String, String?, Int)] = [
                ("/", nil, 200), ("/sync/v1/replicas", nil, 401),
                ("/sync/v1/replicas", reader.token, 200),
                ("/sync/v1/replicas/none", reader.token, 404),
                ("/v1/replicas", reader.token, 404), ("/sync/metrics", reader.token, 404),
                ("/sync/dashboard", reader.token, 404), ("/sync/health", reader.token, 404),
            ]
            for (path, token, code) in expected {
                let found = try await status(of: url + path, token)
                #expect(found == code, "\(path)")
            }
            await #expect(throws: ConnectorError.self) {
                try await HTTPTransport(server: "\(url)/sync", token: reader.token).create(name)
            }
        }
    }

    @Test func `an app that listens for other machines must have access control`() async throws {
        let error = AccessError.openBeyondLoopback(address: "0.0.0.0")
        await #expect(throws: error) {
            try await SyncRoutes(store: server.store, host: "0.0.0.0")
        }
    }

    private func status(of address: String, _ token: String? = nil) async throws -> Int {
        var request = URLRequest(url: try #require(URL(string: address)))
        if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "authorization") }
        let (_, response) = try await URLSession.shared.data(for: request)
        return try #require(response as? HTTPURLResponse).statusCode
    }

    private let lists = Store.Collection<String>("lists")

    private func store(
        _ transport: HTTPTransport
    ) async throws -> (store: Store, connector: ReplicaConnector) {
        let store = try Store(.memory)
        let connector = try ReplicaConnector(store, transport: transport)
        _ = try await connector.open(name, collections: [lists.name])
        return (store, connector)
    }
}
