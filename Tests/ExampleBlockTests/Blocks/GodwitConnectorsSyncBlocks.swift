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

// Sources/GodwitConnectors/Sync/LiveReplica.swift, block 1
enum Sources_GodwitConnectors_Sync_LiveReplica_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let sync = LiveReplica(shopping, of: connector)
        Text(sync.status.isConnected ? "\(sync.pendingCount) to send" : "Offline")
    }
}

// Sources/GodwitConnectors/Sync/ReplicaConnector+LastChanges.swift, block 1
enum Sources_GodwitConnectors_Sync_ReplicaConnector_LastChanges_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let key = items.place("milk")
        let changes = try await connector.lastChanges(of: [key], in: "shopping")
        if let change = changes[key] { print(change.client, change.date) }
    }
}

// Sources/GodwitConnectors/Sync/ReplicaConnector.swift, block 1
enum Sources_GodwitConnectors_Sync_ReplicaConnector_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let connector = try ReplicaConnector(store, transport: HTTPTransport(server: address))
        let shopping = try await connector.open(ReplicaName("shopping"), collections: ["lists"])
        try await connector.run()
    }
}

// Sources/GodwitConnectors/Sync/ReplicaConnector.swift, block 2
enum Sources_GodwitConnectors_Sync_ReplicaConnector_2 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        var options = ReplicaConnector.Options()
        options.hasOwnQueue = false
        let connector = try ReplicaConnector(store, transport: transport, options: options)
        let queue = try PushQueue(store, pipelines: [uploads, connector.pipeline])
    }
}

// Sources/GodwitConnectors/Sync/ReplicaConnector.swift, block 3
enum Sources_GodwitConnectors_Sync_ReplicaConnector_3 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let shopping = try await connector.open("shopping", collections: items, lists)
    }
}

// Sources/GodwitConnectors/Sync/ReplicaConnector.swift, block 4
enum Sources_GodwitConnectors_Sync_ReplicaConnector_4 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        try await connector.leave(shopping.name, removingObjects: true)   // signs out
    }
}
