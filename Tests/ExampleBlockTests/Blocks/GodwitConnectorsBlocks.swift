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

// Sources/GodwitConnectors/HTTP/HTTPTransport.swift, block 1
enum Sources_GodwitConnectors_HTTP_HTTPTransport_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let transport = try HTTPTransport(server: "https://sync.example.com", token: "…")
        try await transport.create(ReplicaName("shopping"))
    }
}

// Sources/GodwitConnectors/HTTP/HTTPTransport.swift, block 2
enum Sources_GodwitConnectors_HTTP_HTTPTransport_2 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let transport = try HTTPTransport(server: "https://sync.example.com") {
            try await session.freshToken()
        }
    }
}

// Sources/GodwitConnectors/Inbox/ConflictInbox.swift, block 1
enum Sources_GodwitConnectors_Inbox_ConflictInbox_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let inbox = ConflictInbox(of: contacts, in: store)
        List(inbox.conflicts) { conflict in
            Button("Take \(conflict.other?.name ?? "the removal")") {
                Task { try await inbox.resolve(conflict, .takeOther) }
            }
        }
    }
}

// Sources/GodwitConnectors/Inbox/ObjectConflict.swift, block 1
enum Sources_GodwitConnectors_Inbox_ObjectConflict_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        for conflict in try await store.read({ try $0.conflicts(in: contacts) }) {
            print(conflict.key, conflict.current?.name ?? "removed", conflict.other?.name ?? "removed")
            try await store.write { try $0.resolve(conflict, in: contacts, .takeOther) }
        }
    }
}

// Sources/GodwitConnectors/Sync/LiveReplica.swift, block 1
enum Sources_GodwitConnectors_Sync_LiveReplica_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let sync = LiveReplica(shopping, of: connector)
        Text(sync.status.isConnected ? "\(sync.pendingCount) to send" : "Offline")
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
