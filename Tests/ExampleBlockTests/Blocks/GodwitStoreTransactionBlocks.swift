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
