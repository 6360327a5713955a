import Foundation
import GodwitReplication
import GodwitTestKit
import GodwitTree
import Testing

@testable import GodwitServer

/// The file with the keys of tokens, which changes while the server runs.
@Suite struct TokenKeyFileTests {
    private let server: AccessServer
    private let rules: TokenRules

    init() throws {
        server = try AccessServer()
        // Whether a file has just changed is told by the clock of the file system.
        server.clock.set(to: Date())
        rules = TokenRules(keySet: server.folder.path("jwks.json"), issuer: "me")
    }

    @Test func `a key that comes or goes counts for the next request`() async throws {
        try server.write(TokenKeys.keySet(of: [TokenKeys.ed]), to: "jwks.json")
        try await server.serving(.keysAndTokens(rules)) {
            let (old, new) = (try await token(TokenKeys.ed), try await token(TokenKeys.ec))
            #expect(try await statuses(old, new) == [200, 401])
            try server.write(TokenKeys.keySet(of: [TokenKeys.ed, TokenKeys.ec]), to: "jwks.json")
            #expect(try await statuses(old, new) == [200, 200])
            try server.write(TokenKeys.keySet(of: [TokenKeys.ec]), to: "jwks.json")
            #expect(try await statuses(old, new) == [401, 200])
        }
    }

    @Test func `a key of the same size that takes the place of another counts at once`()
        async throws
    {
        let other = TokenKeys.hs.with("k", .string(Key(String(repeating: "A", count: 43))))
        try server.write(TokenKeys.keySet(of: [TokenKeys.hs]), to: "jwks.json")
        try await server.serving(.tokens(rules)) {
            let (old, new) = (try await token(TokenKeys.hs), try await token(other))
            for _ in 0..<5 {
                try server.write(TokenKeys.keySet(of: [other]), to: "jwks.json")
                #expect(try await statuses(old, new) == [401, 200])
                try server.write(TokenKeys.keySet(of: [TokenKeys.hs]), to: "jwks.json")
                #expect(try await statuses(old, new) == [200, 401])
            }
        }
    }

    @Test func `a link to another file counts for the next request`() async throws {
        let files = FileManager.default
        func link(_ name: String) throws {
            let path = server.folder.path(name)
            let date = Date(timeIntervalSince1970: 1_700_000_000)
            try files.setAttributes([.modificationDate: date], ofItemAtPath: path)
            try? files.removeItem(atPath: server.folder.path("data"))
            try files.createSymbolicLink(
                atPath: server.folder.path("data"),
                withDestinationPath: path
            )
        }
        let other = TokenKeys.hs.with("k", .string(Key(String(repeating: "A", count: 43))))
        try server.write(TokenKeys.keySet(of: [TokenKeys.hs]), to: "old")
        try server.write(TokenKeys.keySet(of: [other]), to: "new")
        try link("old")
        try files.createSymbolicLink(
            atPath: rules.keySet,
            withDestinationPath: server.folder.path("data")
        )
        try await server.serving(.tokens(rules)) {
            let (old, new) = (try await token(TokenKeys.hs), try await token(other))
            #expect(try await statuses(old, new) == [200, 401])
            // Neither size nor time tells the files apart.
            try link("new")
            #expect(try await statuses(old, new) == [401, 200])
        }
    }

    @Test func `a file that is no key set leaves the last good one, and is logged once`()
        async throws
    {
        try server.write(TokenKeys.keySet(of: [TokenKeys.ed]), to: "jwks.json")
        try await server.serving(.tokens(rules)) {
            let (old, new) = (try await token(TokenKeys.ed), try await token(TokenKeys.ec))
            let broken: [Value] = [
                "nothing", [:], ["keys": []], TokenKeys.keySet(of: [TokenKeys.ec, TokenKeys.ec]),
                TokenKeys.keySet(of: [TokenKeys.ec.with("x", "AAAA")]),
                TokenKeys.keySet(of: [TokenKeys.hs.with("k", "c2hvcnQ")]),
                TokenKeys.keySet(of: [TokenKeys.ec.without("kid")]),
            ]
            for (number, value) in broken.enumerated() {
                try server.write(value, to: "jwks.json")
                for _ in 0..<3 { #expect(try await statuses(old, new) == [200, 401]) }
                #expect(faults.count == number + 1, "\(faults)")
            }
            try FileManager.default.removeItem(atPath: rules.keySet)
            for _ in 0..<3 { #expect(try await statuses(old, new) == [200, 401]) }
            #expect(faults.count == broken.count + 1)
            try server.write(TokenKeys.keySet(of: [TokenKeys.ec]), to: "jwks.json")
            #expect(try await statuses(old, new) == [401, 200])
        }
    }

    @Test func `keys for other purposes are passed over`() async throws {
        let others: [Value] = [
            TokenKeys.rsa.with("use", "enc"), TokenKeys.rsa.with("alg", "RSA-OAEP"),
            ["kty": "EC", "kid": "p384", "crv": "P-384"], ["kty": "new", "kid": "new"],
            TokenKeys.ec.with("key_ops", ["sign"]), TokenKeys.hs.with("key_ops", "verify"),
        ]
        let own = TokenKeys.ed.with("use", "sig").with("key_ops", ["sign", "verify"])
        let set = TokenKeys.keySet(of: others + [own])
        _ = try await TokenKeySet(Array(set.jsonText().utf8))
        await #expect(throws: TokenKeySet.Fault.self) {
            try await TokenKeySet(Array(TokenKeys.keySet(of: others).jsonText().utf8))
        }
    }

    private var faults: [String] { server.log.lines.filter { $0.contains("last good one stays") } }

    private func token(_ key: Value) async throws -> String {
        let claims = TokenSigner.Claims(subject: "ann", rights: .all, issuer: "me")
        let now = Int64(server.clock.now.timeIntervalSince1970)
        return try await TokenSigner(privateKey: key).token(claims, at: now, lifetime: 60)
    }

    private func statuses(_ tokens: String...) async throws -> [Int] {
        var statuses: [Int] = []
        for token in tokens { statuses.append(try await server.ask(.create, token).status) }
        return statuses
    }
}
