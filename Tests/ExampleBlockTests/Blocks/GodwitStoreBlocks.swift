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

// Sources/GodwitStore/Coding/Defaulted.swift, block 1
enum Sources_GodwitStore_Coding_Defaulted_1 {
    struct Item: Codable, Sendable, Defaulted {
        var name: String
        var isCrossed = false

        static let defaults = Item(name: "")
    }
}

// Sources/GodwitStore/Commit/ChangeSets.swift, block 1
enum Sources_GodwitStore_Commit_ChangeSets_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        for await changes in store.changes() {
            print(changes.last, changes.updated)
        }
    }
}

// Sources/GodwitStore/Database/StoreMigration.swift, block 1
enum Sources_GodwitStore_Database_StoreMigration_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        var options = Store.Options()
        options.migrations = [
            .sql("create price", "CREATE TABLE price (item TEXT PRIMARY KEY, amount INTEGER NOT NULL) STRICT"),
            .change("price in cents") { try $0.execute(sql: "UPDATE price SET amount = amount * 100") },
        ]
        let store = try Store(.file(path), options: options)
    }
}

// Sources/GodwitStore/Index/CollectionRules.swift, block 1
enum Sources_GodwitStore_Index_CollectionRules_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        var options = Store.Options()
        options.collections = [
            CollectionRules(contacts, indexes: [byPresence]),
            CollectionRules(messages, retention: .age(.seconds(30 * 24 * 3600))),
            CollectionRules(typing, isEphemeral: true),
        ]
    }
}

// Sources/GodwitStore/Index/Field+KeyPath.swift, block 1
enum Sources_GodwitStore_Index_Field_KeyPath_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        Field(\Contact.address.city)     // the same as Field("address", "city")
    }
}

// Sources/GodwitStore/Index/StoreIndex.swift, block 1
enum Sources_GodwitStore_Index_StoreIndex_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let byPresence = Store.Index("byPresence", on: "presence", "name")
        let inCity = Store.Index("inCity", on: Field("address", "city"))
        let words = Store.Index.fullText("words", on: "title", "text")
    }
}

// Sources/GodwitStore/Name/KeyRange.swift, block 1
enum Sources_GodwitStore_Name_KeyRange_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let year = try transaction.keys(in: notes, range: .prefix("2026-"))
        let half = try transaction.keys(in: notes, range: KeyRange(from: "a", to: "n"))
    }
}

// Sources/GodwitStore/Name/StoreKey.swift, block 1
enum Sources_GodwitStore_Name_StoreKey_1 {
    struct Sku: LosslessStringConvertible, StoreKey {
        let description: String
        init(_ text: String) { description = text }
    }
}

// Sources/GodwitStore/Object/StoreCollection.swift, block 1
enum Sources_GodwitStore_Object_StoreCollection_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let contacts = Store.Collection<Contact>("contacts")
        // The second version of the app has split the name.
        let people = Store.Collection<ContactV1>("contacts").upgraded(to: Person.self) { old in
            let words = old.name.split(separator: " ", maxSplits: 1).map(String.init)
            return Person(first: words.first ?? "", last: words.dropFirst().first ?? "")
        }
    }
}

// Sources/GodwitStore/Object/StoreCollection.swift, block 2
enum Sources_GodwitStore_Object_StoreCollection_2 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let people = Store.Collection<Person>("contacts", version: 2) { value, version in
            var map = value.map ?? [:]
            (map["nickname"], map["nick"]) = (map["nick"], nil)
            return .map(map)
        }
    }
}

// Sources/GodwitStore/Object/StoreCollection.swift, block 3
enum Sources_GodwitStore_Object_StoreCollection_3 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let people = Store.Collection<ContactV1>("contacts")
            .upgraded(to: ContactV2.self) { ContactV2(name: $0.name, isOnline: $0.presence == "online") }
            .upgraded(to: Person.self) { Person(first: $0.name, last: "") }
    }
}

// Sources/GodwitStore/Observation/LiveObject.swift, block 1
enum Sources_GodwitStore_Observation_LiveObject_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let robbie = LiveObject("robbie", of: contacts, in: store)
        Text(robbie.object?.name ?? "")
    }
}

// Sources/GodwitStore/Observation/LiveQuery.swift, block 1
enum Sources_GodwitStore_Observation_LiveQuery_1 {
    @MainActor @Observable final class Model {
        let online: LiveQuery<Contact>

        init(_ store: Store) {
            online = LiveQuery(contacts.where(\.isOnline, .equal(true)).order(by: \.name), in: store)
        }
    }
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        List(model.online.rows) { row in Text(row.object.name) }
    }
}

