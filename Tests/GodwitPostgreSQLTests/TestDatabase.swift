#if PostgreSQL
import GodwitReplication
import GodwitTestKit

@testable import GodwitPostgreSQL

/// A new database on the server that the tests of this program share, or on one of their own.
func newDatabase(
    on cluster: PostgreSQLCluster? = nil,
    migrated: Bool = true,
    _ change: (inout PostgreSQLOptions) -> Void = { _ in }
) async throws -> PostgreSQLDatabase {
    let cluster = if let cluster { cluster } else { try await PostgreSQLCluster.shared() }
    var options = PostgreSQLOptions()
    change(&options)
    let address = try await PostgreSQLAddress(cluster.database())
    let database = PostgreSQLDatabase(address, options: options)
    if migrated { try await database.migrate() }
    return database
}

extension PostgreSQLDatabase {
    /// The same database, as another node connects to it.
    func again(_ change: (inout PostgreSQLOptions) -> Void = { _ in }) -> PostgreSQLDatabase {
        var options = options
        change(&options)
        return PostgreSQLDatabase(address, options: options)
    }

    func integer(_ sql: String) async throws -> Int64 {
        // A connection that was ended may not have noticed it yet.
        try await attempt { try await self.pool.run { try $0.query(sql).integer(0, 0) } }
    }

    /// Waits until a query has a number that is looked for.
    func wait(for sql: String, _ isWanted: (Int64) -> Bool) async throws {
        for _ in 0..<2_000 {
            if isWanted(try await integer(sql)) { return }
            // The database waits, and no thread of this program.
            try await pool.run { _ = try $0.query("SELECT 1 FROM pg_sleep(0.01)") }
        }
        throw PostgreSQLError.timedOut
    }
}
#endif
