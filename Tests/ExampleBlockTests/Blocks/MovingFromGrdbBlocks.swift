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

// Documentation/moving-from-grdb.md, block 1
enum Documentation_moving_from_grdb_1 {
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let pool = try DatabasePool(path: path)
        let store = try Store(adopting: pool)
        try await store.write { transaction in
            try transaction.set(customer, for: "7", in: customers)
            try invoice.insert(transaction.database)                     // a record of yours, in the same commit
        }
        try await pool.write { database in                               // or within a transaction of yours
            try invoice.update(database)
            try store.write(in: database) { try $0.enqueue(SendInvoice(id: invoice.id)) }
        }
    }
}

// Documentation/moving-from-grdb.md, block 2
enum Documentation_moving_from_grdb_2 {
    struct Player: Codable, FetchableRecord, PersistableRecord {
        var id: Int64
        var name: String
        var score: Int
    }
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("create player") { database in
            try database.create(table: "player") { table in
                table.primaryKey("id", .integer)
                table.column("name", .text).notNull()
                table.column("score", .integer).notNull().indexed()
            }
        }
        try migrator.migrate(pool)
        try await pool.write { try Player(id: 1, name: "Ann", score: 10).insert($0) }
        let best = try await pool.read { database in
            try Player.order(Column("score").desc).limit(10).fetchAll(database)
        }
        let observation = ValueObservation.tracking { try Player.fetchAll($0) }
        for try await players in observation.values(in: pool) { show(players) }
    }
}

// Documentation/moving-from-grdb.md, block 3
enum Documentation_moving_from_grdb_3 {
    struct Player: Codable, Identifiable, Sendable {
        var id: Int
        var name: String
        var score: Int
    }
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let players = Store.Collection<Player>("players")
        var options = Store.Options()
        options.collections = [
            CollectionRules(players, indexes: [Store.Index("byScore", on: Field(\Player.score))])
        ]
        let store = try Store(.file(path), options: options)
        try await store.write { try $0.set(Player(id: 1, name: "Ann", score: 10), in: players) }
        let best = try await store.read { transaction in
            try transaction.objects(players.order(by: \.score, .descending).limit(10))
        }
        for try await rows in store.values(of: players.all) { show(rows) }
    }
}

// Documentation/moving-from-grdb.md, block 4
enum Documentation_moving_from_grdb_4 {
    struct OldPlayer: Codable, FetchableRecord, TableRecord {
        static let databaseTableName = "player"
        var id: Int
        var name: String
        var score: Int
    }
    struct Player: Codable, Identifiable, Sendable {
        var id: Int
        var name: String
        var score: Int
    }
    @MainActor static func run(_ transaction: borrowing WriteTransaction) async throws {
        let players = Store.Collection<Player>("players")
        let store = try Store(adopting: pool)
        try await store.write { transaction in
            guard try transaction.database.tableExists("player") else { return }
            for old in try OldPlayer.fetchAll(transaction.database) {
                try transaction.set(Player(id: old.id, name: old.name, score: old.score), in: players)
            }
            try transaction.database.drop(table: "player")
        }
    }
}
