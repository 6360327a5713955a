import Foundation
import GodwitTestKit
import GodwitTree
import HTTPTypes
import Hummingbird
import Logging
import ServiceLifecycle
import Synchronization
import Testing

@testable import GodwitServer

/// A key set at the address of an identity provider.
@Suite(.timeLimit(.minutes(Soak.minutesMax))) struct RemoteTokenKeysTests {
    private let log = RecordedLog()

    /// What the provider answers, and how often it was asked.
    private final class Provider: Sendable {
        private let state: Mutex<(answer: Result<Value, any Error>, count: Int)>

        init(_ keys: Value...) { state = Mutex((.success(TokenKeys.keySet(of: keys)), 0)) }

        var count: Int { state.withLock(\.count) }

        func answer(_ keys: Value...) {
            state.withLock { $0.answer = .success(TokenKeys.keySet(of: keys)) }
        }

        func fail() {
            state.withLock { $0.answer = .failure(TokenKeySet.Fault(description: "it is away")) }
        }

        func fetch() throws -> [UInt8] {
            let answer = state.withLock { state in
                state.count += 1
                return state.answer
            }
            return Array(try answer.get().jsonText().utf8)
        }
    }

    private func keys(_ provider: Provider, _ clock: ManualClock) async throws -> RemoteTokenKeys {
        let address = try #require(try RemoteTokenKeys.Address("https://id.example.com/keys"))
        return try await RemoteTokenKeys(
            address,
            elapsed: { clock.now.sinceStart },
            logger: log.logger,
            fetch: { try provider.fetch() }
        )
    }

    @Test func `an unknown key is looked for at once, but not more than twice a minute`()
        async throws
    {
        let (provider, clock) = (Provider(TokenKeys.ed), ManualClock())
        let keys = try await keys(provider, clock)
        clock.advance(by: .seconds(29))
        provider.answer(TokenKeys.ed, TokenKeys.ec)
        for _ in 0..<100 { #expect(await !keys.keys(for: "ec").hasKey("ec")) }
        #expect(provider.count == 1)
        clock.advance(by: .seconds(1))
        #expect(await keys.keys(for: "ec").hasKey("ec"))
        #expect(provider.count == 2)
        for number in 0..<100 { _ = await keys.keys(for: "forged \(number)") }
        #expect(provider.count == 2)
    }

    @Test func `a set of ten minutes is fetched anew, and where that fails, the last one stays`()
        async throws
    {
        let (provider, clock) = (Provider(TokenKeys.ed, TokenKeys.ec), ManualClock())
        let keys = try await keys(provider, clock)
        clock.advance(by: .seconds(599))
        #expect(await keys.keys(for: "ed").hasKey("ed"))
        #expect(provider.count == 1)
        provider.fail()
        clock.advance(by: .seconds(1))
        for _ in 0..<10 { #expect(await keys.keys(for: "ed").hasKey("ed")) }
        #expect(provider.count == 2)
        #expect(log.lines.count { $0.contains("last good one stays") } == 1)
        clock.advance(by: .seconds(30))
        // A known key does not wait for a provider that fails; an unknown one does.
        #expect(await keys.keys(for: "ed").hasKey("ed"))
        #expect(await !keys.keys(for: "hs").hasKey("hs"))
        #expect(provider.count == 3)
    }

    @Test func `a key that the provider has withdrawn lets no token in after a quiet night`()
        async throws
    {
        let (provider, clock) = (Provider(TokenKeys.ed), ManualClock())
        let keys = try await keys(provider, clock)
        provider.answer(TokenKeys.ec)
        clock.advance(by: .seconds(12 * 3_600))
        #expect(await !keys.keys(for: "ed").hasKey("ed"))
        #expect(provider.count == 2)
    }

    @Test func `many who wait for one key ask once`() async throws {
        let (provider, clock) = (Provider(TokenKeys.ed), ManualClock())
        let keys = try await keys(provider, clock)
        provider.answer(TokenKeys.ed, TokenKeys.ec)
        clock.advance(by: .seconds(30))
        let found = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<50 { group.addTask { await keys.keys(for: "ec").hasKey("ec") } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(found == Array(repeating: true, count: 50))
        #expect(provider.count == 2)
    }

    @Test(arguments: [
        ("jwks.json", true), ("/etc/godwit/jwks.json", true),
        ("https://id.example.com/keys", false),
        ("http://127.0.0.1:8080/keys", false),
    ])
    func `an address is told from a path`(_ text: String, isPath: Bool) throws {
        #expect(try (RemoteTokenKeys.Address(text) == nil) == isPath)
    }

    @Test(arguments: ["http://id.example.com/keys", "HTTP://10.0.0.1/keys", "https://"])
    func `an address that others could answer for is refused`(_ text: String) {
        #expect(throws: AccessError.self) { try RemoteTokenKeys.Address(text) }
    }

    @Test func `a server asks an address over HTTP, and follows it nowhere else`() async throws {
        let router = Router()
        let set = TokenKeys.keySet(of: [TokenKeys.ed]).jsonText()
        router.get("keys") { _, _ in set }
        router.get("moved") { _, _ in
            Response(status: .found, headers: [.location: "/keys"])
        }
        router.get("large") { _, _ in String(repeating: " ", count: 2 << 20) + set }
        router.get("page") { _, _ in "<html>" }
        router.get("stalled") { _, _ in
            Response(
                status: .ok,
                body: ResponseBody { writer in
                    try await writer.write(ByteBuffer(string: #"{"keys":"#))
                    // Until the connection is closed.
                    for await _ in AsyncStream.makeStream(of: Never.self).stream {}
                }
            )
        }
        let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
        let app = Application(
            router: router,
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { continuation.yield($0.localAddress?.port ?? 0) },
            logger: log.logger
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await app.run() }
            defer { group.cancelAll() }
            let first = await ports.first { _ in true }
            let port = try #require(first)
            let server = try AccessServer()
            let provider = "http://127.0.0.1:\(port)"
            let rules = TokenRules(keySet: "\(provider)/keys", issuer: "me")
            try await server.serving(.tokens(rules)) {
                let claims = TokenSigner.Claims(subject: "ann", rights: .all, issuer: "me")
                let now = Int64(server.clock.now.timeIntervalSince1970)
                for (key, status) in [(TokenKeys.ed, 200), (TokenKeys.ec, 401)] {
                    let signer = try await TokenSigner(privateKey: key)
                    let token = try signer.token(claims, at: now, lifetime: 60)
                    #expect(try await server.ask(.create, token).status == status)
                }
            }
            let stalled = try #require(try RemoteTokenKeys.Address("\(provider)/stalled"))
            await #expect(throws: TokenKeySet.Fault.self) {
                try await stalled.fetch(atMost: .milliseconds(200))
            }
            let faults = [
                ("moved", "302"), ("large", "bytes"), ("page", "JSON"), ("no", "404"),
            ]
            for (path, reason) in faults {
                let bad = TokenRules(keySet: "\(provider)/\(path)", issuer: "me")
                let error = await #expect(throws: AccessError.self) {
                    try await server.serving(.tokens(bad)) {}
                }
                let text = error?.description ?? ""
                #expect(text.contains(bad.keySet) && text.contains(reason), "\(text)")
            }
        }
    }
}
