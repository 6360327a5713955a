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
