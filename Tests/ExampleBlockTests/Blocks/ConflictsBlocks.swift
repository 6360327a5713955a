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

// Documentation/conflicts.md, block 1
enum Documentation_conflicts_1 {
    struct Price: Codable {
        var amount: Int
        var currency: String
    }
    struct Product: Codable, Sendable, MergePolicyProviding {
        var name: String
        var price: Price
        var votes = 0

        static var mergePolicy: MergePolicy {
            var policy = MergePolicy(version: 1)
            policy.set(.whole, at: "/price")       // amount and currency are one value
            policy.set(.max, at: "/votes")
            return policy
        }
    }
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let products = Store.Collection<Product>("products")
        var options = Store.Options()
        options.collections = [CollectionRules(products)]
    }
}

// Documentation/conflicts.md, block 2
enum Documentation_conflicts_2 {
    struct ConflictScreen: View {
        let inbox: ConflictInbox<Contact>

        var body: some View {
            List(inbox.conflicts) { conflict in
                Button("Take \(conflict.other?.name ?? "the removal")") {
                    Task { try await inbox.resolve(conflict, .takeOther) }
                }
            }
        }
    }
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let screen = ConflictScreen(inbox: ConflictInbox(of: contacts, in: store))
    }
}

// Documentation/conflicts.md, block 3
enum Documentation_conflicts_3 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        for record in try await shopping.conflicts() {
            for (id, conflict) in record.conflicts {
                show(conflict.path, conflict.explanation, conflict.base, conflict.ours, conflict.theirs)
                try await store.write { try shopping.resolve(id, about: record.object, .takeOther, in: $0) }
            }
        }
    }
}

// Documentation/conflicts.md, block 4
enum Documentation_conflicts_4 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let replica = try await connector.open("notes", collections: notes, undoCountMax: 50)
        try await store.write { try replica.undo(in: $0) }
        try await store.write { try replica.redo(in: $0) }
        let counts = try await store.read { try replica.undoCounts(in: $0) }     // to enable two buttons
    }
}

// Documentation/conflicts.md, block 5
enum Documentation_conflicts_5 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        var pipeline = uploads
        pipeline.resolve = { conflict in
            guard conflict.key?.collection == "contacts" else { return conflict.resolvedIfClean() }
            return .take(conflict.merged().value)          // the merge, whatever was in doubt
        }
    }
}
