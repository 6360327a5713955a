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
