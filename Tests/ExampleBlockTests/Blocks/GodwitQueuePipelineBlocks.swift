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

// Sources/GodwitQueue/Pipeline/DependencyRule.swift, block 1
enum Sources_GodwitQueue_Pipeline_DependencyRule_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        var pipeline = Pipeline(order: .flat)
        // Whatever is charged to one account is done in a row.
        pipeline.rules = [
            DependencyRule(for: Charge.self) { charge in .resource(charge.account) },
            // An avatar is there before the user who has it.
            DependencyRule(UploadAvatar.self, \.user, before: UploadUser.self, \.id),
        ]
    }
}

// Sources/GodwitQueue/Pipeline/Pipeline.swift, block 1
enum Sources_GodwitQueue_Pipeline_Pipeline_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let pipeline = Pipeline(maxConcurrent: 4)
            .on(UploadContact.self) { upload, run in
                let tag = try await cloud.put(upload.contact, key: run.operation.idempotencyKey)
                return .completed { try $0.setTag(.string(Key(tag)), for: upload.contact) }
            }
    }
}

// Sources/GodwitQueue/Pipeline/Pipeline.swift, block 2
enum Sources_GodwitQueue_Pipeline_Pipeline_2 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        Pipeline(order: .flat, maxConcurrent: 100).onBatch(of: Upload.self, max: 100) { batch in
            let answers = try await cloud.putAll(batch.map(\.work))
            return answers.map { $0.isStored ? .completed : .retry(reason: $0.message) }
        }
    }
}

// Sources/GodwitQueue/Pipeline/Placement.swift, block 1
enum Sources_GodwitQueue_Pipeline_Placement_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        try transaction.enqueue(UploadPhoto(id: "7"), Placement(pipeline: "photos", priority: -1))
    }
}
