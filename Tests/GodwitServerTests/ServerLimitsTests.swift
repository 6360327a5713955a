import GodwitConnectors
import GodwitReplication
import GodwitStore
import GodwitTestKit
import GodwitTree
import Synchronization
import Testing

@testable import GodwitServer

/// A server's limits over real HTTP, and what a client is told.
@Suite(.timeLimit(.minutes(Soak.minutesMax))) struct ServerLimitsTests {
    private let server: AccessServer
    private let name: ReplicaName

    init() throws {
        server = try AccessServer()
        name = ReplicaName("shopping")
    }

    private func busy(_ body: () async throws -> Void) async -> Duration? {
        do {
            try await body()
            return nil
        } catch ConnectorError.busy(let wait, _) {
            return wait
        } catch {
            Issue.record("a limit was expected, not \(error)")
            return nil
        }
    }

    @Test func `a principal beyond its rate is told to wait, and others are served`() async throws {
        let ann = try await server.key("ann", [.administer: "*"])
        let bob = try await server.key("bob", [.create: "*"])
        var limits = ServerLimits()
        (limits.requestRate, limits.requestBurst) = (0.01, 3)
        try await server.serving(limits: limits) {
            let transport = try HTTPTransport(server: server.url, token: ann.token)
            for _ in 0..<3 { try await transport.create(name) }
            let wait = await busy { try await transport.create(name) }
            let seconds = try #require(wait)
            #expect(seconds > .seconds(90) && seconds <= .seconds(100))
            let answer = try await server.ask(.create, ann.token)
            #expect(answer.status == 429 && answer.code == "tooManyRequests")
            #expect(try await server.ask(.create, bob.token).status == 200)
            // A probe of a balancer has no token, and no limit.
            for _ in 0..<10 { #expect(try await server.ask(.ready, nil).status == 200) }
        }
    }

    @Test func `a body beyond the budget is refused, and is not counted any longer`() async throws {
        let ann = try await server.key("ann", [.create: "*"])
        var limits = ServerLimits()
        limits.principalBytesMax = 1_000
        try await server.serving(limits: limits) {
            let transport = try HTTPTransport(server: server.url, token: ann.token)
            try await transport.create(name)
            let client = ClientID(Identifiers.random.next())
            let wait = await busy {
                _ = try await transport.exchange(
                    [UInt8](repeating: 0, count: 1_001),
                    replica: name,
                    client: client
                )
            }
            #expect(wait == .seconds(1))
            // A refused body is not counted any longer.
            await #expect {
                _ = try await transport.exchange(
                    [UInt8](repeating: 0, count: 1_000),
                    replica: name,
                    client: client
                )
            } throws: { error in
                if case ConnectorError.refused(400, "damagedMessage", _) = error {
                    true
                } else {
                    false
                }
            }
        }
    }

    @Test func `bytes that are announced and do not come take none from others`() async throws {
        let ann = try await server.key("ann", [.create: "*"])
        let bob = try await server.key("bob", [.create: "*"])
        var limits = ServerLimits()
        limits.bytesMax = 1_000
        try await server.serving(limits: limits, drainMax: .zero) {
            #expect(try await server.ask(.create, bob.token).status == 200)
            let silent = try await server.silentClient(ann, announcing: 900)
            let message = [UInt8](repeating: 0, count: 900)
            let answer = try await server.ask(.exchange, bob.token, message: message)
            #expect(answer.code == "damagedMessage")
            let large = try await server.silentClient(
                try await server.key("carl", [.create: "*"]),
                announcing: SyncServer.requestSizeMax + 1
            )
            // What is announced as too large is refused at once.
            #expect(await large.firstLine().hasPrefix("HTTP/1.1 413 "))
            withExtendedLifetime(silent) {}
        }
    }

    @Test func `a request that does not go on holds no shutdown up`() async throws {
        let ann = try await server.key("ann", [.create: "*"])
        var silent: SilentClient?
        // A connection may be silent for two minutes; the test would not end before.
        try await server.serving(drainMax: .milliseconds(100)) {
            #expect(try await server.ask(.create, ann.token).status == 200)
            let bob = try await server.key("bob", [.create: "*"])
            silent = try await server.silentClient(bob, announcing: 900)
        }
        await silent?.waitForEnd()
    }

    @Test func `a principal has as many streams of events as it may have`() async throws {
        let ann = try await server.key("ann", [.create: "*"])
        var limits = ServerLimits()
        limits.streamMax = 1
        try await server.serving(limits: limits) {
            let transport = try HTTPTransport(server: server.url, token: ann.token)
            try await transport.create(name)
            var first = transport.heads(of: name).makeAsyncIterator()
            #expect(try await first.next() == .root)
            let wait = await busy { for try await _ in transport.heads(of: name) {} }
            #expect(wait == .seconds(30))
            _ = first
        }
    }

    @Test
    func `a key with all the devices it may have takes no other one, and no place of another key`()
        async throws
    {
        let ann = try await server.key("ann", [.administer: "*"])
        var limits = ServerLimits()
        limits.clientMax = 2
        try await server.serving(limits: limits) {
            let transport = try HTTPTransport(server: server.url, token: ann.token)
            try await transport.create(name)
            var devices: [ReplicaConnector] = []
            for _ in 0..<3 {
                let device = try ReplicaConnector(Store(.memory), transport: transport)
                _ = try await device.open(name, collections: ["lists"])
                devices.append(device)
            }
            for device in devices.prefix(2) { try await device.synchronize(name) }
            await #expect {
                try await devices[2].synchronize(name)
            } throws: { error in
                if case ConnectorError.refused(403, "tooManyClients", _) = error {
                    true
                } else {
                    false
                }
            }
            // A key that may only read would else lock all others out.
            let bob = try await server.key("bob", [.write: "*"])
            let other = try HTTPTransport(server: server.url, token: bob.token)
            let device = try ReplicaConnector(Store(.memory), transport: other)
            _ = try await device.open(name, collections: ["lists"])
            try await device.synchronize(name)
            let lists = Store.Collection<Int>("lists")
            try await devices[0].store.write { try $0.set(1, for: "a", in: lists) }
            try await devices[0].synchronize(name)
            let clients = try await transport.fetch("/clients", of: name)
            #expect(clients["clients"]?.list?.count == 1 && clients["serial"] == 1)
            #expect(clients["clients"]?.list?.first?["serial"] == 1, "\(clients)")
        }
    }

    @Test func `a token that is not to be had is an error like others, unless the task ends`()
        async throws
    {
        let transport = try HTTPTransport(server: "http://127.0.0.1:1") {
            throw CancellationError()
        }
        await #expect {
            try await transport.create(name)
        } throws: { error in
            if case ConnectorError.unreachable = error { true } else { false }
        }
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await transport.create(name)
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func `a transport asks for its token before each request`() async throws {
        struct SignedOut: Error {}
        let first = try await server.key("ann", [.create: "*"])
        let second = try await server.key("ann", [.create: "*"])
        let token = Mutex<String?>(first.token)
        try await server.serving {
            let transport = try HTTPTransport(server: server.url) {
                guard let token = token.withLock(\.self) else { throw SignedOut() }
                return token
            }
            try await transport.create(name)
            try await server.keys.revoke(first.key.id)
            await #expect(throws: ConnectorError.self) { try await transport.create(name) }
            token.withLock { $0 = second.token }
            try await transport.create(name)
            var heads = transport.heads(of: name).makeAsyncIterator()
            #expect(try await heads.next() == .root)
            token.withLock { $0 = nil }
            await #expect {
                try await transport.create(name)
            } throws: { error in
                if case ConnectorError.unreachable(let reason) = error {
                    reason.contains("SignedOut")
                } else {
                    false
                }
            }
        }
    }
}
