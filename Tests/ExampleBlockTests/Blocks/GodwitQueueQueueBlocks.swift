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

// Sources/GodwitQueue/Queue/PushQueue.swift, block 1
enum Sources_GodwitQueue_Queue_PushQueue_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let queue = try PushQueue(store, pipelines: [
            Pipeline().on(UploadContact.self) { upload, run in
                try await cloud.put(upload.contact)
                return .completed
            }
        ])
        try await queue.run()
    }
}
