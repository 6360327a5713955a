import Foundation
import GodwitConnectors
import GodwitReplication
import GodwitStore
import GodwitTestKit
import GodwitTree
import Logging
import ServiceLifecycle
import Testing

@testable import GodwitServer

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The server over real HTTP on loopback.
@Suite struct SyncServerTests {
    let folder: TemporaryFolder
    let name: ReplicaName
    let client: ClientID

    init() throws {
        folder = try TemporaryFolder()
        name = ReplicaName("shopping")
        client = ClientID(Identifiers.random.next())
    }

    @Test func `two devices meet over HTTP, one of them by push`() async throws {
        try await serving { server in
            let transport = try HTTPTransport(server: server)
            try await transport.create(name)
            let (phone, tablet) = (try Store(.memory), try Store(.memory))
            let lists = Store.Collection<[String]>("lists")
            let sender = try ReplicaConnector(phone, transport: transport)
            let follower = try ReplicaConnector(tablet, transport: transport)
            for connector in [sender, follower] {
                _ = try await connector.open(name, collections: ["lists"])
            }
            var arrivals = tablet.changes().makeAsyncIterator()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await sender.run() }
                group.addTask { try await follower.run() }
                try await phone.write { try $0.set(["bread"], for: "a", in: lists) }
                while try await tablet.read({ try $0.get("a", in: lists) }) == nil {
                    _ = await arrivals.next()
                }
                group.cancelAll()
                while await group.nextResult() != nil {}
            }
            let value = try await transport.fetch("/value", of: name)
            #expect(value == ["lists": ["a": ["bread"]]])
            let summary = try await transport.fetch("", of: name)
            #expect(summary["clients"] == 2)
        }
    }

    @Test func `a device with many replicas still pushes`() async throws {
        try await serving { server in
            let transport = try HTTPTransport(server: server)
            let phone = try Store(.memory)
            let connector = try ReplicaConnector(phone, transport: transport)
            let names = try (0..<12).map { try ReplicaName("r\($0)") }
            for (number, name) in names.enumerated() {
                try await transport.create(name)
                _ = try await connector.open(name, collections: [Key("c\(number)")])
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await connector.run() }
                for name in names {
                    try await connector.statuses(of: name).reaches { $0.isConnected }
                }
                let commit = try await phone.write { transaction in
                    for number in names.indices {
                        let collection = Store.Collection<Int>(Key("c\(number)"))
                        try transaction.set(number, for: "n", in: collection)
                    }
                    return transaction.commit
                }
                try await connector.pushed(through: commit)
                group.cancelAll()
                while await group.nextResult() != nil {}
            }
            for (number, name) in names.enumerated() {
                let value = try await transport.fetch("/value", of: name)
                #expect(value == [Key("c\(number)"): ["n": .int(Int64(number))]])
            }
        }
    }

    @Test func `what the server cannot take is refused with a code, and changes nothing`()
        async throws
    {
        try await serving { server in
            let transport = try HTTPTransport(server: server)
            let unknown = ReplicaName("unknown")
            await expectRefusal(404, "unknownReplica") {
                _ = try await transport.fetch("", of: unknown)
            }
            await expectRefusal(404, "unknownReplica") {
                for try await _ in transport.heads(of: unknown) {}
            }
            try await transport.create(name)
            let refusals: [(Int, String, [UInt8])] = [
                (400, "damagedMessage", []),
                (400, "damagedMessage", [UInt8](repeating: 0x81, count: 100_000)),
                (400, "malformedMessage", sealed([3, 0])),
                (400, "malformedMessage", sealed([3, 63])),
                (400, "malformedMessage", sealed([3, 6, 1, 0xff, 0xff, 0xff, 0xff])),
                (400, "upgradeClient", sealed([2, 0])),
                (400, "upgradeServer", sealed([9, 0])),
                (400, "malformedMessage", sealed([3, 0x40] + bomb)),
            ]
            for (status, code, body) in refusals {
                await expectRefusal(status, code) {
                    _ = try await transport.exchange(body, replica: name, client: client)
                }
            }
            let summary = try await transport.fetch("", of: name)
            #expect(summary["head"]?.text == LineState.root.id.description)
            #expect(summary["states"] == 0)
        }
    }

    @Test func `a server that starts again has everything it had answered for`() async throws {
        let lists = Store.Collection<Int>("lists")
        for round in 1...3 {
            let phone = try Store(.file(folder.path("phone.sqlite")))
            try await serving { server in
                let transport = try HTTPTransport(server: server)
                try await transport.create(name)
                let connector = try ReplicaConnector(phone, transport: transport)
                _ = try await connector.open(name, collections: ["lists"])
                try await phone.write { try $0.set(round, for: "n", in: lists) }
                try await connector.synchronize(name)
                let value = try await transport.fetch("/value", of: name)
                #expect(value == ["lists": ["n": .int(Int64(round))]])
            }
            try phone.close()
        }
    }

    @Test func `on loopback, a page of another host is not let in`() async throws {
        try await serving(["sync.example.com"]) { server in
            func create(_ host: String) async throws {
                try await HTTPTransport(server: server, headers: ["host": host]).create(name)
            }
            for host in ["localhost", "LOCALHOST:80", "127.0.0.1:7007", "[::1]:7007"] {
                try await create(host)
            }
            try await create("sync.example.com")
            for host in ["evil.example", "localhost.evil.example", "evil.example:7007"] {
                await expectRefusal(421, "wrongHost") { try await create(host) }
            }
        }
    }

    @Test func `the names of a server on any other address are its own affair`() {
        #expect(HostCheck(address: "0.0.0.0", names: []).allows("anything.example:80"))
        let named = HostCheck(address: "0.0.0.0", names: ["sync.example.com"])
        #expect(named.allows("Sync.Example.com"))
        #expect(!named.allows("evil.example"))
        #expect(HostCheck.host(of: "[::1]:80") == "::1")
        let second = HostCheck(address: "127.0.0.2", names: [])
        #expect(second.allows("127.0.0.2:7007") && !second.allows("evil.example"))
    }

    /// A message that is not damaged, whatever its bytes say.
    private func sealed(_ bytes: [UInt8]) -> [UInt8] {
        bytes + ContentDigest(of: [bytes], purpose: "godwit message 3").bytes.prefix(4)
    }

    /// The head of a frame of zstd that claims to have 4 GiB.
    private var bomb: [UInt8] {
        [0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0xff, 0xff, 0xff, 0xff, 0x03, 0x00, 0x00]
    }

    private func expectRefusal(
        _ status: Int,
        _ code: String,
        _ body: () async throws -> Void
    ) async {
        do {
            try await body()
            Issue.record("\(code) was expected")
        } catch ConnectorError.refused(let found, let word, let message) {
            #expect(found == status && word == code, "\(found) \(word): \(message)")
        } catch {
            Issue.record("\(code) was expected, not \(error)")
        }
    }

    @Test func `a server whose store works says so, and one whose store is closed says no`()
        async throws
    {
        try await serving { store, server in
            let url = try #require(URL(string: server + "/health"))
            func status() async throws -> Int? {
                let (_, answer) = try await URLSession.shared.data(from: url)
                return (answer as? HTTPURLResponse)?.statusCode
            }
            #expect(try await status() == 200)
            try store.close()
            let clock = ContinuousClock()
            let end = clock.now + .seconds(20)
            // The answer of a moment ago counts for a second.
            while try await status() == 200, clock.now < end {}
            #expect(try await status() == 503)
        }
    }

    @Test func `a probe may ask for the health without a body, and for nothing else`() async throws
    {
        try await serving { server in
            func status(_ path: String) async throws -> Int? {
                var request = URLRequest(url: try #require(URL(string: server + path)))
                request.httpMethod = "HEAD"
                let (body, answer) = try await URLSession.shared.data(for: request)
                #expect(body.isEmpty)
                return (answer as? HTTPURLResponse)?.statusCode
            }
            for path in ["/health", "/health/live", "/health/ready"] {
                let found = try await status(path)
                #expect(found == 200, "\(path)")
            }
            let hidden = try await status("/v1/replicas")
            #expect(hidden == 404)
        }
    }

    private func serving(
        _ hosts: [String] = [],
        _ body: (String) async throws -> Void
    ) async throws {
        try await serving(hosts) { _, server in try await body(server) }
    }

    private func serving(
        _ hosts: [String] = [],
        _ body: (Store, String) async throws -> Void
    ) async throws {
        let store = try Store(.file(folder.path("server.sqlite")))
        let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        var options = SyncOptions()
        options.allowedHosts = hosts
        let server = SyncServer(store: store, port: 0, options: options, logger: logger) {
            continuation.yield($0)
        }
        let services = ServiceGroup(services: [server], logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { continuation.finish() }
                try await services.run()
            }
            if let port = await ports.first(where: { _ in true }) {
                let outcome = await Self.outcome {
                    try await body(store, "http://127.0.0.1:\(port)")
                }
                await services.triggerGracefulShutdown()
                try outcome.get()
            }
            try await group.waitForAll()
        }
        try store.close()
    }

    private static func outcome(
        _ body: () async throws -> Void
    ) async -> Result<Void, any Error> {
        do { return .success(try await body()) } catch { return .failure(error) }
    }
}
