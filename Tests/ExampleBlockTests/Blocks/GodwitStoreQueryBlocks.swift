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
