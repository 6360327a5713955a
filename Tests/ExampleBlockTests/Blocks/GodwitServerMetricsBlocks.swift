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

// Sources/GodwitServer/Metrics/PrometheusMetrics.swift, block 1
enum Sources_GodwitServer_Metrics_PrometheusMetrics_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        var options = SyncOptions()
        options.metrics = PrometheusMetrics()
        let server = SyncServer(store: store, options: options)
        try await server.run()
    }
}
