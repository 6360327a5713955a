#if PostgreSQL
import GodwitConnectors
import GodwitPostgreSQL
import GodwitReplication
import GodwitStore
import GodwitTestKit
import GodwitTree
import HTTPTypes
import Hummingbird
import Logging
import ServiceLifecycle
import Testing

@testable import GodwitServer

/// Servers that share a PostgreSQL database, over real HTTP on loopback.
@Suite(.timeLimit(.minutes(Soak.minutesMax))) struct PostgreSQLServerTests {
    @Test func `two devices meet over two servers, one of them by push`() async throws {
        let address = try await PostgreSQLAddress(PostgreSQLCluster.shared().database())
        let name = ReplicaName("shopping")
        try await serving(address) { ours in
            try await serving(address) { theirs in
                try await HTTPTransport(server: ours).create(name)
                let (phone, tablet) = (try Store(.memory), try Store(.memory))
                let lists = Store.Collection<[String]>("lists")
                let connectors = [
                    try ReplicaConnector(phone, transport: HTTPTransport(server: ours)),
                    try ReplicaConnector(tablet, transport: HTTPTransport(server: theirs)),
                ]
                for connector in connectors {
                    _ = try await connector.open(name, collections: ["lists"])
                }
                var arrivals = tablet.changes().makeAsyncIterator()
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for connector in connectors { group.addTask { try await connector.run() } }
                    try await phone.write { try $0.set(["bread"], for: "a", in: lists) }
                    while try await tablet.read({ try $0.get("a", in: lists) }) == nil {
                        _ = await arrivals.next()
                    }
                    group.cancelAll()
                    while await group.nextResult() != nil {}
                }
                let value = try await HTTPTransport(server: theirs).fetch("/value", of: name)
                #expect(value == ["lists": ["a": ["bread"]]])
            }
        }
    }

    @Test func `a key of one server is one of all, until it is revoked`() async throws {
        let address = try await PostgreSQLAddress(PostgreSQLCluster.shared().database())
        let database = PostgreSQLDatabase(address)
        try await database.migrate()
        let keys = try APIKeys(database)
        let rights = Rights([.create: ["shop*"]])
        let made = try await keys.create("phone", rights: rights, lifetime: .seconds(3_600))
        let name = ReplicaName("shopping")
        try await serving(address, .keys) { ours in
            try await serving(address, .keys) { theirs in
                let transport = try HTTPTransport(server: ours, token: made.token)
                try await transport.create(name)
                let other = try HTTPTransport(server: theirs, token: made.token)
                #expect(try await other.fetch("", of: name)["objects"] == 0)
                #expect(try await keys.all().keys.map(\.id) == [made.key.id])
                try await keys.revoke(made.key.id)
                await #expect(throws: (any Error).self) { try await other.fetch("", of: name) }
            }
        }
        await #expect(throws: AccessError.unknownKey(made.key.id)) {
            try await keys.revoke(made.key.id)
        }
    }

    @Test func `the id of a client belongs to the principal that uses it first, on all servers`()
        async throws
    {
        let database = PostgreSQLDatabase(
            try await PostgreSQLAddress(PostgreSQLCluster.shared().database())
        )
        try await database.migrate()
        let access = PostgreSQLAccess(database: database)
        let name = ReplicaName("shopping")
        let client = ClientID(Identifiers.random.next())
        #expect(try await access.principals(of: [client], in: name) == [nil])
        for _ in 0..<2 { try await access.bind(client, of: name, to: "a\0") }
        #expect(try await access.principals(of: [client], in: name) == ["a\0"])
        await #expect {
            try await access.bind(client, of: name, to: "b")
        } throws: { error in
            if case AccessRefusal.foreignClient(client) = error { true } else { false }
        }
    }

    @Test func `a database that cannot be asked at the moment is told with a time to ask again`() {
        let head = HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/v1/replicas/a")
        let request = Request(head: head, body: RequestBody(buffer: ByteBuffer()))
        func answer(_ error: PostgreSQLError) -> (Int, String?) {
            let response = Response(failing: error, at: request, Logger(label: "test"))
            return (response.status.code, response.headers[.retryAfter])
        }
        let passing: [PostgreSQLError] = [
            .busy(waitingMax: 9), .timedOut, .unknownOutcome, .unreachable(reason: "no"),
            .connectionLost(reason: "no"), .refused(sqlState: "40001", message: "no"),
        ]
        for error in passing { #expect(answer(error) == (503, "1"), "\(error)") }
        let lasting: [PostgreSQLError] = [.closed, .refused(sqlState: "22012", message: "no")]
        for error in lasting { #expect(answer(error) == (500, nil), "\(error)") }
    }

    /// Runs `body` with the address of a server.
    private func serving(
        _ address: PostgreSQLAddress,
        _ access: AccessControl = .open,
        _ body: (String) async throws -> Void
    ) async throws {
        let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
        let logger = Logger(label: "test")
        let database = PostgreSQLDatabase(address)
        let options = SyncOptions(access: access)
        let server = SyncServer(database: database, port: 0, options: options, logger: logger) {
            continuation.yield($0)
        }
        let services = ServiceGroup(services: [server], logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { continuation.finish() }
                try await services.run()
            }
            if let port = await ports.first(where: { _ in true }) {
                defer { group.cancelAll() }
                try await body("http://127.0.0.1:\(port)")
            }
        }
        database.close()
    }
}
#endif
