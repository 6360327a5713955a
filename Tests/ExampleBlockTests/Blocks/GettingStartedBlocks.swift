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

// Documentation/getting-started.md, block 2
enum Documentation_getting_started_2 {
    struct Item: Codable, Identifiable, Sendable {
        var id = UUID()
        var name: String
        var isCrossed = false
    }
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let items = Store.Collection<Item>("items")
        let openItems = items.where(\.isCrossed, .equal(false)).order(by: \.name)
    }
}

// Documentation/getting-started.md, block 3
enum Documentation_getting_started_3 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let store = try Store(.file(CommandLine.arguments[1]))
    }
}

// Documentation/getting-started.md, block 4
enum Documentation_getting_started_4 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let transport = try HTTPTransport(server: "http://127.0.0.1:7007")
        let connector = try ReplicaConnector(store, transport: transport)
        let shopping = try await connector.open("shopping", collections: items)
        let syncing = Task.detached { try await connector.run() }
    }
}

// Documentation/getting-started.md, block 5
enum Documentation_getting_started_5 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let showing = Task.detached {
            for try await rows in store.values(of: openItems) {
                print("To buy:", rows.map(\.object.name).joined(separator: ", "))
            }
        }
        while let line = readLine() {
            let name = line.trimmingCharacters(in: ["-", " "])
            try await store.write { transaction in
                if line.hasPrefix("-") {
                    for row in try transaction.objects(openItems.where(\.name, .equal(name))) {
                        try transaction.edit(row.key, in: items) { $0.isCrossed = true }
                    }
                } else {
                    try transaction.set(Item(name: name), in: items)
                }
            }
        }
    }
}
