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

// Sources/GodwitTestKit/Executor/SimulatedScheduler.swift, block 1
enum Sources_GodwitTestKit_Executor_SimulatedScheduler_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let scheduler = SimulatedScheduler(seed: 7)
        Task(executorPreference: scheduler.executor(of: 1)) { await serve() }
        while scheduler.step() {}
    }
}
