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

#if PostgreSQL
import GodwitPostgreSQL

// Sources/GodwitServer/Copy/ServerCopy.swift, block 1
enum Sources_GodwitServer_Copy_ServerCopy_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let address = try PostgreSQLAddress("postgres://godwit@db.example.com/sync")
        let copy = ServerCopy(store: store, database: PostgreSQLDatabase(address))
        try await copy.run(.toDatabase) { print("\($0.replica): \($0.rowCount) rows") }
    }
}
#endif
