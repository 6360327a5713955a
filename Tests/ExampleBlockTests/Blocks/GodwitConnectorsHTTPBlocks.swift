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

// Sources/GodwitConnectors/HTTP/HTTPTransport.swift, block 1
enum Sources_GodwitConnectors_HTTP_HTTPTransport_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let transport = try HTTPTransport(server: "https://sync.example.com", token: "…")
        try await transport.create(ReplicaName("shopping"))
    }
}

// Sources/GodwitConnectors/HTTP/HTTPTransport.swift, block 2
enum Sources_GodwitConnectors_HTTP_HTTPTransport_2 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let transport = try HTTPTransport(server: "https://sync.example.com") {
            try await session.freshToken()
        }
    }
}
