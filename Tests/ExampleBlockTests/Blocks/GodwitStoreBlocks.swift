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

// Sources/GodwitStore/Store+Transactions.swift, block 1
enum Sources_GodwitStore_Store_Transactions_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        try await pool.write { database in
            try invoice.insert(database)
            try store.write(in: database) { try $0.enqueue(SendInvoice(id: invoice.id)) }
        }
    }
}

// Sources/GodwitStore/Store.swift, block 1
enum Sources_GodwitStore_Store_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let store = try Store(.file("/tmp/shop.godwit"))
        let items = Store.Collection<Item>("items")
        try await store.write { transaction in
            try transaction.set(Item(name: "Bread"), for: "bread", in: items)
        }
        let bread = try await store.read { try $0.get("bread", in: items) }
    }
}

// Sources/GodwitStore/Store.swift, block 2
enum Sources_GodwitStore_Store_2 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let store = try Store(adopting: pool)
        try await store.write { transaction in
            try transaction.set(order, for: "12", in: orders)
            try invoice.insert(transaction.database)
        }
    }
}
