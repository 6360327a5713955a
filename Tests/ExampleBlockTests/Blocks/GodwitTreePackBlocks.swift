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

// Sources/GodwitTree/Pack/Delta+Pack.swift, block 1
enum Sources_GodwitTree_Pack_Delta_Pack_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let bytes = try delta.packed(on: base)
        try Delta(packed: bytes, on: base).applied(to: base) == delta.applied(to: base)
    }
}
