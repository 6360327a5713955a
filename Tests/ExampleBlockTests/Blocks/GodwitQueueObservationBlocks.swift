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

// Sources/GodwitQueue/Observation/CommitReceipt.swift, block 1
enum Sources_GodwitQueue_Observation_CommitReceipt_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let ticket = try store.writeLater { try edit($0) }
        if let commit = try await ticket.finish().commit {
            for try await receipt in queue.receipts(of: commit) { badge.show(receipt) }
        }
    }
}

// Sources/GodwitQueue/Observation/PushQueue+Receipts.swift, block 1
enum Sources_GodwitQueue_Observation_PushQueue_Receipts_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        for await status in queue.statuses(of: id) { label.text = "\(status)" }
    }
}

// Sources/GodwitQueue/Observation/PushQueue+Why.swift, block 1
enum Sources_GodwitQueue_Observation_PushQueue_Why_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        print(try await queue.why(id).joined(separator: "\n"))
        // 14.1 waits for 12.1
        // 12.1 is held by godwit.retry until 2026-11-21T16:05:00Z
    }
}

// Sources/GodwitQueue/Observation/QueueMonitor.swift, block 1
enum Sources_GodwitQueue_Observation_QueueMonitor_1 {
    @MainActor struct SyncBadge {
        let monitor: QueueMonitor
        var text: String { "\(monitor.summary.unfinished) to send" }
    }
}
