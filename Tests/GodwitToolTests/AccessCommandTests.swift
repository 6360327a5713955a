import Foundation
import GodwitConnectors
import GodwitReplication
import GodwitTestKit
import GodwitTree
import Testing

/// `godwit key`, `godwit token` and `godwit serve` with access control, called as a person would call
/// them.
@Suite struct AccessCommandTests {
    private let folder: TemporaryFolder
    private let name: ReplicaName

    init() throws {
        folder = try TemporaryFolder()
        name = ReplicaName("acme.list")
    }

    private var store: String { folder.path("server.sqlite") }

    @Test func `keys are made, listed and revoked while the server runs`() async throws {
        let server = try ServerProcess(store: store, ["--keys"])
        let made = try Godwit.run("key", "new", "phone", "--store", store, "--create", "acme.*")
        #expect(made.status == 0, "\(made.errors)")
        let token = made.output.trimmingCharacters(in: .whitespacesAndNewlines)
        let transport = try HTTPTransport(server: server.url, token: token)
        try await transport.create(name)

        let json = try Value(json: Godwit.run("key", "ls", "--store", store, "--json").output)
        #expect(json.list?.count == 1 && json.list?[0]["rights"] == ["create": ["acme.*"]])
        let id = try #require(json.list?[0]["id"]?.text)
        #expect(made.errors.contains(id) && !made.output.isEmpty)
        let list = try Godwit.run("key", "ls", "--store", store)
        #expect(list.output.contains("create acme.*") && !list.output.contains(token.suffix(43)))

        let revoked = try Godwit.run("key", "revoke", id, "--store", store, "--json")
        #expect(try Value(json: revoked.output) == ["revoked": .string(Key(id))])
        await #expect(throws: ConnectorError.self) { try await transport.create(name) }
        let again = try Godwit.run("key", "revoke", id, "--store", store)
        #expect(again.status == 1 && again.errors.contains("godwit key ls"))
        #expect(server.terminate() == 0)
    }

    @Test func `a key that is printed as JSON has all that is known of it`() throws {
        let made = try Value(
            json: Godwit.run(
                "key",
                "new",
                "phone",
                "--store",
                store,
                "--read",
                "a",
                "--read",
                "b.*",
                "--expires-in",
                "90d",
                "--json"
            ).output
        )
        #expect(made["name"] == "phone" && made["rights"] == ["read": ["a", "b.*"]])
        #expect(made["token"]?.text?.hasPrefix("godwit_") == true && made["expires"] != nil)
    }

    @Test func `a key for a store that is not there says that it made one`() throws {
        for isNew in [true, false] {
            let made = try Godwit.run("key", "new", "phone", "--store", store, "--read", "*")
            #expect(made.status == 0 && made.errors.contains("made a new store") == isNew)
        }
        let list = try Godwit.run("key", "ls", "--store", folder.path("mistyped.sqlite"))
        #expect(list.status == 1 && list.output.isEmpty)
    }

    @Test func `keys of a server that shares its store with nobody are refused with a next step`()
        throws
    {
        let server = try ServerProcess(store: store)
        let made = try Godwit.run("key", "new", "phone", "--store", store, "--read", "*")
        #expect(made.status == 1 && made.errors.contains("--keys"), "\(made.errors)")
        #expect(try Godwit.run("key", "ls", "--store", store).output == "no keys\n")
        server.kill()
    }

    @Test(arguments: [
        ["key", "new", "phone"], ["key", "new", "phone", "--read", "a*b"],
        ["key", "new", "phone", "--read", "*", "--expires-in", "0d"],
        ["token", "create", "--key", "-", "--subject", "a", "--issuer", "b"],
        ["token", "inspect", "-", "--jwks", "x"], ["serve", "--jwks", "x"],
        ["serve", "--audience", "x"], ["serve", "--tls-key", "x"],
        ["serve", "--tls-certificate", "x"],
    ])
    func `misuse is exit code 64`(_ arguments: [String]) throws {
        #expect(try Godwit.run(arguments).status == 64)
    }

    @Test func `a server without access control does not listen on the network`() throws {
        let serve = try Godwit.run("serve", "--host", "0.0.0.0", "--port", "0", "--store", store)
        #expect(serve.status == 1 && serve.output.isEmpty)
        #expect(serve.errors.contains("godwit key new"), "\(serve.errors)")
        #expect(!FileManager.default.fileExists(atPath: store))
    }

    @Test func `a token that the tool has signed lets its holder in`() async throws {
        let key = #"{"kty": "oct", "kid": "1", "k": "\#(String(repeating: "A", count: 43))"}"#
        try folder.write(key, to: "private.jwk")
        try folder.write(#"{"keys": [\#(key)]}"#, to: "jwks.json")
        let rules = ["--jwks", folder.path("jwks.json"), "--issuer", "me"]
        let create = [
            "token", "create", "--key", folder.path("private.jwk"), "--subject", "ann",
            "--issuer", "me", "--create", "acme.*",
        ]
        let token = try Godwit.run(create).output
        let inspected = try Godwit.run(["token", "inspect", "-", "--json"] + rules, input: token)
        let value = try Value(json: inspected.output)
        #expect(inspected.status == 0 && value["isAccepted"] == true)
        #expect(value["claims"]?["godwit"] == ["create": ["acme.*"]])

        let other = try Godwit.run(create.dropLast(4) + ["--issuer", "you", "--read", "*"]).output
        let refused = try Godwit.run(["token", "inspect", "-"] + rules, input: other)
        #expect(refused.status == 2 && refused.output.contains("refused: it is of another issuer"))
        #expect(try Godwit.run(["token", "inspect", "-"], input: other).status == 0)
        #expect(try Godwit.run(["token", "inspect", "-"], input: "x.y").status == 1)

        let server = try ServerProcess(store: store, rules)
        let text = token.trimmingCharacters(in: .whitespacesAndNewlines)
        try await HTTPTransport(server: server.url, token: text).create(name)
        #expect(server.terminate() == 0)
    }

    @Test func `each command shows examples`() throws {
        for command in ["key", "key new", "key ls", "key revoke", "token create", "token inspect"] {
            let help = try Godwit.run(command.split(separator: " ").map(String.init) + ["--help"])
            #expect(help.status == 0 && help.output.contains("EXAMPLES"), "\(command)")
        }
    }
}
