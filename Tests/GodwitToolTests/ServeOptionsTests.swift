import ArgumentParser
import Foundation
import GodwitServer
import GodwitTestKit
import GodwitTree
import Logging
import Testing

@testable import GodwitTool

/// Where the options of a server come from, and which are refused.
@Suite struct ServeOptionsTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func file(_ text: String) throws -> String {
        let path = folder.path("server.json")
        try Data(text.utf8).write(to: URL(filePath: path))
        return path
    }

    private func resolved(
        _ arguments: [String],
        _ environment: [String: String] = [:]
    ) throws -> ServeOptions {
        try Serve.parse(arguments).resolved(environment)
    }

    @Test func `arguments come before the environment, and it before the file`() throws {
        let path = try file(
            #"{"port": 1, "store": "file.sqlite", "host": "localhost", "rate": 2.5, "keys": true, "#
                + #""allow-host": ["a.example", "b.example"], "log-format": "json"}"#
        )
        let environment = [
            "GODWIT_PORT": "2", "GODWIT_STORE": "env.sqlite", "GODWIT_HOST": "", "PORT": "9",
        ]
        let options = try resolved(["--config", path, "--port", "3"], environment)
        #expect(options.port == 3)
        #expect(options.store == "env.sqlite")
        #expect(options.host == "localhost")
        #expect(options.access == .keys)
        #expect(options.allowHost == ["a.example", "b.example"])
        #expect(options.limits.requestRate == 2.5 && options.limits.requestBurst == 100)
        #expect(options.logFormat == .json)
    }

    @Test func `options that belong together may come from several places`() throws {
        let path = try file(#"{"keys": true, "verbose": true, "audience": "app"}"#)
        let options = try resolved(
            ["--config", path, "--issuer", "me"],
            ["GODWIT_JWKS": "j", "GODWIT_KEYS": "false"]
        )
        let rules = TokenRules(keySet: "j", issuer: "me", audience: "app")
        #expect(options.access == .tokens(rules) && options.verbose == true)
        let quiet = try resolved(["--config", path, "--no-verbose", "--jwks=j", "--issuer=me"])
        #expect(quiet.access == .keysAndTokens(rules) && quiet.verbose == false)
        #expect(throws: (any Error).self) { try resolved(["--config", path]) }
    }

    @Test func `each option can be given in each place`() throws {
        let values = [
            "port": "7", "store": "s", "database": "postgres://a@b/c", "host": "h", "keys": "true",
            "jwks": "j", "issuer": "i", "audience": "a", "tls-certificate": "c", "tls-key": "k",
            "allow-host": "x", "forget-after": "5", "rate": "2", "burst": "3",
            "max-clients": "4", "max-replica-bytes": "8",
            "allow-origin": "https://x", "max-replicas": "6", "audit-log": "l",
            "log-format": "json", "verbose": "true", "demo": "false",
        ]
        #expect(values.keys.sorted() == ServeOptions.names.sorted())
        let flags: Set = ["keys", "verbose", "demo"]
        let arguments = values.map { name, text in
            flags.contains(name)
                ? text == "true" ? "--\(name)" : "--no-\(name)" : "--\(name)=\(text)"
        }
        let environment = Dictionary(
            uniqueKeysWithValues: values.map {
                ("GODWIT_" + $0.uppercased().replacing("-", with: "_"), $1)
            }
        )
        let members = values.sorted { $0.key < $1.key }.map { name, text in
            let isText = !flags.contains(name) && Double(text) == nil
            return name.hasPrefix("allow-")
                ? "\"\(name)\": [\"\(text)\"]" : "\"\(name)\": \(isText ? "\"\(text)\"" : text)"
        }
        let path = try file("{" + members.joined(separator: ", ") + "}")
        let all = [
            try resolved(arguments), try resolved([], environment),
            try resolved(["--config", path]),
        ]
        for options in all {
            #expect(options.port == 7 && options.store == "s" && options.host == "h")
            #expect(options.database.address == "postgres://a@b/c")
            #expect(options.clientSilenceMax == .seconds(5 * 86_400))
            let rules = TokenRules(keySet: "j", issuer: "i", audience: "a")
            #expect(options.access == .keysAndTokens(rules))
            #expect(options.tls == TLSFiles(certificates: "c", privateKey: "k"))
            #expect(options.limits.requestRate == 2 && options.limits.requestBurst == 3)
            #expect(options.limits.clientMax == 4 && options.logFormat == .json)
            #expect(options.allowHost == ["x"] && options.verbose == true)
            #expect(options.allowOrigin == ["https://x"] && options.auditLog == "l")
            #expect(options.demo == false && options.limits.replicaMax == 6)
            #expect(options.limits.replicaSizeMax == 8)
        }
    }

    @Test func `a list that everybody may edit is for a server that lets everybody in`() throws {
        #expect(try resolved(["--demo"]).demo == true)
        #expect(throws: (any Error).self) { try resolved(["--demo", "--keys"]) }
    }

    @Test(arguments: [
        (#"{"prot": 7007}"#, "prot"), (#"{"keys": "yes"}"#, "true or false"),
        (#"{"port": [1]}"#, "text or a number"), (#"{"port": "x"}"#, "port"), ("[]", "no map"),
        (#"{"allow-host": ["a.example"]}"#, "--allow-host publishes"), ("{", "no JSON"),
        (#"{"tls-key": "k"}"#, "need each other"), (#"{"burst": 3}"#, "--burst needs --rate"),
        (#"{"allow-host": []}"#, "list of texts"),
        (#"{"allow-host": ["a", 1]}"#, "list of texts"),
    ])
    func `a file that says nothing a server can do is refused with the reason`(
        _ text: String,
        _ reason: String
    ) throws {
        let path = try file(text)
        #expect {
            try resolved(["--config", path])
        } throws: { error in
            Serve.message(for: error).contains(reason)
        }
    }

    @Test func `a message of the log is one line of JSON, whatever it has`() throws {
        var log = JSONLog(label: "godwit")
        log[metadataKey: "path"] = "/v1"
        let event = LogEvent(
            level: .notice,
            message: "a \"quote\"\nand a line",
            metadata: ["level": "fake", "n": "1"],
            source: "s",
            file: "f",
            function: "g",
            line: 1
        )
        let line = log.line(event, at: Date(timeIntervalSince1970: 1_800_000_000.25))
        #expect(!line.contains("\n"))
        let expected: Value = [
            "time": "2027-01-15T08:00:00.250Z", "level": "notice", "label": "godwit",
            "message": "a \"quote\"\nand a line", "path": "/v1", "n": "1",
        ]
        #expect(try Value(json: Array(line.utf8)) == expected)
    }
}
