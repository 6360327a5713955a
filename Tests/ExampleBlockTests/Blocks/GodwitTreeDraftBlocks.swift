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

// Sources/GodwitTree/Draft/Draft.swift, block 1
enum Sources_GodwitTree_Draft_Draft_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        var list: Value = ["items": [["name": "Bread"], ["name": "Wine"]], "note": "for tonight"]
        let isCrossed = true
        let delta = try list.edit {
            $0.items[0].crossed = isCrossed
            $0.items[1].quantity = 2
            $0.items[1].quantity += 1
            $0.items.list.move(from: 1, to: 0)
            $0.items.list.append(["name": "Milk"])
            $0.note.text.append(", or tomorrow")
        }
    }
}

// Sources/GodwitTree/Draft/ListDraft.swift, block 1
enum Sources_GodwitTree_Draft_ListDraft_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        try value.edit {
            $0.items.list.append("Milk")
            $0.items.list.move(from: $0.items.list.count - 1, to: 0)
        }
    }
}

// Sources/GodwitTree/Draft/TextDraft.swift, block 1
enum Sources_GodwitTree_Draft_TextDraft_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        try value.edit {
            $0.note.text.insert("very ", at: 4)
            $0.note.text.replaceSubrange(0..<3, with: "The")
        }
    }
}

// Sources/GodwitTree/Draft/Value+Edit.swift, block 1
enum Sources_GodwitTree_Draft_Value_Edit_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        var item: Value = ["name": "Wine", "quantity": 1]
        let delta = try item.edit { $0.quantity += 2 }  // {:quantity #d/inc 2}
    }
}

// Sources/GodwitTree/Draft/ValueConvertible.swift, block 1
extension Money: ValueConvertible {
    func asValue() throws(TreeError) -> Value { try cents.asValue() }

    init?(value: Value) {
        guard let cents = Int(value: value) else { return nil }
        self.init(cents: cents)
    }
}
enum Sources_GodwitTree_Draft_ValueConvertible_1 {
}
