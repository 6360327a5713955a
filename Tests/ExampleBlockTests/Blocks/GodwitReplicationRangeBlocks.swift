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

// Sources/GodwitReplication/Range/DownloadProgress.swift, block 1
enum Sources_GodwitReplication_Range_DownloadProgress_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        for await status in connector.statuses(of: replica.name) {
            progressView.progress = status.download?.fractionCompleted ?? 1
        }
    }
}
