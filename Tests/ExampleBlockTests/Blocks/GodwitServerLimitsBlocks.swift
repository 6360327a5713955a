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

// Sources/GodwitServer/Limits/ServerLimits.swift, block 1
enum Sources_GodwitServer_Limits_ServerLimits_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        var options = SyncOptions(access: .keys)
        options.limits.requestRate = 50
        try await SyncServer(store: store, options: options).run()
    }
}
