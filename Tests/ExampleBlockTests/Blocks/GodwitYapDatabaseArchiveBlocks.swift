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

// Sources/GodwitYapDatabase/Archive/KeyedArchive.swift, block 1
enum Sources_GodwitYapDatabase_Archive_KeyedArchive_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let archive = try KeyedArchive(body)
        archive.className        // "Contact"
        archive.root["name"]     // "Robbie"
    }
}
