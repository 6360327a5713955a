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

// Sources/GodwitTestKit/Disk/SimulatedDisk.swift, block 1
enum Sources_GodwitTestKit_Disk_SimulatedDisk_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let folder = try TemporaryFolder()
        let disk = SimulatedDisk(folder: folder)
        disk.cutPower(at: 20)
        let store = try? Store(.file(folder.path("store.sqlite")))   // sees errors from then on
        disk.restart(seed: 7)                                        // what a new store finds
    }
}