// Sources/GodwitStore/Observation/LiveSearch.swift, block 1
enum Sources_GodwitStore_Observation_LiveSearch_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let found = LiveSearch(notes.matching("brown bread", by: words), in: store)
        ForEach(found.rows) { row in Text(row.snippet.text) }
        found.query = notes.matching("bread", by: words)     // as the user types
    }
}

// Sources/GodwitStore/Observation/LiveSection.swift, block 1
enum Sources_GodwitStore_Observation_LiveSection_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let roster = LiveQuery(contacts.order(by: \.address.city).order(by: \.name), in: store)
        ForEach(roster.sections(by: \.address.city)) { section in
            Section(section.value) { ForEach(section.rows) { Text($0.object.name) } }
        }
    }
}

// Sources/GodwitStore/Observation/LiveValue.swift, block 1
enum Sources_GodwitStore_Observation_LiveValue_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let unpaid = invoices.where(\.isPaid, .equal(false))
        let total = LiveValue(in: store) { try $0.sum(\.cents, of: unpaid) }
        Text("\(total.value ?? 0)")
    }
}

// Sources/GodwitStore/Observation/Store+Observation.swift, block 1
enum Sources_GodwitStore_Observation_Store_Observation_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        for try await contact in store.values(of: "robbie", in: contacts) {
            show(contact)
        }
    }
}

// Sources/GodwitStore/Observation/Store+Observation.swift, block 2
enum Sources_GodwitStore_Observation_Store_Observation_2 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        for try await total in store.values({ try $0.sum(\.cents, of: open) }) { show(total) }
    }
}

// Sources/GodwitStore/Query/FieldTest.swift, block 1
enum Sources_GodwitStore_Query_FieldTest_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        contacts.where(\.city, .oneOf(["Rome", "Oslo"]))
        contacts.where(\.born, .atLeast(spring))
        contacts.where(\.name, .hasPrefix("Ro"))
        contacts.where(\.email, .equal(nil))
    }
}

// Sources/GodwitStore/Query/Filter.swift, block 1
enum Sources_GodwitStore_Query_Filter_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let isNear = Filter<Contact>(\.city, .equal("Rome")) || Filter(\.city, .equal("Ostia"))
        let query = contacts.where(isNear && !Filter(\.isHidden, .equal(true)))
    }
}

// Sources/GodwitStore/Query/ObjectReader+Sums.swift, block 1
enum Sources_GodwitStore_Query_ObjectReader_Sums_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let open = invoices.where(\.isPaid, .equal(false))
        let cents = try await store.read { try $0.sum(\.cents, of: open) }
    }
}

// Sources/GodwitStore/Query/QueryRows.swift, block 1
enum Sources_GodwitStore_Query_QueryRows_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let rows = try await store.read { try $0.objects(online) }
        for row in rows { show(row.key, row.object) }
        for (key, error) in rows.unreadable { report(key, error) }
    }
}

// Sources/GodwitStore/Query/StoreQuery.swift, block 1
enum Sources_GodwitStore_Query_StoreQuery_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let online = contacts.where(\.isOnline, .equal(true)).order(by: \.name)
        let newest = messages.order(by: \.date, .descending).limit(20)
        let spring = messages.where(\.date, .between(march..<june))
        let list = try await store.read { try $0.objects(online) }
        for try await list in store.values(of: online) { show(list) }
    }
}

// Sources/GodwitStore/Query/StoreQuery.swift, block 2
enum Sources_GodwitStore_Query_StoreQuery_2 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        contacts.order(by: \.city).order(by: \.born, .descending)   // by city, then by date
    }
}

// Sources/GodwitStore/Query/TextQuery.swift, block 1
enum Sources_GodwitStore_Query_TextQuery_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let words = Store.Index.fullText("words", on: "title", "text")
        let query = notes.matching("red wi", by: words).limit(20)     // "red wine", "wide red" …
        for row in try await store.read({ try $0.objects(query) }) {
            show(row.object.title, row.snippet)
        }
    }
}

// Sources/GodwitStore/Store+Transactions.swift, block 1
enum Sources_GodwitStore_Store_Transactions_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        try await pool.write { database in
            try invoice.insert(database)
            try store.write(in: database) { try $0.enqueue(SendInvoice(id: invoice.id)) }
        }
    }
}

// Sources/GodwitStore/Store.swift, block 1
enum Sources_GodwitStore_Store_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let store = try Store(.file("/tmp/shop.godwit"))
        let items = Store.Collection<Item>("items")
        try await store.write { transaction in
            try transaction.set(Item(name: "Bread"), for: "bread", in: items)
        }
        let bread = try await store.read { try $0.get("bread", in: items) }
    }
}

