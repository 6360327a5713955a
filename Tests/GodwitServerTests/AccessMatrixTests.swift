import GodwitConnectors
import GodwitReplication
import GodwitStore
import GodwitTestKit
import GodwitTree
import Hummingbird
import Testing

@testable import GodwitServer

/// Every route, for principals that may use it and for those that may not.
@Suite struct AccessMatrixTests {
    private let server: AccessServer

    init() throws { server = try AccessServer() }

    @Test func `the router has the routes of the list, and no others`() async throws {
        let listed = ServerRoute.allCases.map { "\($0.method) \($0.path)" }
        #expect(try await routes().router.routes.map(\.description).sorted() == listed.sorted())
        #expect(Set(listed).count == ServerRoute.allCases.count)
        let open: [ServerRoute] = [
            .live, .ready, .health, .dashboard, .dashboardStyle, .dashboardScript, .demo,
            .demoStyle, .demoScript, .demoWorker, .demoClient, .openAPI,
        ]
        #expect(ServerRoute.allCases.filter { $0.need == .nothing } == open)
    }

    @Test func `a route that is added without an access rule is not answered`() async throws {
        let key = try await server.key("root", [.administer: "*"])
        let router = try await routes().router
        router.get("/v1/replicas/{name}/secret") { _, _ in "a secret" }
        router.delete("/v1/replicas/{name}") { _, _ in "a secret" }
        try await serving(router) { url in
            let transport = try HTTPTransport(server: url, token: key.token)
            await expect(404, "notFound") {
                _ = try await transport.fetch("/secret", of: ReplicaName("shopping"))
            }
        }
    }

    @Test func `a store of keys that fails for a while ends no stream of events`() async throws {
        let key = try await server.key("root", [.create: "*"])
        let access = FailingAccess(of: server.store)
        let name = ReplicaName("shopping")
        try await serving(try await routes(access, heartbeat: .milliseconds(5)).router) { url in
            let transport = try HTTPTransport(server: url, token: key.token)
            try await transport.create(name)
            var heads = transport.heads(of: name).makeAsyncIterator()
            #expect(try await heads.next() == .root)
            access.fail(times: 1)
            for await _ in access.failures { break }
            let device = try ReplicaConnector(Store(.memory), transport: transport)
            _ = try await device.open(name, collections: ["lists"])
            let lists = Store.Collection<Int>("lists")
            try await device.store.write { try $0.set(1, for: "a", in: lists) }
            try await device.synchronize(name)
            #expect(try await heads.next()?.serial == 1)
        }
    }

