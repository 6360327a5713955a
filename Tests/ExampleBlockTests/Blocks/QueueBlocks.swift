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

// Documentation/queue.md, block 1
enum Documentation_queue_1 {
    struct UploadContact: PushOperation {
        static let kind = "upload-contact"               // the stored name: keep it when you rename the type
        let contact: String
        var objects: [ObjectKey] { [contacts.place(contact)] }
        var effect: Effect? { .write(contact, of: "contacts") }
    }
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let pipeline = Pipeline(maxConcurrent: 4).on(UploadContact.self) { upload, run in
            try await cloud.put(upload.contact, key: run.operation.idempotencyKey)
            return .completed
        }
        let queue = try PushQueue(store, pipelines: [pipeline])
        async let running: Void = queue.run()
        try await store.write { transaction in
            try transaction.update("robbie", in: contacts) { $0.isOnline = true }
            try transaction.enqueue(UploadContact(contact: "robbie"))
        }
    }
}

// Documentation/queue.md, block 2
enum Documentation_queue_2 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        try await store.write { transaction in
            let photo = try transaction.enqueue(UploadPhoto(id: "7"), Placement(pipeline: "photos", priority: -1))
            try transaction.enqueue(UploadContact(contact: "robbie"), after: [photo])
        }
    }
}

// Documentation/queue.md, block 3
enum Documentation_queue_3 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        for await summary in queue.summaries() {
            show(summary.unfinished, summary.running, summary.conflicts, summary.deadLetters)
        }
        let status = try await queue.status(of: id)          // waiting, with its reasons; running; conflict; dead letter
        print(try await queue.why(id).joined(separator: "\n"))
    }
}

// Documentation/queue.md, block 4
enum Documentation_queue_4 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let letters = try await store.read { try $0.deadLetters() }
        for letter in letters {
            show(letter.kind, letter.reason, try await store.read { try $0.attempts(of: letter.id) })
            try await store.write { try $0.retryOperation(letter.id) }       // or skipOperation(_:reason:)
        }
        try await store.write { transaction in
            guard var upload = try transaction.operation(id)?.decoded(as: UploadPhoto.self) else { return }
            upload.scale = 0.5
            try transaction.retryOperation(id, editing: { try $0.replace(with: upload) })
        }
    }
}

// Documentation/queue.md, block 5
enum Documentation_queue_5 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        try await store.write { transaction in
            for operation in try transaction.operations(pushing: contacts.place("robbie")) {
                try transaction.skipOperation(operation.id, reason: "the user has given it up")
            }
        }
    }
}

// Documentation/queue.md, block 6
enum Documentation_queue_6 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        try await queue.markActive(id)
        async let running: Void = queue.run()
        try await queue.finish(id, with: .completed)
    }
}
