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

// Sources/GodwitPostgreSQL/PostgreSQLNode.swift, block 1
enum Sources_GodwitPostgreSQL_PostgreSQLNode_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let database = PostgreSQLDatabase(try PostgreSQLAddress("postgres://godwit@localhost/sync"))
        try await database.migrate()
        let node = try await PostgreSQLNode(database)
        await node.run()        // and meanwhile node.server answers
    }
}
#endif
