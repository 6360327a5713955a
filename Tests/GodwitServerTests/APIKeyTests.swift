import Foundation
import GRDB
import GodwitConnectors
import GodwitReplication
import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

@testable import GodwitServer

/// API keys, made and taken away while the server runs.
@Suite struct APIKeyTests {
    private let server: AccessServer
    private let name: ReplicaName

    init() throws {
        server = try AccessServer()
        name = ReplicaName("shopping")
    }

    @Test func `a key that is made while the server runs lets its holder in`() async throws {
        try await server.serving {
            let key = try await server.key("phone", [.create: "shop*"])
            #expect(try await server.ask(.create, key.token).status == 200)
            #expect(try await server.ask(.value, key.token).status == 200)
        }
    }

    @Test func `a key that another process revokes lets no further request in`() async throws {
        try await server.serving {
            let key = try await server.key("phone", [.create: "*"])
            #expect(try await server.ask(.create, key.token).status == 200)
            try await elsewhere { try await $0.revoke(key.key.id) }
            let answer = try await server.ask(.value, key.token)
            #expect(answer.status == 401 && answer.code == "tokenInvalid")
            let error = AccessError.unknownKey(key.key.id)
            await #expect(throws: error) { try await server.keys.revoke(key.key.id) }
        }
    }

    @Test func `a key that another process makes lets its holder in`() async throws {
        try await server.serving {
            let made = try await elsewhere {
                try await $0.create("tablet", rights: Rights([.create: [.all]]))
            }
            #expect(try await server.ask(.create, made.token).status == 200)
        }
    }

    @Test func `a key ends with the second in which it expires, and says so`() async throws {
        try await server.serving {
            let key = try await server.keys.create("phone", rights: .all, lifetime: .seconds(60))
            #expect(try await server.ask(.create, key.token).status == 200)
            server.clock.advance(bySeconds: 59)
            #expect(try await server.ask(.value, key.token).status == 200)
            server.clock.advance(bySeconds: 1)
            let answer = try await server.ask(.value, key.token)
            #expect(answer.status == 401 && answer.code == "tokenExpired")
            #expect(answer.challenge == #"Bearer error="invalid_token""#)
        }
    }

    @Test func `a damaged row hides no other key, lets nobody in, and can be revoked`() async throws
    {
        let good = try await server.key("good", [.create: "*"])
        let bad = try await server.key("bad", [.create: "*"])
        try await server.store.write { transaction in
            try transaction.connection.execute(
                sql: "UPDATE godwit_access_key SET rights = '[7' WHERE id = ?",
                arguments: [bad.key.id]
            )
        }
        let list = try await APIKeys.all(in: server.store)
        #expect(list.keys.map(\.id) == [good.key.id] && list.damaged == [bad.key.id])
        try await server.serving {
            #expect(try await server.ask(.create, good.token).status == 200)
            #expect(try await server.ask(.value, bad.token).status == 500)
            try await server.keys.revoke(bad.key.id)
            #expect(try await server.ask(.value, bad.token).status == 401)
        }
        #expect(try await APIKeys.all(in: server.store).damaged == [])
    }