    /// Runs `body` with the address at which a router answers.
    private func serving(
        _ router: Router<AccessContext>,
        _ body: (String) async throws -> Void
    ) async throws {
        let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
        let application = Application(
            router: router,
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { continuation.yield($0.localAddress?.port ?? 0) },
            logger: server.log.logger
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await application.run() }
            let port = await ports.first { _ in true } ?? 0
            try await body("http://127.0.0.1:\(port)")
            group.cancelAll()
        }
    }

    @Test(arguments: Permission.allCases)
    func `a principal gets the same answers for a stranger's replica as for none`(
        _ granted: Permission
    ) async throws {
        let ann = try await server.key("ann", [.administer: "ann.*"])
        let bob = try await server.key("bob", [granted: "bob.*"])
        try await server.serving {
            for name in ["ann.list", "ann.bob.x"] {
                #expect(try await server.ask(.create, ann.token, of: name).status == 200)
            }
            for route in ServerRoute.allCases where route.isAboutReplica {
                for name in ["ann.list", "ann.bob.x", "ann.missing", "bo", "Bob.list"] {
                    let answer = try await server.ask(route, bob.token, of: name)
                    #expect(answer == missing(name), "\(route) \(name)")
                }
            }
            // What is there, and what is not, is told to those alone who may read it.
            #expect(try await server.ask(.summary, ann.token, of: "ann.list").status == 200)
            let answer = try await server.ask(.summary, ann.token, of: "ann.missing")
            #expect(answer == missing("ann.missing"))
        }
    }

    @Test(arguments: Permission.allCases)
    func `a route asks for its right, and for no more`(_ granted: Permission) async throws {
        let root = try await server.key("root", [.create: "*"])
        let ann = try await server.key("ann", [granted: "ann.list"])
        try await server.serving(hasDemo: true) {
            #expect(try await server.ask(.create, root.token, of: "ann.list").status == 200)
            for route in ServerRoute.allCases {
                let isAllowed =
                    switch route.need {
                    case .nothing, .token: true
                    case .replica(let permission): granted >= permission
                    // A right to some replicas is none to the server.
                    case .server: false
                    }
                let code = try await code(of: route, "ann.list", ann.token)
                // An exchange without a message is let in, and refused as such.
                let expected = route == .exchange ? "damagedMessage" : nil
                #expect(code == (isAllowed ? expected : "notPermitted"), "\(route)")
            }
        }
    }

    @Test func `the OpenAPI description has each route, and no other one`() async throws {
        try await server.serving {
            let description = try await server.ask(.openAPI, nil).body
            let paths = try #require(description["paths"]?.map)
            var described: [String] = []
            for (path, methods) in paths.map({ ($0.key.text, $0.value) }) {
                for method in try #require(methods.map) {
                    described.append("\(method.key.text.uppercased()) \(path)")
                    let needsNothing = method.value["security"] == []
                    let route = ServerRoute.allCases.first {
                        $0.path == path && $0.method.rawValue == method.key.text.uppercased()
                    }
                    #expect(needsNothing == (route?.need == .nothing), "\(path)")
                }
            }
            let listed = ServerRoute.allCases.map { "\($0.method) \($0.path)" }
            #expect(described.sorted() == listed.sorted())
        }
    }

    @Test func `only health and the files of pages are there without a token`() async throws {
        try await server.serving(hasDemo: true) {
            for route in ServerRoute.allCases {
                for token in [nil, "godwit_0123456789abcdef_x", "a.b.c"] {
                    let answer = try await server.ask(route, token, of: "shopping")
                    let isOpen = route.need == .nothing
                    #expect(answer.status == (isOpen ? 200 : 401), "\(route)")
                    #expect(isOpen || answer.challenge?.hasPrefix("Bearer") == true)
                }
            }
        }
    }

    @Test func `a principal is told of the replicas alone that it may read`() async throws {
        let root = try await server.key("root", [.administer: "*"])
        let ann = try await server.key("ann", [.read: "ann.*"])
        try await server.serving {
            for name in ["ann.a", "ann.b", "ann.c", "bob.a"] {
                _ = try await server.ask(.create, root.token, of: name)
            }
            func names(_ token: String, _ query: String) async throws -> [String] {
                var (names, next) = ([String](), "")
                repeat {
                    let path = "/v1/replicas?\(query)&after=\(next)"
                    let answer = try await server.ask(.replicas, token, at: path).body
                    names += answer["replicas"]?.list?.map { $0["name"]?.text ?? "" } ?? []
                    next = answer["next"]?.text ?? ""
                } while next != ""
                return names
            }
            for query in ["limit=1", "limit=2", "limit=3", "limit=x", "limit=-1"] {
                #expect(try await names(ann.token, query) == ["ann.a", "ann.b", "ann.c"])
            }
            #expect(try await names(root.token, "limit=1000").count == 4)
            #expect(try await server.ask(.metrics, root.token).status == 200)
        }
    }

    @Test func `without access control every route answers every client`() async throws {
        try await server.serving(.open, hasDemo: true) {
            #expect(try await server.ask(.create, nil, of: "shopping").status == 200)
            for route in ServerRoute.allCases {
                let code = try await code(of: route, "shopping", nil)
                #expect(code == (route == .exchange ? "damagedMessage" : nil), "\(route)")
            }
        }
    }

    // MARK: Asking

    private func missing(_ name: String) -> Answer {
        let message = "there is no replica \"\(name)\""
        let body: Value = ["error": "unknownReplica", "message": .string(Key(message))]
        return Answer(status: 404, body: body, challenge: nil)
    }

    /// With which word a route refuses; nil when it answers.
    private func code(
        of route: ServerRoute,
        _ name: String,
        _ token: String?
    ) async throws -> String? {
        guard route == .events else { return try await server.ask(route, token, of: name).code }
        let transport = try HTTPTransport(server: server.url, token: token)
        do {
            for try await _ in transport.heads(of: try ReplicaName(name)) { return nil }
            return "an end"
        } catch ConnectorError.refused(_, let code, _) {
            return code
        }
    }

    private func expect(
        _ status: Int,
        _ code: String,
        _ body: () async throws -> Void
    ) async {
        do {
            try await body()
            Issue.record("\(code) was expected")
        } catch ConnectorError.refused(let found, let word, _) {
            #expect(found == status && word == code)
        } catch {
            Issue.record("\(code) was expected, not \(error)")
        }
    }

    private func routes(
        _ access: (any AccessStorage)? = nil,
        heartbeat: Duration = .seconds(20)
    ) async throws -> ReplicaRoutes {
        ReplicaRoutes(
            server: try await ReplicaServer(server.store),
            health: HealthCheck {},
            hosts: HostCheck(address: "127.0.0.1", names: []),
            origins: try OriginCheck([], hosts: []),
            gate: try await Gate(
                access ?? StoreAccess(store: server.store),
                .keys,
                logger: server.log.logger
            ),
            limiter: Limiter(ServerLimits()),
            metrics: ServerMetrics(PrometheusMetrics()),
            published: nil,
            hasDemo: false,
            heartbeat: heartbeat
        )
    }
}

extension ServerRoute {
    fileprivate var isAboutReplica: Bool { if case .replica = need { true } else { false } }
}