// Sources/GodwitStore/Store.swift, block 2
enum Sources_GodwitStore_Store_2 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let store = try Store(adopting: pool)
        try await store.write { transaction in
            try transaction.set(order, for: "12", in: orders)
            try invoice.insert(transaction.database)
        }
    }
}

// Sources/GodwitStore/Transaction/ObjectDraft.swift, block 1
enum Sources_GodwitStore_Transaction_ObjectDraft_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        try transaction.edit("groceries", in: lists) { list in
            list.title = "For tonight"
            list.count += 1                            // what two devices add, adds up
            list.items.append(Item(name: "Milk"))
            list.items.move(from: 4, to: 0)            // a move stays a move
            list.items[id: "wine"].crossed = true
            list.note.append(", or tomorrow")          // words that are put in
            list.votes["ann"] = 3
        }
    }
}

// Sources/GodwitStore/Transaction/ObjectReader+Objects.swift, block 1
enum Sources_GodwitStore_Transaction_ObjectReader_Objects_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let found = try transaction.get([robbie.id], in: contacts)
    }
}

// Sources/GodwitStore/Transaction/ObjectReader+Objects.swift, block 2
enum Sources_GodwitStore_Transaction_ObjectReader_Objects_2 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        try transaction.enumerate(contacts, range: .prefix("b")) { key, contact, stop in
            if contact.isOnline { stop = true }
        }
    }
}

// Sources/GodwitStore/Transaction/ObjectReader+Objects.swift, block 3
enum Sources_GodwitStore_Transaction_ObjectReader_Objects_3 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws -> Outcome {
        let theirs = try JSONDecoder().decode(Contact.self, from: answer.body)
        let value = try await store.read { try $0.value(of: theirs, for: "robbie", in: contacts) }
        return .conflict(theirs: value, tag: tag, reason: "the cloud has another version")
    }
}

// Sources/GodwitStore/Transaction/TransactionHook.swift, block 1
enum Sources_GodwitStore_Transaction_TransactionHook_1 {
    struct NoEmptyNames: TransactionHook {
        let collections: Set<Key>? = ["contacts"]

        func willCommit(
            _ changes: [ObjectChange],
            in transaction: borrowing WriteTransaction
        ) throws {
            for change in changes {
                guard try change.newValue()?["name"] != "" else { throw EmptyName() }
            }
        }
    }
}

// Sources/GodwitStore/Transaction/WriteTicket.swift, block 1
enum Sources_GodwitStore_Transaction_WriteTicket_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let ticket = try store.writeLater { try $0.set(draft, for: "draft", in: notes) }
        // ... and somewhere else:
        let commit = try await ticket.finish().commit
    }
}

// Sources/GodwitStore/Transaction/WriteTransaction+Identifiable.swift, block 1
enum Sources_GodwitStore_Transaction_WriteTransaction_Identifiable_1 {
    struct Contact: Codable, Identifiable, Sendable {
        var id = UUID()
        var name: String
    }
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        try transaction.set(robbie, in: contacts)
    }
}

// Sources/GodwitStore/Transaction/WriteTransaction.swift, block 1
enum Sources_GodwitStore_Transaction_WriteTransaction_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let commit = try view.commit(of: "robbie", in: contacts)
        try await store.write { transaction in
            try transaction.require(commit, of: "robbie", in: contacts)
            try transaction.set(edited, for: "robbie", in: contacts)
        }
    }
}

// Sources/GodwitStore/Transaction/WriteTransaction.swift, block 2
enum Sources_GodwitStore_Transaction_WriteTransaction_2 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        try transaction.update("robbie", in: contacts) { $0.presence = .online }
    }
}

// Sources/GodwitStore/Transaction/WriteTransaction.swift, block 3
enum Sources_GodwitStore_Transaction_WriteTransaction_3 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        try transaction.edit("groceries", in: lists) {
            $0.items.move(from: 4, to: 0)
            $0.count += 1
        }
    }
}

// Sources/GodwitStore/View/ReadView.swift, block 1
enum Sources_GodwitStore_View_ReadView_1 {
    @MainActor final class RosterModel {
        let view: ReadView
        let online: LiveList<Contact, Presence, String>

        init(_ store: Store) async throws {
            view = try await store.view()
            online = try await view.list(contacts, grouped: { $0.presence }, sorted: { $0.name })
        }

        func run() async throws { try await view.follow() }
    }
}
