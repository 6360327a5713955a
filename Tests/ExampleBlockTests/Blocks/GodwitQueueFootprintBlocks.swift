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

// Sources/GodwitQueue/Footprint/Footprint.swift, block 1
enum Sources_GodwitQueue_Footprint_Footprint_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        var footprint: Footprint { .move("/foo", to: "/moo") }
    }
}
