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
