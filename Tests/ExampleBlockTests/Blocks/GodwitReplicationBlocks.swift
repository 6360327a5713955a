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

// Sources/GodwitReplication/Graph/StateGraph.swift, block 1
enum Sources_GodwitReplication_Graph_StateGraph_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        var graph = StateGraph(named: "groceries")
        let first = try graph.commit(["items": [["name": "Bread"]]])
        try graph.setRef("phone", to: first.head)
        try graph.commit(["items": [["name": "Bread"], ["name": "Wine"]]])
        try graph.update(for: "phone").delta.ednText()   // {:items {:+ {1 {:name "Wine"}}}}
        graph.collect()                                  // folds what no client has
    }
}

// Sources/GodwitReplication/Range/DownloadProgress.swift, block 1
enum Sources_GodwitReplication_Range_DownloadProgress_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        for await status in connector.statuses(of: replica.name) {
            progressView.progress = status.download?.fractionCompleted ?? 1
        }
    }
}

// Sources/GodwitReplication/Replica/Replica+Conflicts.swift, block 1
enum Sources_GodwitReplication_Replica_Replica_Conflicts_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        for record in try await replica.conflicts() {
            for (id, conflict) in record.conflicts where conflict.choice == .theirs {
                try await store.write {
                    try replica.resolve(id, about: record.object, .takeOther, in: $0)
                }
            }
        }
    }
}

// Sources/GodwitReplication/Replica/Replica+Undo.swift, block 1
enum Sources_GodwitReplication_Replica_Replica_Undo_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let replica = try await connector.open(name, collections: ["lists"], undoCountMax: 50)
        try await store.write { try replica.undo(in: $0) }
    }
}

// Sources/GodwitReplication/Replica/Replica.swift, block 1
enum Sources_GodwitReplication_Replica_Replica_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let connector = try ReplicaConnector(store, transport: transport)
        let shopping = try await connector.open("shopping", collections: items)
    }
}

// Sources/GodwitReplication/Server/ReplicaServer.swift, block 1
enum Sources_GodwitReplication_Server_ReplicaServer_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let server = try await ReplicaServer(Store(.file("server.sqlite")))
        let shopping = ReplicaName("shopping")
        try await server.create(shopping)
        let answer = try await server.answer(message, from: client, of: shopping)
    }
}
