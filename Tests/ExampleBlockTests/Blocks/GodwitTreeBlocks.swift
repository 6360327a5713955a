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

// Sources/GodwitTree/Delta/Delta+Compose.swift, block 1
enum Sources_GodwitTree_Delta_Delta_Compose_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        try first.composed(with: second).applied(to: base)
            == second.applied(to: first.applied(to: base))
    }
}

// Sources/GodwitTree/Delta/Delta+Destination.swift, block 1
enum Sources_GodwitTree_Delta_Delta_Destination_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let base: Value = ["items": ["bread", "wine"]]
        let delta = Delta.diff(base, ["items": ["milk", "bread", "wine"]])
        delta.destination(of: ValuePath([.key("items"), .position(1)]))   // /items/2
    }
}

// Sources/GodwitTree/Delta/Delta.swift, block 1
enum Sources_GodwitTree_Delta_Delta_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let delta = Delta.diff(["items": ["Bread"]], ["items": ["Bread", "Wine"]])
        try delta.applied(to: ["items": ["Bread"]])  // {:items ["Bread" "Wine"]}
        delta.ednText()                              // {:items {:+ {1 "Wine"}}}
    }
}

// Sources/GodwitTree/Delta/SealedDelta.swift, block 1
enum Sources_GodwitTree_Delta_SealedDelta_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let change = SealedDelta.diff(old, new)
        try change.apply(to: old)  // .applied(new)
        try change.apply(to: new)  // .alreadyApplied
    }
}

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

// Sources/GodwitTree/Interchange/JSONPatch+Export.swift, block 1
enum Sources_GodwitTree_Interchange_JSONPatch_Export_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let delta = Delta.diff(["a": [1, 2, 3]], ["a": [3, 1, 2]])
        try JSONPatch(delta, on: ["a": [1, 2, 3]]).encoded
            // [{:from "/a/2" :op "move" :path "/a/0"}]
    }
}

// Sources/GodwitTree/Interchange/JSONPatch+Recognition.swift, block 1
enum Sources_GodwitTree_Interchange_JSONPatch_Recognition_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let patch = try JSONPatch([["op": "add", "path": "/wine", "value": 2]])
        patch.isApplied(to: ["bread": 1, "wine": 2])  // true
        patch.isApplied(to: ["bread": 1])             // false
    }
}

// Sources/GodwitTree/Interchange/JSONPatch.swift, block 1
enum Sources_GodwitTree_Interchange_JSONPatch_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let patch = try JSONPatch([["op": "add", "path": "/items/-", "value": "Wine"]])
        try patch.applied(to: ["items": ["Bread"]])  // {:items ["Bread" "Wine"]}
    }
}

// Sources/GodwitTree/Interchange/JSONPointer.swift, block 1
enum Sources_GodwitTree_Interchange_JSONPointer_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let pointer = try JSONPointer("/items/0/a~1b")  // items, 0, a/b
    }
}

// Sources/GodwitTree/Interchange/MergePatch.swift, block 1
enum Sources_GodwitTree_Interchange_MergePatch_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let value: Value = ["a": 1, "b": 2]
        try value.applying(mergePatch: ["a": .null, "c": 3])  // {:b 2 :c 3}
    }
}

// Sources/GodwitTree/Interchange/MergePatch.swift, block 2
enum Sources_GodwitTree_Interchange_MergePatch_2 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        try Delta(mergePatch: ["a": .null, "c": 3], on: ["a": 1, "b": 2])  // {:a #d/del nil :c 3}
    }
}

// Sources/GodwitTree/Merge/Merge.swift, block 1
enum Sources_GodwitTree_Merge_Merge_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let merge = Merge(
            base: ["list": ["Bread"]],
            ours: ["list": ["Bread", "Wine"]],
            theirs: ["list": ["Milk", "Bread"]])
        merge.value      // {:list ["Milk" "Bread" "Wine"]}
        merge.conflicts  // []
    }
}

// Sources/GodwitTree/Pack/Delta+Pack.swift, block 1
enum Sources_GodwitTree_Pack_Delta_Pack_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let bytes = try delta.packed(on: base)
        try Delta(packed: bytes, on: base).applied(to: base) == delta.applied(to: base)
    }
}

// Sources/GodwitTree/Policy/MergePolicy.swift, block 1
enum Sources_GodwitTree_Policy_MergePolicy_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        var policy = MergePolicy()
        policy.set(.max, at: "/votes")
        policy.set(.deleteWins, at: "/items/*")
        policy.identify(by: "sku", at: "/items")
        let merge = Merge(base: base, ours: ours, theirs: theirs, policy: policy)
    }
}

// Sources/GodwitTree/Policy/MergePolicy.swift, block 2
enum Sources_GodwitTree_Policy_MergePolicy_2 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        policy.include(Price.mergePolicy, at: "/items/*/price")
    }
}

// Sources/GodwitTree/Policy/MergePolicyProviding.swift, block 1
enum Sources_GodwitTree_Policy_MergePolicyProviding_1 {
    struct Price: Codable {
        var amount: Int
        var currency: String
    }
    struct Item: Codable, MergePolicyProviding {
        var name: String
        var price: Price
        var votes = 0

        static var mergePolicy: MergePolicy {
            var policy = MergePolicy(version: 1)
            policy.set(.whole, at: "/price")
            policy.set(.max, at: "/votes")
            return policy
        }
    }
}

// Sources/GodwitTree/Text/EDNReader+Delta.swift, block 1
enum Sources_GodwitTree_Text_EDNReader_Delta_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let delta = try Delta(edn: "{:items {:- #{0} :+ {1 {:name \"Wine\"}}}}")
    }
}

// Sources/GodwitTree/Text/EDNReader.swift, block 1
enum Sources_GodwitTree_Text_EDNReader_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let list = try Value(edn: "{:items [\"Bread\", \"Wine\"] ; to buy\n}")
    }
}

// Sources/GodwitTree/Text/EDNWriter.swift, block 1
enum Sources_GodwitTree_Text_EDNWriter_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        (["items": [["name": "Wine"]]] as Value).ednText()  // {:items [{:name "Wine"}]}
    }
}

// Sources/GodwitTree/Text/JSONReader.swift, block 1
enum Sources_GodwitTree_Text_JSONReader_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let item = try Value(json: #"{"name": "Wine", "price": 12.50}"#)
    }
}

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
