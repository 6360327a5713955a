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

// Sources/GodwitStore/Commit/ChangeSets.swift, block 1
enum Sources_GodwitStore_Commit_ChangeSets_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        for await changes in store.changes() {
            print(changes.last, changes.updated)
        }
    }
}
