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

// README.md, block 2
enum README_2 {
    struct Item: Codable, Sendable {
        var name: String
        var crossed = false
    }
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let store = try Store(.file("/tmp/shop.godwit"))
        let items = Store.Collection<Item>("items")
        let transport = try HTTPTransport(server: "http://127.0.0.1:7007")
        let connector = try ReplicaConnector(store, transport: transport)
        let shopping = try await connector.open("shopping", collections: items)
        let syncing = Task { try await connector.run() }    // until it is cancelled
        try await store.write { transaction in
            try transaction.set(Item(name: "Wine"), for: "wine", in: items)
        }
    }
}

// README.md, block 3
enum README_3 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let inbox = ConflictInbox(of: items, in: store)     // observed by a screen
        for conflict in inbox.conflicts {
            print(conflict.current?.name ?? "removed", "or", conflict.other?.name ?? "removed")
            try await inbox.resolve(conflict, .takeOther)
        }
    }
}

// README.md, block 4
enum README_4 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        var policy = MergePolicy(version: 2)
        policy.set(.max, at: "/items/*/votes")
        policy.set(.whole, at: "/items/*/price")          // amount and currency are one value
        let shopping = try await connector.open("shopping", collections: items, policy: policy)
    }
}

// README.md, block 5
enum README_5 {
    struct Contact: Codable, Identifiable, Sendable {
        var id = UUID()
        var name: String
        var isOnline = false
        var notes = ""
    }
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let contacts = Store.Collection<Contact>("contacts")
        let byName = Store.Index("byName", on: Field(\Contact.isOnline), Field(\Contact.name))
        let words = Store.Index.fullText("words", on: Field(\Contact.name), Field(\Contact.notes))
        var options = Store.Options()
        options.collections = [CollectionRules(contacts, indexes: [byName, words])]
        let store = try Store(.file(path), options: options)      // or .memory, or Store(adopting: pool)
        let robbie = Contact(name: "Robbie")
        try await store.write { try $0.set(robbie, in: contacts) }
        // Many small writes share a commit and a sync; each has its own result and its own failure.
        let ticket = try store.writeLater { try $0.update(robbie.id, in: contacts) { $0.isOnline = true } }
        // What is online, by name; read once, or whenever it changes. An index answers, where there is one.
        let online = contacts.where(\.isOnline, .equal(true)).order(by: \.name).limit(50)
        for try await rows in store.values(of: online) { show(rows) }
        // Full-text search, while a person types; the best match first, with what fits marked.
        let found = try await store.read { try $0.objects(contacts.matching("rob", by: words)) }
        // For a screen: rows that the main actor observes, each by itself.
        let live = LiveQuery(online, in: store)
        // A frozen picture for the screen, and a list in sections that knows which rows moved.
        let view = try await store.view()
        let list = try await view.list(
            contacts, grouped: { $0.isOnline ? "online" : "offline" }, sorted: { $0.name })
        try view.advance()
        animate(list.change)
    }
}

// README.md, block 6
enum README_6 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        var list: Value = ["items": [["name": "Bread"], ["name": "Wine"]], "note": "for tonight"]
        let (base, isCrossed) = (list, true)
        let delta = try list.edit {
            $0.items[0].crossed = isCrossed      // any Bool, number, string, array, dictionary
            $0.items.list.move(from: 1, to: 0)
            $0.note.text.append(", or tomorrow")
        }
        delta.ednText()            // {:items {:= {0 {:crossed true}} :> {0 1}} :note #d/text …}
        try delta.packed(on: base) // a few bytes, for a peer that has the base
        let merge = Merge(base: base, ours: list, theirs: ["items": [["name": "Rye"]], "note": "for tonight"])
        merge.value                // everything that both meant
        merge.conflicts            // what could not stay as both meant it, and why it was decided so
    }
}

// README.md, block 7
enum README_7 {
    struct UploadContact: PushOperation {
        static let kind = "upload-contact"
        let contact: UUID
        var objects: [ObjectKey] { [contacts.place(contact)] }      // the base of a merge
    }
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let pipeline = Pipeline().on(UploadContact.self) { upload, run in
            let (contact, tag) = try await store.read { transaction in
                (
                    try transaction.get(upload.contact, in: contacts),
                    try transaction.tag(for: upload.contact)
                )
            }
            let newTag = try await cloud.put(contact, ifMatch: tag, key: run.operation.idempotencyKey)
            return .completed { try $0.setTag(newTag, for: upload.contact) }
        }
        let queue = try PushQueue(store, pipelines: [pipeline])
        let running = Task { try await queue.run() }
        try await store.write { transaction in
            try transaction.set(robbie, in: contacts)
            try transaction.enqueue(UploadContact(contact: robbie.id))
        }
    }
}
