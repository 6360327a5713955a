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

// Sources/GodwitConnectors/Inbox/ConflictInbox.swift, block 1
enum Sources_GodwitConnectors_Inbox_ConflictInbox_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let inbox = ConflictInbox(of: contacts, in: store)
        List(inbox.conflicts) { conflict in
            Button("Take \(conflict.other?.name ?? "the removal")") {
                Task { try await inbox.resolve(conflict, .takeOther) }
            }
        }
    }
}

// Sources/GodwitConnectors/Inbox/ObjectConflict.swift, block 1
enum Sources_GodwitConnectors_Inbox_ObjectConflict_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        for conflict in try await store.read({ try $0.conflicts(in: contacts) }) {
            print(conflict.key, conflict.current?.name ?? "removed", conflict.other?.name ?? "removed")
            try await store.write { try $0.resolve(conflict, in: contacts, .takeOther) }
        }
    }
}
