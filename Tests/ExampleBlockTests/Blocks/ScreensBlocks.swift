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

// Documentation/screens.md, block 1
enum Documentation_screens_1 {
    struct ShoppingScreen: View {
        let list: LiveQuery<Item>

        var body: some View {
            List(list.rows) { row in Text(row.object.name) }
        }
    }
}

// Documentation/screens.md, block 2
enum Documentation_screens_2 {
    @MainActor @Observable final class ShoppingModel {
        let store: Store
        let open: LiveQuery<Item>

        init(_ store: Store) {
            self.store = store
            open = LiveQuery(items.where(\.isCrossed, .equal(false)).order(by: \.name), in: store)
        }

        func crossOff(_ id: String) async throws {
            try await store.write { try $0.edit(id, in: items) { $0.isCrossed = true } }
        }
    }
}

// Documentation/screens.md, block 3
enum Documentation_screens_3 {
    struct OpenItems: View {
        @Live({ LiveQuery(items.where(\.isCrossed, .equal(false)), in: $0) }) var list

        var body: some View {
            List(list.rows) { row in Text(row.object.name) }
        }
    }
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        OpenItems().environment(\.godwitStore, store)
    }
}

// Documentation/screens.md, block 4
enum Documentation_screens_4 {
    struct ContactCard: View {
        @Live var contact: LiveObject<Contact>

        init(_ key: String) {
            _contact = Live(id: key) { LiveObject(key, of: contacts, in: $0) }
        }

        var body: some View {
            Text(contact.object?.name ?? "")
        }
    }
}

// Documentation/screens.md, block 5
enum Documentation_screens_5 {
    struct ContactScreen: View {
        let contact: LiveObject<Contact>

        var body: some View {
            Text(contact.object?.name ?? "")
        }
    }
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let screen = ContactScreen(contact: LiveObject("robbie", of: contacts, in: store))
    }
}

// Documentation/screens.md, block 6
enum Documentation_screens_6 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let roster = LiveQuery(contacts.order(by: \.address.city).order(by: \.name), in: store)
        List(roster.sections(by: \.address.city)) { section in
            Section(section.value) { ForEach(section.rows) { row in Text(row.object.name) } }
        }
    }
}

// Documentation/screens.md, block 7
enum Documentation_screens_7 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let found = LiveSearch(notes.matching("bread", by: words), in: store)
        List(found.rows) { row in Text(row.snippet.text) }
        found.query = notes.matching("brown bread", by: words)
    }
}

// Documentation/screens.md, block 8
enum Documentation_screens_8 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let total = LiveValue(in: store) { try $0.sum(\.cents, of: invoices.where(\.isPaid, .equal(false))) }
        Text("\(total.value ?? 0) to pay")
    }
}

// Documentation/screens.md, block 9
enum Documentation_screens_9 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        for try await total in store.values({ try $0.sum(\.cents, of: invoices.where(\.isPaid, .equal(false))) }) {
            label.text = "\(total)"
        }
    }
}

// Documentation/screens.md, block 10
enum Documentation_screens_10 {
    struct SyncBadge: View {
        let sync: LiveReplica

        var body: some View {
            Text(sync.status.lastError?.localizedDescription ?? state)
        }

        var state: String {
            sync.pendingCount > 0 ? "\(sync.pendingCount) to send" : sync.status.isConnected ? "In sync" : "Connecting…"
        }
    }
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let badge = SyncBadge(sync: LiveReplica(shopping, of: connector))
    }
}

// Documentation/screens.md, block 11
enum Documentation_screens_11 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let monitor = QueueMonitor(queue)
        let summary = monitor.summary
        label.text = "\(summary.waiting + summary.running) to send, \(summary.deadLetters) failed"
    }
}

// Documentation/screens.md, block 12
enum Documentation_screens_12 {
    @MainActor final class RosterModel {
        let view: ReadView
        let roster: LiveList<Contact, Presence, String>

        init(_ store: Store) async throws {
            view = try await store.view()
            roster = try await view.list(contacts, grouped: { $0.presence }, sorted: { $0.name })
        }

        func object(at position: RowPosition) throws -> Contact? {
            try view.get(roster.key(at: position), in: contacts)
        }

        func run() async throws {
            try await view.follow { [roster] _ in animate(roster.change) }
        }
    }
}
