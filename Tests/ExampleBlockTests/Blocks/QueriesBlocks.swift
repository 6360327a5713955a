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

// Documentation/queries.md, block 1
enum Documentation_queries_1 {
    struct Contact: Codable, Identifiable, Sendable {
        var id = UUID()
        var name: String
        var city: String?
        var born: Date
        var isOnline = false
        var notes = ""
    }
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let contacts = Store.Collection<Contact>("contacts")
    }
}

// Documentation/queries.md, block 2
enum Documentation_queries_2 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        contacts.where(\.isOnline, .equal(true))
        contacts.where(\.city, .oneOf(["Rome", "Oslo"])).where(\.name, .hasPrefix("Ro"))
        contacts.where(\.born, .between(spring..<summer))
        contacts.where(\.city, .equal(nil))
    }
}

// Documentation/queries.md, block 3
enum Documentation_queries_3 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let isNear = Filter<Contact>(\.city, .equal("Rome")) || Filter(\.city, .equal("Ostia"))
        contacts.where(isNear && !Filter(\.isOnline, .equal(false)))
    }
}

// Documentation/queries.md, block 4
enum Documentation_queries_4 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        contacts.order(by: \.city).order(by: \.born, .descending)      // by city, then the youngest first
        contacts.order(by: \.born, .descending).limit(20)
    }
}

// Documentation/queries.md, block 5
enum Documentation_queries_5 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let rows = try await store.read { try $0.objects(query) }      // each with its key
        let count = try await store.read { try $0.count(query) }       // reads no object, if an index tells
        for row in rows { print(row.key, row.object.name) }
        for try await rows in store.values(of: query) { show(rows) }   // now, and whenever they change
    }
}

// Documentation/queries.md, block 6
enum Documentation_queries_6 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        try await store.write { transaction in
            for row in try transaction.objects(contacts.where(\.city, .equal("Oslo"))) {
                try transaction.update(row.key, in: contacts) { $0.isOnline = false }
            }
        }
    }
}

// Documentation/queries.md, block 7
enum Documentation_queries_7 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let open = invoices.where(\.isPaid, .equal(false))
        let cents = try await store.read { try $0.sum(\.cents, of: open) }
    }
}

// Documentation/queries.md, block 8
enum Documentation_queries_8 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let byCity = Store.Index("byCity", on: Field(\Contact.city), Field(\Contact.name))
        var options = Store.Options()
        options.collections = [CollectionRules(contacts, indexes: [byCity])]
    }
}

// Documentation/queries.md, block 9
enum Documentation_queries_9 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let words = Store.Index.fullText("words", on: Field(\Contact.name), Field(\Contact.notes))
        let found = try await store.read { try $0.objects(contacts.matching("rob", by: words)) }
        for row in found { print(row.object.name, row.snippet.marked("[", "]")) }
    }
}
