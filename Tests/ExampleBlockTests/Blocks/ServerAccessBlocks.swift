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

// Documentation/server-access.md, block 1
enum Documentation_server_access_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let transport = try HTTPTransport(
            server: "https://sync.example.com", token: key, rootCertificates: "/etc/ssl/own-root.pem")
    }
}

// Documentation/server-access.md, block 2
enum Documentation_server_access_2 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let transport = try HTTPTransport(server: "https://sync.example.com", token: key)
    }
}

// Documentation/server-access.md, block 3
enum Documentation_server_access_3 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        var options = Store.Options()
        options.processes = .several
        let store = try Store(.file("/var/lib/godwit/server.sqlite"), options: options)
        let server = SyncServer(store: store, host: "0.0.0.0", options: SyncOptions(access: .keys))
        try await server.run()
    }
}

// Documentation/server-access.md, block 4
enum Documentation_server_access_4 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let transport = try HTTPTransport(server: "https://sync.example.com") { try await session.freshToken() }
    }
}
