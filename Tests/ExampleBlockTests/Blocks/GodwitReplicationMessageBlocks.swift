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

// Sources/GodwitReplication/Message/LastChange.swift, block 1
enum Sources_GodwitReplication_Message_LastChange_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let changes = try await connector.lastChanges(of: [items.place("milk")], in: "shopping")
    }
}
