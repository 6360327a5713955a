import Foundation
import GodwitConnectors
import GodwitReplication
import GodwitStore
import GodwitTestKit
import GodwitTree
import Testing

@testable import GodwitServer

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The dashboard in Chromium.
@Suite(.timeLimit(.minutes(Soak.minutesMax))) struct DashboardTests {
    private let server: AccessServer

    init() throws { server = try AccessServer() }

    /// The page, as it is four seconds after it was opened.
    private func page(_ hash: String) async throws -> String {
        let profile = server.folder.path("profile")
        let text = try await output(
            of: "chromium",
            [
                "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                "--user-data-dir=\(profile)",
                "--virtual-time-budget=4000", "--dump-dom", server.url + "/dashboard" + hash,
            ]
        )
        return text.replacing(/\s+/, with: " ")
    }

    @Test func `it shows the replicas of the server, and the devices of the one that is selected`()
        async throws
    {
        try await server.serving(.open) {
            let transport = try HTTPTransport(server: server.url)
            let names = try ["notes", "shopping"].map { try ReplicaName($0) }
            for name in names { try await transport.create(name) }
            let store = try Store(.memory)
            let device = try ReplicaConnector(store, transport: transport)
            let replica = try await device.open(names[1], collections: ["lists"])
            let lists = Store.Collection<String>("lists")
            try await store.write { try $0.set("bread", for: "a", in: lists) }
            try await device.synchronize(names[1])
            let client = try await replica.status().client
            let page = try await page("#shopping")
            #expect(page.contains("The server works."))
            let row = ##"<a href="#notes">notes</a></td><td>0</td><td>0</td><td>0</td>"##
            #expect(page.contains(row))
            let current =
                ##"<tr aria-current="true"><td><a href="#shopping">shopping</a></td>"##
                + "<td>1</td><td>1</td><td>1</td>"
            #expect(page.contains(current))
            let listed = #"<td class="id">\#(client)</td><td>–</td><td>0</td>"#
            #expect(page.contains(listed), "\(page)")
            #expect(page.contains("<td>exchange</td>") && page.contains(/Devices that follow: \d/))
        }
    }

    @Test func `it asks for a key where the server does, and shows nothing before`() async throws {
        let root = try await server.key("root", [.create: "*"])
        try await server.serving {
            #expect(try await server.ask(.create, root.token).status == 200)
            let page = try await page("#shopping")
            #expect(page.contains("This server asks for a key"))
            #expect(page.contains(#"<form id="signin">"#))
            #expect(page.contains(#"<div id="content" hidden="">"#))
            #expect(!page.contains(##"<a href="#shopping">"##))
        }
    }

    @Test func `the page runs no script but its own, and stands in no frame`() async throws {
        try await server.serving {
            let url = try #require(URL(string: server.url + "/dashboard"))
            let (data, response) = try await URLSession.shared.data(from: url)
            let http = try #require(response as? HTTPURLResponse)
            let policy = try #require(http.value(forHTTPHeaderField: "content-security-policy"))
            for rule in ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"] {
                #expect(policy.split(separator: "; ").contains { $0 == rule }, "\(policy)")
            }
            let page = String(decoding: data, as: UTF8.self)
            #expect(page.firstMatch(of: /<script(?![^>]*src=)|<style| style=| on[a-z]+=/) == nil)
        }
    }
}
