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

// Sources/GodwitPostgreSQL/Connection/PostgreSQLAddress.swift, block 1
enum Sources_GodwitPostgreSQL_Connection_PostgreSQLAddress_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let address = try PostgreSQLAddress("postgres://godwit@db.example.com/sync?sslmode=verify-full")
    }
}
#endif

#if PostgreSQL
import GodwitPostgreSQL

// Sources/GodwitPostgreSQL/Connection/PostgreSQLOptions.swift, block 1
enum Sources_GodwitPostgreSQL_Connection_PostgreSQLOptions_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        var options = PostgreSQLOptions()
        options.connectionMax = 16
    }
}
#endif
