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

// Sources/GodwitTestKit/Seeded/Seeded.swift, block 1
enum Sources_GodwitTestKit_Seeded_Seeded_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        var random = Seeded(seed: 7)
        Int.random(in: 0..<10, using: &random)
    }
}
