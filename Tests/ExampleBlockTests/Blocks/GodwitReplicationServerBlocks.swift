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

// Sources/GodwitReplication/Server/ReplicaServer.swift, block 1
enum Sources_GodwitReplication_Server_ReplicaServer_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let server = try await ReplicaServer(Store(.file("server.sqlite")))
        let shopping = ReplicaName("shopping")
        try await server.create(shopping)
        let answer = try await server.answer(message, from: client, of: shopping)
    }
}
