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

// Sources/GodwitServer/Access/APIKeys.swift, block 1
enum Sources_GodwitServer_Access_APIKeys_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let keys = try APIKeys(store)
        let made = try await keys.create("phone", rights: Rights([.write: [try ReplicaPattern("acme.*")]]))
        print(made.token)                      // shown once: the store has its hash
        try await keys.revoke(made.key.id)     // takes effect on the next request
    }
}

// Sources/GodwitServer/Access/AccessControl.swift, block 1
enum Sources_GodwitServer_Access_AccessControl_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let store = try Store(.file("/var/lib/godwit/server.sqlite"))
        let made = try await APIKeys(store).create("phone", rights: Rights([.create: [.all]]))
        let options = SyncOptions(access: .keys)
        try await SyncServer(store: store, host: "0.0.0.0", options: options).run()
    }
}

// Sources/GodwitServer/Access/ReplicaPattern.swift, block 1
enum Sources_GodwitServer_Access_ReplicaPattern_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let acme = try ReplicaPattern("acme.*")
        acme.matches(ReplicaName("acme.orders"))   // true
        acme.matches(ReplicaName("acme2.orders"))  // false
    }
}

// Sources/GodwitServer/Access/Rights.swift, block 1
enum Sources_GodwitServer_Access_Rights_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let rights = Rights([.write: [try ReplicaPattern("acme.*")]])
        rights.allows(.read, ReplicaName("acme.orders"))    // true
        rights.allows(.create, ReplicaName("acme.orders"))  // false
    }
}

// Sources/GodwitServer/Access/TokenRules.swift, block 1
enum Sources_GodwitServer_Access_TokenRules_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        var rules = TokenRules(keySet: "/etc/godwit/jwks.json", issuer: "https://id.example.com")
        rules.audience = "godwit"
    }
}

#if PostgreSQL
import GodwitPostgreSQL

// Sources/GodwitServer/Copy/ServerCopy.swift, block 1
enum Sources_GodwitServer_Copy_ServerCopy_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let address = try PostgreSQLAddress("postgres://godwit@db.example.com/sync")
        let copy = ServerCopy(store: store, database: PostgreSQLDatabase(address))
        try await copy.run(.toDatabase) { print("\($0.replica): \($0.rowCount) rows") }
    }
}
#endif

// Sources/GodwitServer/Limits/ServerLimits.swift, block 1
enum Sources_GodwitServer_Limits_ServerLimits_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        var options = SyncOptions(access: .keys)
        options.limits.requestRate = 50
        try await SyncServer(store: store, options: options).run()
    }
}

// Sources/GodwitServer/Metrics/PrometheusMetrics.swift, block 1
enum Sources_GodwitServer_Metrics_PrometheusMetrics_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        var options = SyncOptions()
        options.metrics = PrometheusMetrics()
        let server = SyncServer(store: store, options: options)
        try await server.run()
    }
}

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

// Sources/GodwitServer/TLS/TLSFiles.swift, block 1
enum Sources_GodwitServer_TLS_TLSFiles_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let tls = TLSFiles(certificates: "/etc/godwit/fullchain.pem", privateKey: "/etc/godwit/privkey.pem")
        try await SyncServer(
            store: store,
            host: "0.0.0.0",
            options: SyncOptions(access: .keys),
            tls: tls
        ).run()
    }
}
