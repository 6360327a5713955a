// swift-format-ignore-file
// Scripts/example-blocks has written this.

import Foundation
import GRDB
import Godwit
import GodwitConnectors
import GodwitQueue
import GodwitReplication
import GodwitServer
import GodwitStore
import GodwitTestKit
import GodwitTree
import GodwitYapDatabase
import Observation
import Testing

// Documentation/server.md, block 1
enum Documentation_server_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let transport = try HTTPTransport(server: "https://sync.example.com", token: key)
        try await transport.create("shopping")
    }
}

// Documentation/server.md, block 2
enum Documentation_server_2 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let store = try Store(.file("/var/lib/godwit/server.sqlite"))
        let made = try await APIKeys(store).create("phones", rights: Rights([.create: ["family.*"]]))
        print(made.token)                        // for the devices; the store has its hash alone
        let server = SyncServer(
            store: store,
            host: "0.0.0.0",
            options: SyncOptions(access: .keys),
            tls: TLSFiles(certificates: "fullchain.pem", privateKey: "privkey.pem")
        )
        try await server.run()
    }
}

// Documentation/server.md, block 3
enum Documentation_server_3 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let (ports, found) = AsyncStream.makeStream(of: Int.self)
        let server = SyncServer(store: try Store(.memory), port: 0) { found.yield($0) }
        async let serving: Void = server.run()
        for await port in ports {
            try await HTTPTransport(server: "http://127.0.0.1:\(port)").create("shopping")
            break
        }
    }
}

// Documentation/server.md, block 4
import Hummingbird
enum Documentation_server_4 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let options = SyncOptions(access: .keys)
        let sync = try await SyncRoutes(store: store, host: "0.0.0.0", options: options)
        let router = Router()
        router.get("/") { _, _ in "the app's own page" }
        sync.add(to: router, at: "/sync")
        var app = Application(router: router, configuration: .init(address: .hostname("0.0.0.0", port: 8080)))
        app.addServices(sync)
        try await app.runService()
    }
}
