import Foundation
import GodwitTestKit
import Testing

@testable import GodwitServer

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Requests of web pages, which say where they are from.
@Suite struct OriginCheckTests {
    private let server: AccessServer
    private let app = "https://app.example.com"

    init() throws { server = try AccessServer() }

    private func ask(
        _ method: String,
        _ headers: [String: String]
    ) async throws -> HTTPURLResponse {
        let url = try #require(URL(string: server.url + "/v1/replicas/shopping"))
        var request = URLRequest(url: url)
        request.httpMethod = method
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        let (_, response) = try await URLSession.shared.data(for: request)
        return try #require(response as? HTTPURLResponse)
    }

    @Test func `a browser is told that a page of a named origin may use the server`() async throws {
        let key = try await server.key("page", [.create: "*"])
        try await server.serving(origins: ["HTTPS://App.Example.com:443"]) {
            // The preflight request of the Fetch standard has no token.
            let asked = try await ask(
                "OPTIONS",
                ["Origin": app, "Access-Control-Request-Method": "PUT"]
            )
            #expect(asked.statusCode == 204)
            #expect(asked.value(forHTTPHeaderField: "access-control-allow-origin") == app)
            let methods = asked.value(forHTTPHeaderField: "access-control-allow-methods")
            #expect(methods == "GET, POST, PUT")
            let names = asked.value(forHTTPHeaderField: "access-control-allow-headers") ?? ""
            #expect(
                names.split(separator: ", ") == [
                    "accept", "authorization", "content-type", "godwit-client", "last-event-id",
                    "traceparent", "tracestate",
                ]
            )
            let exposed = asked.value(forHTTPHeaderField: "access-control-expose-headers")
            #expect(exposed == "retry-after, x-request-id")
            let made = try await ask(
                "PUT",
                ["Origin": app, "Authorization": "Bearer \(key.token)"]
            )
            #expect(made.statusCode == 200)
            #expect(made.value(forHTTPHeaderField: "access-control-allow-origin") == app)
            #expect(made.value(forHTTPHeaderField: "vary") == "origin")
            // A page can read why it was refused, too.
            let refused = try await ask("GET", ["Origin": app])
            #expect(refused.statusCode == 401)
            #expect(refused.value(forHTTPHeaderField: "access-control-allow-origin") == app)
        }
    }

    @Test(arguments: [
        "https://evil.example", "http://app.example.com", "https://app.example.com:8443", "null",
        "https://app.example.com.evil.example", "",
    ])
    func `a page of another origin is refused, whatever it has`(_ origin: String) async throws {
        let key = try await server.key("page", [.create: "*"])
        try await server.serving(origins: [app]) {
            let headers = ["Origin": origin, "Authorization": "Bearer \(key.token)"]
            for method in ["PUT", "GET"] {
                let answer = try await ask(method, headers)
                #expect(answer.statusCode == 403, "\(method)")
                #expect(answer.value(forHTTPHeaderField: "access-control-allow-origin") == nil)
            }
            let asked = try await ask(
                "OPTIONS",
                ["Origin": origin, "Access-Control-Request-Method": "PUT"]
            )
            #expect(asked.statusCode == 403)
        }
    }

    @Test func `a page of the server itself, and an app, need no permission`() async throws {
        let key = try await server.key("page", [.create: "*"])
        try await server.serving {
            let token = ["Authorization": "Bearer \(key.token)"]
            let own = token.merging(["Origin": server.url]) { $1 }
            for headers in [token, own] {
                let answer = try await ask("PUT", headers)
                #expect(answer.statusCode == 200, "\(headers.keys)")
                #expect(answer.value(forHTTPHeaderField: "access-control-allow-origin") == nil)
            }
        }
    }

    @Test
    func `a page under a name of the server is its own, although a proxy has changed the name`()
        async throws
    {
        let key = try await server.key("page", [.create: "*"])
        try await server.serving(hosts: ["sync.example.com"]) {
            let token = ["Authorization": "Bearer \(key.token)"]
            for (origin, status) in [
                ("https://sync.example.com", 200), ("https://other.example.com", 403),
            ] {
                let answer = try await ask("PUT", token.merging(["Origin": origin]) { $1 })
                #expect(answer.statusCode == status, "\(origin)")
            }
        }
    }

    @Test func `a method that no route has is answered as before, also for a named origin`()
        async throws
    {
        try await server.serving(origins: [app]) {
            for method in ["OPTIONS", "DELETE"] {
                let answer = try await ask(method, ["Origin": app])
                #expect(answer.statusCode == 404, "\(method)")
            }
        }
    }

    @Test(arguments: [
        "app.example.com", "https://", "https://app.example.com/", "https://a.example/path", "*",
        "file://", "https://ann@a.example", "null", "",
    ])
    func `a server does not start with an origin that no page has`(_ origin: String) async throws {
        await #expect(throws: AccessError.invalidOrigin(origin)) {
            try await server.serving(origins: [origin]) {}
        }
    }

    @Test func `an origin is compared as browsers write it`() {
        #expect(OriginCheck.normal("HTTP://Localhost:80") == "http://localhost")
        #expect(OriginCheck.normal("http://localhost:5173") == "http://localhost:5173")
        #expect(OriginCheck.normal("https://a.example:80") == "https://a.example:80")
        #expect(OriginCheck.normal("http://[::1]:5173") == "http://[::1]:5173")
        for spelling in ["https://xn--mnchen-3ya.example", "https://m\u{fc}nchen.example"] {
            #expect(OriginCheck.normal(spelling) == "https://xn--mnchen-3ya.example")
        }
        #expect(OriginCheck.normal("capacitor://localhost") == "capacitor://localhost")
    }
}
