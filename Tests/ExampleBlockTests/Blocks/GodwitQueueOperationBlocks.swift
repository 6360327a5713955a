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
