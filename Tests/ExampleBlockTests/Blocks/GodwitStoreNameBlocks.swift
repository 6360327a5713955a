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

// Sources/GodwitStore/Name/KeyRange.swift, block 1
enum Sources_GodwitStore_Name_KeyRange_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let year = try transaction.keys(in: notes, range: .prefix("2026-"))
        let half = try transaction.keys(in: notes, range: KeyRange(from: "a", to: "n"))
    }
}

// Sources/GodwitStore/Name/StoreKey.swift, block 1
enum Sources_GodwitStore_Name_StoreKey_1 {
    struct Sku: LosslessStringConvertible, StoreKey {
        let description: String
        init(_ text: String) { description = text }
    }
}
