import Foundation
import GodwitReplication
import GodwitStore
import GodwitTestKit
import GodwitTree
import HTTPTypes
import Logging
import Testing

@testable import GodwitServer

/// Tokens that a server has to refuse, and those that it takes.
@Suite struct ForgedTokenTests {
    private static let now: Int64 = 1_800_000_000
    private static let issuer = "https://id.example.com"
    private static let claims: Value = [
        "iss": "https://id.example.com", "aud": "godwit", "sub": "ann",
        "exp": .int(now + 600), "nbf": .int(now - 600), "godwit": ["write": ["acme.*"]],
    ]

    /// A token, or what is wrong with it.
    struct Vector: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let make: @Sendable () async throws -> String

        init(_ name: String, _ make: @escaping @Sendable () async throws -> String) {
            (testDescription, self.make) = (name, make)
        }

        init(_ name: String, header: Value, _ claims: Value = ForgedTokenTests.claims) {
            self.init(name) { try await signed(claims, header: header) }
        }

        init(_ name: String, _ claims: Value) {
            self.init(name, header: TokenKeys.ed.header("EdDSA"), claims)
        }
    }

    // MARK: What is taken

    static let genuine = [
        Vector("RS256") { try await signed(claims, by: TokenKeys.rsa, "RS256") },
        Vector("ES256") { try await signed(claims, by: TokenKeys.ec, "ES256") },
        Vector("EdDSA") { try await signed(claims, by: TokenKeys.ed, "EdDSA") },
        Vector("HS256") { try await signed(claims, by: TokenKeys.hs, "HS256") },
        Vector("an audience among others", claims.with("aud", ["other", "godwit"])),
        Vector("a time with a fraction", claims.with("exp", .double(1_800_000_600.5))),
        Vector("an end within the leeway", claims.with("exp", .int(now - 29))),
        Vector("a start within the leeway", claims.with("nbf", .int(now + 29))),
        Vector("no start", claims.without("nbf")),
        Vector("no type", header: TokenKeys.ed.header("EdDSA").without("typ")),
        Vector("an access token", header: TokenKeys.ed.header("EdDSA").with("typ", "at+JWT")),
        Vector(
            "headers that count for nothing",
            header: TokenKeys.ed.header("EdDSA").with("jku", "https://evil.example/jwks.json")
                .with("x5u", "https://evil.example/chain.pem").with("jwk", TokenKeys.ec)
        ),
    ]

    @Test(arguments: genuine)
    func `a token that its key has signed is taken`(_ vector: Vector) async throws {
        let principal = try await principal(vector.make())
        #expect(principal.identity == .subject("ann", issuer: Self.issuer))
        #expect(principal.rights.allows(.write, ReplicaName("acme.orders")))
        #expect(!principal.rights.allows(.create, ReplicaName("acme.orders")))
        #expect(!principal.rights.allows(.read, ReplicaName("other")))
    }

    // MARK: What is refused

    /// The algorithm, in spellings that a careless reader takes for none.
    private static let unsigned = ["none", "None", "NONE", "nOnE", " none", "none ", "", "null"]
        .flatMap { name in
            let header = TokenKeys.ed.header(Key(name))
            return [
                Vector("alg \"\(name)\" with a signature", header: header),
                Vector("alg \"\(name)\" without a signature") { parts(header, claims) + "." },
            ]
        }

    private static let confused =
        [
            ("the modulus of the RSA key", TokenKeys.rsa, "n"),
            ("the coordinate of the EC key", TokenKeys.ec, "x"),
            ("the public key of Ed25519", TokenKeys.ed, "x"),
        ].map { name, key, field in
            Vector("HS256 with \(name) as its secret") {
                try await signed(claims, header: key.header("HS256"), by: secret(key[Key(field)]))
            }
        } + [
            Vector("HS256 with the PEM of the RSA key as its secret") {
                let pem = Array("-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQE\n".utf8)
                let key = secret(.string(Key(Base64URL.encoded(pem))))
                return try await signed(claims, header: TokenKeys.rsa.header("HS256"), by: key)
            },
            Vector("RS512 with a key for RS256") {
                try await signed(claims, by: TokenKeys.rsa, "RS512")
            },
            Vector("ES256 with the kid of the RSA key") {
                try await signed(claims, header: TokenKeys.rsa.header("ES256"), by: TokenKeys.ec)
            },
            Vector("RS256 with the kid of the secret") {
                try await signed(claims, header: TokenKeys.hs.header("RS256"), by: TokenKeys.rsa)
            },
            Vector("EdDSA, and the header says ES256", header: TokenKeys.ed.header("ES256")),
            Vector("an algorithm in other letters", header: TokenKeys.ed.header("eddsa")),
        ]

    private static let keyIDs = [
        "unknown", "", "ED", "ed ", "../../../../dev/null", "/etc/passwd",
        "ed' OR '1'='1", "x'; DROP TABLE godwit_access_key; --", "https://evil.example/key",
    ].map {
        Vector("kid \"\($0)\"", header: TokenKeys.ed.header("EdDSA").with("kid", .string(Key($0))))
    }

    private static let headers = [
        Vector("no kid", header: TokenKeys.ed.header("EdDSA").without("kid")),
        Vector("a kid that is a number", header: TokenKeys.ed.header("EdDSA").with("kid", 1)),
        Vector("a kid that is a list", header: TokenKeys.ed.header("EdDSA").with("kid", ["ed"])),
        Vector("no alg", header: TokenKeys.ed.header("EdDSA").without("alg")),
        Vector("the key in the header, with an unknown kid") {
            let header: Value = [
                "alg": "EdDSA", "kid": "mine", "jwk": TokenKeys.ed.with("kid", "mine"),
            ]
            return try await signed(claims, header: header)
        },
        Vector("a type that is no token", header: TokenKeys.ed.header("EdDSA").with("typ", "JWE")),
        Vector("a logout token", header: TokenKeys.ed.header("EdDSA").with("typ", "logout+jwt")),
        Vector("a critical extension", header: TokenKeys.ed.header("EdDSA").with("crit", ["b64"])),
    ]

    private static let altered = [
        Vector("the signature of another token") {
            let other = try await signed(claims.with("sub", "bob"))
            return parts(TokenKeys.ed.header("EdDSA"), claims) + "."
                + (other.split(separator: ".").last ?? "")
        },
        Vector("a signature with a flipped bit") {
            var token = Array(try await signed(claims).utf8)
            token[token.count - 20] ^= 1
            return String(decoding: token, as: UTF8.self)
        },
        Vector("other claims") {
            let token = try await signed(claims).split(separator: ".")
            let header = TokenKeys.ed.header("EdDSA")
            return parts(header, claims.with("sub", "root")) + "." + (token.last ?? "")
        },
        Vector("a truncated signature") { String(try await signed(claims).dropLast(4)) },
        Vector("no signature") { parts(TokenKeys.ed.header("EdDSA"), claims) + "." },
        Vector("two parts") { parts(TokenKeys.ed.header("EdDSA"), claims) },
        Vector("a dot too many") { try await signed(claims) + "." },
        Vector("a part too many") { try await signed(claims) + ".e30" },
        Vector("a dot before") { "." + (try await signed(claims)) },
        Vector("padding") { try await signed(claims) + "==" },
        Vector("a zero signature") {
            let zeros = Base64URL.encoded([UInt8](repeating: 0, count: 64))
            return parts(TokenKeys.ec.header("ES256"), claims) + "." + zeros
        },
        Vector("a key of the same kid that the server does not know") {
            let other = TokenKeys.hs.with("k", .string(Key(String(repeating: "A", count: 64))))
            return try await signed(claims, by: other, "HS256")
        },
        Vector("a header with a key twice") {
            let header = Base64URL.encoded(#"{"alg":"EdDSA","kid":"x","kid":"ed"}"#.utf8)
            return header + "." + Base64URL.encoded(claims.jsonText().utf8) + ".AAAA"
        },
        Vector("an encrypted token") { "eyJhbGciOiJSU0EtT0FFUCJ9.a.b.c.d" },
        Vector("no token at all") { "godwit" },
        Vector("8 KiB and a byte") {
            try await signed(claims.with("pad", .string(Key(String(repeating: "x", count: 8_192)))))
        },
    ]

    private static let untrue = [
        Vector("no end", claims.without("exp")),
        Vector("an end that is a text", claims.with("exp", .string(Key("\(now + 600)")))),
        Vector("an end that is null", claims.with("exp", .null)),
        Vector("a start in the future", claims.with("nbf", .int(now + 31))),
        Vector("a start that is a text", claims.with("nbf", "now")),
        Vector("no issuer", claims.without("iss")),
        Vector("another issuer", claims.with("iss", "https://id.example.com.evil.example")),
        Vector("an issuer in a list", claims.with("iss", ["https://id.example.com"])),
        Vector("no audience", claims.without("aud")),
        Vector("another audience", claims.with("aud", "godwit2")),
        Vector("other audiences", claims.with("aud", ["other", "GODWIT"])),
        Vector("no audience in the list", claims.with("aud", [])),
        Vector("no subject", claims.without("sub")),
        Vector("an empty subject", claims.with("sub", "")),
        Vector("a subject that is a number", claims.with("sub", 1)),
        Vector("a subject of two lines", claims.with("sub", "ann\nof root")),
        Vector("rights that are a text", claims.with("godwit", "*")),
        Vector("a right that is a text", claims.with("godwit", ["write": "*"])),
        Vector("a right that there is not", claims.with("godwit", ["own": ["*"]])),
        Vector("a pattern that is none", claims.with("godwit", ["write": ["*.orders"]])),
        Vector("a list of claims", ["write"]),
    ]

    static let forged = unsigned + confused + keyIDs + headers + altered + untrue

    @Test(arguments: forged)
    func `a forged token lets nobody in`(_ vector: Vector) async throws {
        let token = try await vector.make()
        let refusal = await #expect(throws: AccessRefusal.self) { try await principal(token) }
        guard case .invalid? = refusal else {
            Issue.record("\(vector.testDescription): \(String(describing: refusal))")
            return
        }
    }

    @Test func `there are more forged tokens than 70, each another one`() async throws {
        var tokens: Set<String> = []
        for vector in Self.forged { tokens.insert(try await vector.make()) }
        #expect(tokens.count == Self.forged.count && tokens.count > 70)
    }

    @Test func `only a genuine token is told to be expired`() async throws {
        let old = Self.claims.with("exp", .int(Self.now - 31))
        let token = try await Self.signed(old)
        let refusal = await #expect(throws: AccessRefusal.self) { try await principal(token) }
        #expect(refusal == .expired("it has expired"))
        let forged = String(token.dropLast(3)) + "AAA"
        let other = await #expect(throws: AccessRefusal.self) { try await principal(forged) }
        #expect(other == .invalid("its signature is wrong"))
    }

    @Test func `a server without an audience takes no token for one`() async throws {
        let plain = try await Self.signed(Self.claims.without("aud"))
        #expect(try await principal(plain, audience: nil).rights != .none)
        let named = try await Self.signed(Self.claims)
        await #expect(throws: AccessRefusal.self) { try await principal(named, audience: nil) }
    }

    @Test func `a token without rights has none`() async throws {
        let token = try await Self.signed(Self.claims.without("godwit"))
        #expect(try await principal(token).rights == .none)
    }

    // MARK: Signing

    private static func parts(_ header: Value, _ claims: Value) -> String {
        [header, claims].map { Base64URL.encoded($0.jsonText().utf8) }.joined(separator: ".")
    }

    private static func secret(_ text: Value?) -> Value {
        ["kty": "oct", "kid": "secret", "k": text ?? .null]
    }

    private static func signed(
        _ claims: Value,
        header: Value? = nil,
        by key: Value = TokenKeys.ed
    ) async throws -> String {
        let key = try await TokenKey(key, isPrivate: true)
        return try key.token(header ?? key.header, claims)
    }

    private static func signed(
        _ claims: Value,
        by key: Value,
        _ algorithm: Key
    ) async throws -> String {
        try await signed(claims, header: key.header(algorithm), by: key)
    }

    // MARK: Asking

    private func principal(
        _ token: String,
        audience: String? = "godwit"
    ) async throws -> Principal {
        let folder = try TemporaryFolder()
        let path = folder.path("jwks.json")
        try Data(TokenKeys.keySet.jsonText().utf8).write(to: URL(filePath: path))
        var options = Store.Options()
        let date = Date(timeIntervalSince1970: Double(Self.now))
        options.clock = StoreClock(elapsed: { .zero }, now: { date })
        let rules = TokenRules(keySet: path, issuer: Self.issuer, audience: audience)
        let gate = try await Gate(
            StoreAccess(store: Store(.memory, options: options)),
            .tokens(rules),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        return try await gate.principal([.authorization: "Bearer \(token)"])
    }
}
