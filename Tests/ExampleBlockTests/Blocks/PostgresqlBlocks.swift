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

// Documentation/postgresql.md, block 1
enum Documentation_postgresql_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let address = try PostgreSQLAddress("postgres://godwit@db.example.com/sync")
        let server = SyncServer(database: PostgreSQLDatabase(address), options: SyncOptions(access: .keys))
        try await server.run()
    }
}
#endif
