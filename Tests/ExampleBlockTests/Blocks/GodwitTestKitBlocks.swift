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

// Sources/GodwitTestKit/Clock/ManualClock.swift, block 1
enum Sources_GodwitTestKit_Clock_ManualClock_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let clock = ManualClock()
        async let delay = clock.nextDelay()    // how long a task sleeps
        clock.advance(by: .seconds(5))
    }
}

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

// Sources/GodwitTestKit/Executor/SimulatedScheduler.swift, block 1
enum Sources_GodwitTestKit_Executor_SimulatedScheduler_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let scheduler = SimulatedScheduler(seed: 7)
        Task(executorPreference: scheduler.executor(of: 1)) { await serve() }
        while scheduler.step() {}
    }
}

// Sources/GodwitTestKit/Network/SimulatedNetwork.swift, block 1
enum Sources_GodwitTestKit_Network_SimulatedNetwork_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let network = try await SimulatedNetwork(store: Store(.memory))
        network.deliver { number in number == 0 ? .loseAnswer : .arrives }
    }
}

// Sources/GodwitTestKit/Seeded/Seeded.swift, block 1
enum Sources_GodwitTestKit_Seeded_Seeded_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        var random = Seeded(seed: 7)
        Int.random(in: 0..<10, using: &random)
    }
}
