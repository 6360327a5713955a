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
