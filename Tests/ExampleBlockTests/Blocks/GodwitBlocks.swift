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

// Documentation/Godwit.docc/Godwit.md, block 1
enum Documentation_Godwit_docc_Godwit_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let store = try Store(.file(path))
        let connector = try ReplicaConnector(store, transport: transport)
        let shopping = try await connector.open("shopping", collections: items)
        async let syncing: Void = connector.run()
        try await store.write { transaction in
            try transaction.set(Item(name: "Wine"), for: "wine", in: items)
        }
    }
}

// Sources/Godwit/Live.swift, block 1
enum Sources_Godwit_Live_1 {
    struct ShoppingScreen: View {
        @Live({ LiveQuery(items.order(by: \.name), in: $0) }) var list

        var body: some View {
            List(list.rows) { row in Text(row.object.name) }
        }
    }
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        ShoppingScreen().environment(\.godwitStore, store)
    }
}
