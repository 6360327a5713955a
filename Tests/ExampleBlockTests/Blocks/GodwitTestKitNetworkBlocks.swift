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

// Sources/GodwitTestKit/Network/SimulatedNetwork.swift, block 1
enum Sources_GodwitTestKit_Network_SimulatedNetwork_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let network = try await SimulatedNetwork(store: Store(.memory))
        network.deliver { number in number == 0 ? .loseAnswer : .arrives }
    }
}
