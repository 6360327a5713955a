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

// Sources/GodwitServer/SyncOptions.swift, block 1
import Logging
enum Sources_GodwitServer_SyncOptions_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        var options = SyncOptions(access: .keys)
        options.allowedOrigins = ["https://app.example.com"]
        options.limits.requestRate = 50
        options.auditLogger = Logger(label: "com.example.audit")
        try await SyncServer(store: store, host: "0.0.0.0", options: options).run()
    }
}

// Sources/GodwitServer/SyncRoutes.swift, block 1
import Hummingbird
enum Sources_GodwitServer_SyncRoutes_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let options = SyncOptions(access: .keys)
        let sync = try await SyncRoutes(store: store, host: "0.0.0.0", options: options)
        let router = Router()
        router.get("/") { _, _ in "hello" }
        sync.add(to: router, at: "/sync")
        var application = Application(router: router, configuration: .init(address: .hostname("0.0.0.0")))
        application.addServices(sync)
        try await application.runService()
    }
}

#if PostgreSQL
import GodwitPostgreSQL

// Sources/GodwitServer/SyncServer+PostgreSQL.swift, block 1
enum Sources_GodwitServer_SyncServer_PostgreSQL_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let address = try PostgreSQLAddress("postgres://godwit@db.example.com/sync")
        let server = SyncServer(database: PostgreSQLDatabase(address), options: SyncOptions(access: .keys))
        try await server.run()
    }
}
#endif

// Sources/GodwitServer/SyncServer.swift, block 1
enum Sources_GodwitServer_SyncServer_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let server = SyncServer(store: try Store(.file("/var/lib/godwit/server.sqlite")), port: 7007)
        try await server.run()
    }
}
