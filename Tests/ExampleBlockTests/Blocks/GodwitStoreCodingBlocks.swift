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

// Sources/GodwitStore/Coding/Defaulted.swift, block 1
enum Sources_GodwitStore_Coding_Defaulted_1 {
    struct Item: Codable, Sendable, Defaulted {
        var name: String
        var isCrossed = false

        static let defaults = Item(name: "")
    }
}