    @Test(arguments: ["", "a\nb", "a\u{7}", "\u{202E}enohp", "a\u{2066}b"])
    func `a name that a list would not show as it is makes no key`(name: String) async throws {
        await #expect(throws: AccessError.invalidName(name)) {
            try await server.key(name, [.read: "*"])
        }
        _ = try await server.key("👩‍💻 Žofie", [.read: "*"])
    }

    @Test func `a secret with one other bit, in any place, lets nobody in`() async throws {
        let key = try await server.key("phone", [.read: "*"])
        let text = try #require(APIKeyText(key.token))
        let bytes = Base64URL.decoded(key.token.split(separator: "_", maxSplits: 2)[2]) ?? []
        #expect(bytes.count == 32 && text.matches(text.hash))
        for place in 0..<256 {
            var other = bytes
            other[place / 8] ^= 1 << UInt8(place % 8)
            let token = "godwit_\(text.id)_\(Base64URL.encoded(other))"
            #expect(APIKeyText(token)?.matches(text.hash) == false)
            await #expect(throws: AccessRefusal.self) {
                try await server.keys.principal(BearerToken(token))
            }
        }
        #expect(!text.matches([]) && !text.matches(Array(text.hash.dropLast())))
    }

    @Test func `what is not quite a key lets nobody in`() async throws {
        let key = try await server.key("phone", [.create: "*"])
        try await server.serving {
            #expect(try await server.ask(.create, key.token).status == 200)
            let texts = [
                "godwit_", "godwit__", "godwit_\(key.key.id)", "godwit_\(key.key.id)_",
                String(key.token.dropLast()), key.token + "A", key.token.uppercased(),
                "godwit_%_\(key.token.suffix(43))", "x", String(repeating: "x", count: 9_000),
                key.token + " " + key.token, "",
            ]
            for text in texts {
                let answer = try await server.ask(.value, text)
                #expect(answer.status == 401 && answer.code == "tokenInvalid", "\(text)")
                #expect(answer.body["message"] == "the token is not valid")
            }
            let answer = try await server.ask(.value, nil)
            #expect(answer.status == 401 && answer.code == "tokenRequired")
            #expect(answer.challenge == "Bearer")
        }
    }

    @Test func `nothing of a secret is in the file, in a log or in a description`() async throws {
        let key = try await server.key("phone", [.create: "*"])
        let forged =
            "godwit_\(key.key.id)_"
            + Base64URL.encoded(
                Array(
                    "a canary of 32 bytes in a cage.."
                        .utf8
                )
            )
        try await server.serving {
            for token in [key.token, forged, "canary.in.a-cage"] {
                for route in ServerRoute.allCases where route != .events {
                    _ = try await server.ask(route, token)
                }
            }
        }
        let secret = String(key.token.suffix(43))
        let bytes = Base64URL.decoded(secret) ?? []
        for suffix in ["", "-wal"] {
            let path = server.folder.path("server.sqlite") + suffix
            let data = FileManager.default.contents(atPath: path) ?? Data()
            #expect(!data.isEmpty || suffix == "-wal")
            #expect(data.range(of: Data(secret.utf8)) == nil)
            #expect(data.range(of: Data(bytes)) == nil)
            #expect(suffix != "" || !bytes.isEmpty)
        }
        let log = server.log.lines.joined(separator: "\n")
        #expect(log.contains("the secret of the key \(key.key.id) is wrong"))
        for canary in [secret, String(forged.suffix(43)), "canary.in.a-cage"] {
            #expect(!log.contains(canary))
        }
        var dumped = ""
        dump((key, BearerToken(key.token)), to: &dumped)
        #expect(!dumped.contains(secret) && !"\(key) \(BearerToken(key.token))".contains(secret))
    }

    @Test func `a list shows what keys may do, and to a minute when they did`() async throws {
        let key = try await server.key("phone", [.create: "shop*", .read: "*"])
        _ = try await server.key("tablet", [.read: "*"])
        try await server.serving {
            _ = try await server.ask(.create, key.token)
            server.clock.advance(bySeconds: 59)
            _ = try await server.ask(.value, key.token)
        }
        try await server.store.flush()
        let made = Date(timeIntervalSince1970: 1_800_000_000)
        func phone() async throws -> APIKey? {
            try await APIKeys.all(in: server.store).keys.first { $0.name == "phone" }
        }
        #expect(try await phone()?.lastUsed == made)
        #expect(try await phone()?.rights == key.key.rights)
        #expect(try await phone()?.created == made)
        server.clock.advance(bySeconds: 2)
        _ = try await server.keys.principal(BearerToken(key.token))
        try await server.store.flush()
        #expect(try await phone()?.lastUsed == made + 61)
        #expect(
            try await APIKeys.all(in: server.store).keys.map(\.name).sorted() == [
                "phone", "tablet",
            ]
        )
        #expect(try await APIKeys.all(in: Store(.memory)).isEmpty)
    }

    @Test func `a key has as many patterns as can be read again`() async throws {
        let many = try (0...Rights.patternCountMax).map { try ReplicaPattern("r\($0)") }
        await #expect(throws: AccessError.self) {
            try await server.keys.create("phone", rights: Rights([.read: many]))
        }
        let fewer = Rights([.read: Array(many.dropLast())])
        let key = try await server.keys.create("phone", rights: fewer)
        #expect(try await server.keys.principal(BearerToken(key.token)).rights == fewer)
    }

    @Test(arguments: ["", "a\nb", "a\u{0}", String(repeating: "x", count: 129)])
    func `a key has a name of one line`(name: String) async throws {
        await #expect(throws: AccessError.invalidName(name)) {
            try await server.keys.create(name, rights: .none)
        }
        await #expect(throws: AccessError.invalidLifetime) {
            try await server.keys.create("a", rights: .none, lifetime: .zero)
        }
        #expect(try await APIKeys.all(in: server.store).isEmpty)
    }

    /// Does something with the keys as another process does.
    private func elsewhere<Result>(
        _ body: (APIKeys) async throws -> Result
    ) async throws -> Result {
        let other = try Store(server.store.location, options: server.store.options)
        let result = try await body(APIKeys(other))
        try other.close()
        return result
    }
}
