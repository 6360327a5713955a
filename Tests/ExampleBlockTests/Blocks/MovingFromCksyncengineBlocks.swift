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

// Documentation/moving-from-cksyncengine.md, block 2
enum Documentation_moving_from_cksyncengine_2 {
    struct Note: Codable, Identifiable, Sendable {
        var id = UUID()
        var title: String
        var text = ""
    }
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let notes = Store.Collection<Note>("notes")
        let store = try Store(.file(path))
        let connector = try ReplicaConnector(
            store, transport: HTTPTransport(server: "https://sync.example.com", token: key))
        let replica = try await connector.open("ann.notes", collections: notes)
        async let syncing: Void = connector.run()
        let note = Note(title: "Groceries")
        try await store.write { try $0.set(note, in: notes) }                       // is pushed by itself
        try await store.write { try $0.edit(note.id, in: notes) { $0.text.append("Wine") } }
    }
}

// Documentation/moving-from-cksyncengine.md, block 3
enum Documentation_moving_from_cksyncengine_3 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let uploads = Pipeline().on(UploadContact.self) { upload, run in
            let (contact, tag) = try await store.read { transaction in
                (try transaction.get(upload.id, in: contacts), try transaction.tag(for: upload.id))
            }
            let newTag = try await cloud.put(contact, ifMatch: tag, key: run.operation.idempotencyKey)
            return .completed { try $0.setTag(newTag, for: upload.id) }
        }
    }
}
