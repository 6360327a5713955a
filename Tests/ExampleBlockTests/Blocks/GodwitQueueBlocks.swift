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

// Sources/GodwitQueue/Effect/Effect.swift, block 1
enum Sources_GodwitQueue_Effect_Effect_1 {
    struct UploadContact: PushOperation {
        static let kind = "upload-contact"
        let contact: String
        var effect: Effect? { .write(contact, of: "contacts") }
    }
}

// Sources/GodwitQueue/Footprint/Footprint.swift, block 1
enum Sources_GodwitQueue_Footprint_Footprint_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        var footprint: Footprint { .move("/foo", to: "/moo") }
    }
}

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

// Sources/GodwitQueue/Operation/Dependency.swift, block 1
enum Sources_GodwitQueue_Operation_Dependency_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let customer = try transaction.enqueue(UploadCustomer(id: "7"))
        try transaction.enqueue(
            UploadOrder(id: "12"),
            Placement(dependencies: [.on(customer, otherwise: .skip)]))
    }
}

// Sources/GodwitQueue/Operation/PushOperation.swift, block 1
enum Sources_GodwitQueue_Operation_PushOperation_1 {
    struct UploadContact: PushOperation {
        static let kind = "upload-contact"
        let contact: String
        var objects: [ObjectKey] { [ObjectKey(collection: "contacts", key: Key(contact))] }
    }
}

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

// Sources/GodwitQueue/Transaction/AutomaticOperations.swift, block 1
enum Sources_GodwitQueue_Transaction_AutomaticOperations_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let push = AutomaticOperations(of: contacts) { change in
            switch change.kind {
            case .removed: [DeleteContact(id: change.key.key.text)]
            default: [UploadContact(id: change.key.key.text)]
            }
        }
        try store.addHook(push, named: "push contacts")
    }
}

// Sources/GodwitQueue/Transaction/WriteTransaction+Conflict.swift, block 1
enum Sources_GodwitQueue_Transaction_WriteTransaction_Conflict_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        try transaction.retryOperation(id, editing: { try $0.replace(with: UploadPhoto(scale: 0.5)) })
    }
}

// Sources/GodwitQueue/Transaction/WriteTransaction+Enqueue.swift, block 1
enum Sources_GodwitQueue_Transaction_WriteTransaction_Enqueue_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        try await store.write { transaction in
            try transaction.set(customer, for: "7", in: customers)
            let first = try transaction.enqueue(UploadCustomer(id: "7"))
            try transaction.enqueue(UploadOrder(id: "12"), after: [first])
        }
    }
}

// Sources/GodwitQueue/Transaction/WriteTransaction+Modify.swift, block 1
enum Sources_GodwitQueue_Transaction_WriteTransaction_Modify_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        try transaction.modifyOperation(id) { $0.priority = 10 }
    }
}
