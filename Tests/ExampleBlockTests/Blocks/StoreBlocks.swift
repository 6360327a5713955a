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

// Documentation/store.md, block 1
enum Documentation_store_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let store = try Store(.file(path))                  // or .memory
        let contacts = Store.Collection<Contact>("contacts")
    }
}

// Documentation/store.md, block 2
enum Documentation_store_2 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        try await store.write { transaction in
            try transaction.set(robbie, in: contacts)                                   // by its `id`
            try transaction.set(Note(title: "Call"), for: "call", in: notes)            // by a key
            try transaction.update(robbie.id, in: contacts) { $0.isOnline = true }
            try transaction.remove("call", in: notes)
        }
        let contact = try await store.read { try $0.get(robbie.id, in: contacts) }      // nil if it is gone
        let all = try await store.read { try $0.objects(contacts.all) }
    }
}

// Documentation/store.md, block 3
enum Documentation_store_3 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        try await store.write { transaction in
            try transaction.edit("groceries", in: lists) { list in
                list.title = "For tonight"
                list.count += 1                            // two devices add 1 each: it grows by 2
                list.items.move(from: 4, to: 0)
                list.items[id: "wine"].crossed = true
                list.note.append(", or tomorrow")
            }
        }
    }
}

// Documentation/store.md, block 4
enum Documentation_store_4 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let people = Store.Collection<ContactV1>("contacts")
            .upgraded(to: ContactV2.self) { ContactV2(name: $0.name, isOnline: $0.presence == "online") }
        var options = Store.Options()
        options.collections = [CollectionRules(people)]
    }
}

// Documentation/store.md, block 5
enum Documentation_store_5 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        var options = Store.Options()
        options.migrations = [
            .sql("create price", "CREATE TABLE price (item TEXT PRIMARY KEY, amount INTEGER NOT NULL) STRICT"),
            .change("price in cents") { try $0.execute(sql: "UPDATE price SET amount = amount * 100") },
        ]
    }
}

// Documentation/store.md, block 6
enum Documentation_store_6 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let view = try await store.view()
        let before = try view.get(robbie.id, in: contacts)     // as long as you like
        let changes = try view.advance()                       // the change set; nil if nothing has changed
    }
}

// Documentation/store.md, block 7
enum Documentation_store_7 {
    struct NoEmptyNames: TransactionHook {
        func willCommit(_ changes: [ObjectChange], in transaction: borrowing WriteTransaction) throws {
            for change in changes where change.key.collection == contacts.name {
                guard try change.new(in: contacts)?.name != "" else { throw EmptyName() }
            }
        }
    }
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        try store.addHook(NoEmptyNames(), named: "no empty names")
    }
}

// Documentation/store.md, block 8
enum Documentation_store_8 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        var options = Store.Options()
        options.collections = [
            CollectionRules(messages, retention: .age(.seconds(30 * 24 * 3_600))),   // or .count(1_000)
            CollectionRules(typing, isEphemeral: true),                              // empty at each opening
        ]
    }
}

// Documentation/store.md, block 9
enum Documentation_store_9 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        var options = Store.Options()
        options.processes = .several
        let store = try Store(.file(path), options: options)
        async let following: Void = store.followOtherProcesses()
    }
}

// Documentation/store.md, block 10
enum Documentation_store_10 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        try await store.backup(to: "/backups/monday.sqlite")     // while the store is in use
        let report = try await store.integrityCheck()            // reads everything
        print(report.isSound, report.problems)
    }
}
