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

// Sources/GodwitStore/Database/StoreMigration.swift, block 1
enum Sources_GodwitStore_Database_StoreMigration_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        var options = Store.Options()
        options.migrations = [
            .sql("create price", "CREATE TABLE price (item TEXT PRIMARY KEY, amount INTEGER NOT NULL) STRICT"),
            .change("price in cents") { try $0.execute(sql: "UPDATE price SET amount = amount * 100") },
        ]
        let store = try Store(.file(path), options: options)
    }
}
