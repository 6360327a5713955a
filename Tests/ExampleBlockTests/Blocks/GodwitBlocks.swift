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
        let shopping = try await connector.open(ReplicaName("shopping"), collections: ["items"])
        async let syncing: Void = connector.run()
        try await store.write { transaction in
            try transaction.set(Item(name: "Wine"), for: "wine", in: items)
        }
    }
}
