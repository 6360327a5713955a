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
