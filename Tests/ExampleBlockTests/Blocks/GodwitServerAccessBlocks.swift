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
        let made = try await keys.create("phone", rights: Rights([.write: ["acme.*"]]))
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
        let acme: ReplicaPattern = "acme.*"
        acme.matches(ReplicaName("acme.orders"))   // true
        acme.matches(ReplicaName("acme2.orders"))  // false
    }
}

// Sources/GodwitServer/Access/Rights.swift, block 1
enum Sources_GodwitServer_Access_Rights_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let rights = Rights([.write: ["acme.*"]])
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
