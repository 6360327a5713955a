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
