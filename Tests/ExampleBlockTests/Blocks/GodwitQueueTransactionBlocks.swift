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
