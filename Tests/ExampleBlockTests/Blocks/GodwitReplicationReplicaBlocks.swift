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
