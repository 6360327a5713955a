import GodwitConnectors
import GodwitReplication
import GodwitStore
import GodwitTestKit
import GodwitTree
import Synchronization
import Testing

@testable import GodwitServer

/// The records of what principals have changed, and of what they were refused.
@Suite struct AuditLogTests {
    private let server: AccessServer
    private let audit = RecordedLog()

    init() throws { server = try AccessServer() }

    /// What is recorded while `body` runs, without the ids of requests.
    private func records(_ body: () async throws -> Void) async throws -> [[String]] {
        let count = audit.lines.count
        try await body()
        return audit.lines.dropFirst(count).map { line in
            #expect(line.contains("request"))
            return ["created", "changed", "refused", "key ann", "key bob", "shopping", "no token"]
                .filter { line.contains($0) }
        }
    }

    @Test func `who makes a replica is recorded, and who is refused, with the reason`()
        async throws
    {
        let ann = try await server.key("ann", [.create: "*"])
        let bob = try await server.key("bob", [.read: "shopping"])
        try await server.serving(audit: audit) {
            let made = try await records {
                _ = try await server.ask(.create, ann.token)
                // Reading is not recorded.
                _ = try await server.ask(.value, ann.token)
            }
            #expect(made == [["created", "key ann", "shopping"]])
            let refused = try await records { _ = try await server.ask(.create, bob.token) }
            #expect(refused == [["refused", "key bob", "shopping"]])
            let unknown = try await records { _ = try await server.ask(.value, nil) }
            #expect(unknown == [["refused", "shopping", "no token"]])
            #expect(audit.lines.contains { $0.contains("no right to create shopping") })
            for line in audit.lines { #expect(!line.contains(ann.token)) }
        }
    }

    @Test func `a wrong secret is recorded without the secret, and an open server's requests, too`()
        async throws
    {
        let ann = try await server.key("ann", [.create: "*"])
        let wrong = String(ann.token.dropLast(3)) + "AAA"
        try await server.serving(audit: audit) { _ = try await server.ask(.create, wrong) }
        let line = try #require(audit.lines.last)
        #expect(line.contains("the secret of the key \(ann.key.id) is wrong"))
        for secret in [ann.token, wrong, String(wrong.suffix(20))] {
            #expect(!line.contains(secret))
        }
        try await server.serving(.open, audit: audit) {
            let made = try await records { _ = try await server.ask(.create, nil) }
            #expect(made == [["created", "shopping"]])
            #expect(audit.lines.last?.contains("everyone") == true)
            // A message that nothing was done with is no change.
            let none = try await records { _ = try await server.ask(.exchange, nil, of: "none") }
            #expect(none == [])
        }
    }

    @Test func `requests of strangers fill no disk, and are counted`() {
        let time = Mutex(Duration.zero)
        let log = AuditLog(audit.logger, now: { time.withLock(\.self) })
        let stranger = AccessContext(logger: audit.logger)
        func note() { log.note(.refused, stranger, because: "no token") }
        for _ in 0..<1_000 { note() }
        #expect(audit.lines.count == 100)
        time.withLock { $0 = .milliseconds(100) }
        note()
        #expect(audit.lines.count == 101)
        #expect(audit.lines.last?.contains("\"omitted\": 900") == true)
        var known = stranger
        known.knownPrincipal = .everyone
        for _ in 0..<10 { log.note(.refused, known, because: "no right") }
        #expect(audit.lines.count == 111)
    }

    @Test func `who changes objects is recorded with the device, and who may not`() async throws {
        let ann = try await server.key("ann", [.create: "*"])
        let bob = try await server.key("bob", [.read: "*"])
        try await server.serving(audit: audit) {
            _ = try await server.ask(.create, ann.token)
            let changed = try await records { try await edit(ann.token) }
            #expect(changed == [["changed", "key ann", "shopping"]])
            #expect(audit.lines.last?.contains("client") == true)
            let refused = try await records {
                await #expect(throws: ConnectorError.self) { try await edit(bob.token) }
            }
            #expect(refused.first == ["refused", "key bob", "shopping"])
            #expect(audit.lines.last?.contains("no right to write shopping") == true)
        }
    }

    /// A device of its own changes an object.
    private func edit(_ token: String) async throws {
        let (store, lists) = (try Store(.memory), Store.Collection<String>("lists"))
        let transport = try HTTPTransport(server: server.url, token: token)
        let connector = try ReplicaConnector(store, transport: transport)
        _ = try await connector.open("shopping", collections: [lists.name])
        try await store.write { try $0.set("bread", for: "a", in: lists) }
        try await connector.synchronize("shopping")
    }

    @Test func `a principal makes as many replicas as it may, and no more`() async throws {
        let ann = try await server.key("ann", [.create: "ann.*"])
        let bob = try await server.key("bob", [.create: "bob.*"])
        var limits = ServerLimits()
        limits.replicaMax = 2
        try await server.serving(limits: limits, audit: audit) {
            for name in ["ann.1", "ann.2", "ann.1"] {
                #expect(try await server.ask(.create, ann.token, of: name).status == 200)
            }
            let third = try await server.ask(.create, ann.token, of: "ann.3")
            #expect(third.status == 403 && third.code == "tooManyReplicas")
            #expect(try await server.ask(.summary, ann.token, of: "ann.3").status == 404)
            #expect(try await server.ask(.create, bob.token, of: "bob.1").status == 200)
        }
    }
}
