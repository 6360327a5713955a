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
