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
