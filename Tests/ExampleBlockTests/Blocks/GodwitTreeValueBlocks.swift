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

// Sources/GodwitTree/Value/Key.swift, block 1
enum Sources_GodwitTree_Value_Key_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        Key("\u{e9}") == Key("e\u{301}")  // false
    }
}

// Sources/GodwitTree/Value/List.swift, block 1
enum Sources_GodwitTree_Value_List_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        var items: Value.List = ["Bread", "Wine"]
        items.insert("Milk", at: 1)
    }
}

// Sources/GodwitTree/Value/Map.swift, block 1
enum Sources_GodwitTree_Value_Map_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        var item: Value.Map = ["name": "Wine"]
        item["crossed"] = true
        item["name"] = nil
    }
}

// Sources/GodwitTree/Value/ReadBudget.swift, block 1
enum Sources_GodwitTree_Value_ReadBudget_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let value = try Value(json: body, budget: .request)
    }
}

// Sources/GodwitTree/Value/Value.swift, block 1
enum Sources_GodwitTree_Value_Value_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let item: Value = ["name": "Wine", "crossed": false]
        item["name"]  // "Wine"
    }
}
