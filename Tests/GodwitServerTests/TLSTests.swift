import Foundation
import GodwitConnectors
import GodwitReplication
import GodwitTestKit
import Testing

@testable import GodwitServer

/// A server with a certificate, whose files change while it runs; and clients that say nothing.
@Suite(.timeLimit(.minutes(Soak.minutesMax))) struct TLSTests {
    private let server: AccessServer
    private let name: ReplicaName
    private let tls: TLSFiles

    init() throws {
        server = try AccessServer()
        server.clock.set(to: Date())
        name = ReplicaName("shopping")
        tls = TLSFiles(
            certificates: server.folder.path("chain.pem"),
            privateKey: server.folder.path("key.pem")
        )
    }

    private static func certificate(_ name: String) -> String {
        URL(filePath: #filePath).appending(path: "../Certificates/\(name)").standardized.path
    }

    /// Puts a certificate of the tests in the place of the server's, or its key, or both.
    private func install(certificate: String? = nil, key: String? = nil) throws {
        for (source, target) in [(certificate, tls.certificates), (key, tls.privateKey)] {
            guard let source else { continue }
            let data = try Data(contentsOf: URL(filePath: Self.certificate(source)))
            try data.write(to: URL(filePath: target), options: .atomic)
        }
    }

    /// A request over a connection of its own, by a client that trusts a root.
    private func connect(trusting root: String?, _ number: Int) async throws {
        let key = try await server.key("phone", [.create: "*"])
        // Clients with other timeouts share no connections.
        var timeouts = HTTPTransport.Timeouts()
        timeouts.connect = .seconds(10) + .milliseconds(number)
        let transport = try HTTPTransport(
            server: server.url,
            token: key.token,
            timeouts: timeouts,
            rootCertificates: root.map(Self.certificate)
        )
        try await transport.create(name)
    }

    @Test func `a client that trusts the certificate is served, and another one is told why not`()
        async throws
    {
        try install(certificate: "first.pem", key: "first.key")
        try await server.serving(tls: tls) {
            try await connect(trusting: "first-root.pem", 1)
            for root in [nil, "second-root.pem"] {
                let error = await error { try await connect(trusting: root, 1) }
                guard case ConnectorError.unreachable(let reason)? = error else {
                    Issue.record("\(String(describing: error)) of a client with \(root ?? "none")")
                    continue
                }
                #expect(reason.lowercased().contains("certificate"), "\(reason)")
            }
            let plain = server.url.replacing("https", with: "http")
            await #expect(throws: ConnectorError.self) {
                try await HTTPTransport(server: plain).create(name)
            }
            try await connect(trusting: "first-root.pem", 2)
        }
    }

    @Test func `a client that speaks HTTP/2 is answered in it, and others in HTTP/1.1`()
        async throws
    {
        try install(certificate: "first.pem", key: "first.key")
        try await server.serving(tls: tls) {
            for (option, version) in [("--http2", "2"), ("--http1.1", "1.1")] {
                let output = try await output(
                    of: "curl",
                    [
                        "--silent", "--max-time", "20", option,
                        "--cacert", Self.certificate("first-root.pem"),
                        "--write-out", "%{http_version} %{http_code}", "--output", "/dev/null",
                        server.url + "/health/ready",
                    ]
                )
                #expect(output == "\(version) 200")
            }
        }
    }

    @Test func `a certificate that is renewed counts for the next connection`() async throws {
        try install(certificate: "first.pem", key: "first.key")
        try await server.serving(tls: tls) {
            try await connect(trusting: "first-root.pem", 10)
            // Between the two steps of a renewal the files do not belong together.
            try install(certificate: "second.pem")
            for number in 11...13 { try await connect(trusting: "first-root.pem", number) }
            let faults = server.log.lines.filter { $0.contains("last good certificate stays") }
            #expect(faults.count == 1, "\(faults)")
            try install(key: "second.key")
            try await connect(trusting: "second-root.pem", 14)
            await #expect(throws: ConnectorError.self) {
                try await connect(trusting: "first-root.pem", 15)
            }
            try FileManager.default.removeItem(atPath: tls.certificates)
            try await connect(trusting: "second-root.pem", 16)
        }
    }

    @Test func `a file that could not be used is looked at again although no stamp tells`()
        async throws
    {
        /// Writes into the files, so that neither size nor number tells, and not the time if it is the same.
        func write(_ certificate: String, _ key: String, at time: Double) throws {
            let date = Date(timeIntervalSince1970: time)
            for (text, path) in [(certificate, tls.certificates), (key, tls.privateKey)] {
                let file = try FileHandle(forWritingTo: URL(filePath: path))
                try file.write(contentsOf: Data(text.utf8))
                try file.close()
                try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path)
            }
        }
        func text(_ name: String) throws -> String {
            try String(contentsOfFile: Self.certificate(name), encoding: .utf8)
        }
        try install(certificate: "first.pem", key: "first.key")
        try write(text("first.pem"), text("first.key"), at: 1_700_000_000)
        try await server.serving(tls: tls) {
            try await connect(trusting: "first-root.pem", 20)
            let none = String(repeating: "-", count: try text("first.pem").utf8.count)
            try write(none, text("first.key"), at: 1_700_000_060)
            for number in 21...23 { try await connect(trusting: "first-root.pem", number) }
            try write(text("second.pem"), text("second.key"), at: 1_700_000_060)
            try await connect(trusting: "second-root.pem", 24)
            let faults = server.log.lines.filter { $0.contains("last good certificate stays") }
            #expect(faults.count == 1, "\(faults)")
        }
    }

    /// A certificate and a key that cannot be used; "" is no file.
    static let unusable = [
        ("first.pem", "second.key"), ("first.key", "first.key"), ("first.pem", "first.pem"),
        ("", "first.key"), ("first.pem", ""),
    ]

    @Test(arguments: unusable)
    func `a server whose certificate cannot be used does not start, and says why`(
        _ certificate: String,
        _ key: String
    ) async throws {
        try install(
            certificate: certificate.isEmpty ? nil : certificate,
            key: key.isEmpty ? nil : key
        )
        guard
            case AccessError.unusableCertificate? = await error({
                try await server.serving(tls: tls) {}
            })
        else {
            Issue.record("the server has started")
            return
        }
    }

    @Test func `a file without root certificates is an error`() async {
        guard
            case ConnectorError.unusableCertificates? = await error({
                _ = try HTTPTransport(server: "https://localhost", rootCertificates: "/nowhere.pem")
            })
        else {
            Issue.record("there is a transport")
            return
        }
    }

    private func error(_ body: () async throws -> Void) async -> (any Error)? {
        do {
            try await body()
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [
        "", "GET /v1/replicas/shopping HTT", "PUT /health HTTP/1.1\r\ncontent-length: 9\r\n\r\na",
    ])
    func `a client that does not go on loses its connection, and a follower keeps it`(
        beginning: String
    ) async throws {
        let key = try await server.key("phone", [.create: "*"])
        try await server.serving(heartbeat: .milliseconds(10), silenceMax: .milliseconds(200)) {
            let transport = try HTTPTransport(server: server.url, token: key.token)
            try await transport.create(name)
            var heads = transport.heads(of: name).makeAsyncIterator()
            let first = try await heads.next()
            let port = try #require(URL(string: server.url)?.port)
            try await SilentClient(port: port, beginning: beginning).waitForEnd()
            // The subscription was silent as long as the other one.
            _ = try await server.ask(.value, key.token)
            #expect(first == .root)
            try await server.keys.revoke(key.key.id)
            #expect(try await heads.next() == nil)
        }
    }
}
