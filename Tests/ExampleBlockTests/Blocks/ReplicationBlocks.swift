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

// Documentation/replication.md, block 1
enum Documentation_replication_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let transport = try HTTPTransport(server: "https://sync.example.com") { try await session.freshToken() }
        let connector = try ReplicaConnector(store, transport: transport)
        let shopping = try await connector.open("shopping", collections: items, lists)
        try await connector.run()
    }
}

// Documentation/replication.md, block 2
enum Documentation_replication_2 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let sync = LiveReplica(shopping, of: connector)     // observed by a screen
        show(sync.status.isConnected, sync.status.lastSynced, sync.status.lastError)
        show(sync.pendingCount, sync.rejections, sync.refusedByApp)
    }
}

// Documentation/replication.md, block 3
enum Documentation_replication_3 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let commit = try await store.write { transaction in
            try transaction.set(Item(name: "Wine"), for: "wine", in: items)
            return transaction.commit
        }
        try await connector.pushed(through: commit)              // while `run` runs
        try await connector.synchronize(shopping.name)
    }
}

// Documentation/replication.md, block 4
enum Documentation_replication_4 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let key = items.place("wine")
        if let change = try await connector.lastChanges(of: [key], in: "shopping")[key] {
            print("changed by", change.client, "at", change.date)
        }
    }
}

// Documentation/replication.md, block 5
enum Documentation_replication_5 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        connector.close(shopping.name)                                       // until it is opened again
        try await connector.leave(shopping.name)                             // keeps the objects, as the app's own
        try await connector.leave(shopping.name, removingObjects: true)      // signs out
    }
}

// Documentation/replication.md, block 6
enum Documentation_replication_6 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        do {
            try? await connector.synchronize(shopping.name)                      // sends what it can
            try await connector.leave(shopping.name, removingObjects: true)
        } catch ReplicationError.unsentChanges(_, let count) {
            report("\(count) changes were not sent: sign out all the same?")     // then with discardingChanges: true
        }
    }
}

// Documentation/replication.md, block 7
enum Documentation_replication_7 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        var options = ReplicaConnector.Options()
        options.hasOwnQueue = false
        let connector = try ReplicaConnector(store, transport: transport, options: options)
        let queue = try PushQueue(store, pipelines: [uploads, connector.pipeline])
        let shopping = try await connector.open("shopping", collections: items)
        async let running: Void = queue.run()
        async let syncing: Void = connector.run()
    }
}

// Documentation/replication.md, block 8
enum Documentation_replication_8 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        var graph = StateGraph(named: "groceries")
        let first = try graph.commit(["items": [["name": "Bread"]]])
        try graph.setRef("phone", to: first.head)
        try graph.commit(["items": [["name": "Bread"], ["name": "Wine"]]])
        try graph.update(for: "phone").delta.ednText()      // {:items {:+ {1 {:name "Wine"}}}}
    }
}
