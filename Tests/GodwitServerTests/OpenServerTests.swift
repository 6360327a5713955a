import GodwitStore
import Testing

@testable import GodwitServer

/// A server without access control.
@Suite struct OpenServerTests {
    @Test(arguments: [
        "0.0.0.0", "::", "192.168.1.5", "10.0.0.1", "sync.example.com", "127.evil.example", "",
        "localhost.evil.example", "::ffff:192.168.1.5", "1270.0.0.1", "127.1", "2001:db8::1",
    ])
    func `a server without access control refuses any other address than loopback`(
        _ address: String
    ) async throws {
        #expect(!Loopback.contains(address))
        let server = SyncServer(store: try Store(.memory), host: address, port: 0) { _ in
            Issue.record("it listens")
        }
        let error = AccessError.openBeyondLoopback(address: address)
        await #expect(throws: error) { try await server.run() }
        #expect(error.description.contains("godwit key new"))
    }

    @Test(arguments: [
        "127.0.0.1", "127.0.0.2", "127.255.0.1", "::1", "0:0:0:0:0:0:0:1", "::ffff:127.0.0.1",
        "localhost", "LocalHost",
    ])
    func `loopback is loopback in each spelling`(_ address: String) {
        #expect(Loopback.contains(address))
    }

    @Test func `a server without access control takes nothing that a proxy has forwarded`()
        async throws
    {
        let server = try AccessServer()
        try await server.serving(.open) {
            #expect(try await server.ask(.create, nil).status == 200)
            for name in ["Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP"] {
                let answer = try await server.ask(.value, nil, headers: [name: "for=192.0.2.1"])
                #expect(answer.status == 403 && answer.code == "openBehindProxy", "\(name)")
            }
        }
        _ = try await server.key("phone", [.read: "*"])
        try await server.serving(.open) {}
        #expect(server.log.lines.contains { $0.contains("every client is let in") })
    }

    @Test func `a server whose key set cannot be read does not start`() async throws {
        let rules = TokenRules(keySet: "/nowhere/jwks.json", issuer: "me")
        let options = SyncOptions(access: .tokens(rules))
        let server = SyncServer(store: try Store(.memory), port: 0, options: options)
        let error = AccessError.unusableKeySet(path: rules.keySet, reason: "it cannot be read")
        await #expect(throws: error) { try await server.run() }
    }
}
