#if PostgreSQL
import Dispatch
import GodwitReplication
import GodwitTestKit

@testable import GodwitPostgreSQL

/// A body has not ended while the database slept.
struct TookTooLong: Error {}

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

    /// Runs a body that must end while the database sleeps for some seconds.
    ///
    /// - Throws: ``TookTooLong``, and what the body throws.
    @discardableResult
    func within<Result: Sendable>(
        seconds: Int = 20,
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let other = again { ($0.connectionMax, $0.statementMax) = (1, .seconds(60)) }
        return try await withThrowingTaskGroup(of: Result?.self) { group in
            group.addTask { try await body() }
            group.addTask {
                try await other.pool.run { _ = try $0.query("SELECT 1 FROM pg_sleep(\(seconds))") }
                return nil
            }
            defer { group.cancelAll() }
            guard let first = try await group.next(), let result = first else {
                throw TookTooLong()
            }
            return result
        }
    }

    /// Holds the lock of a replica's row while a body runs.
    func locked(_ name: ReplicaName, _ body: () async throws -> Void) async throws {
        let other = again { $0.connectionMax = 1 }
        let isDone = DispatchSemaphore(value: 0)
        let (locks, lock) = AsyncStream.makeStream(of: Void.self)
        async let holder: Void = other.pool.run { session in
            try session.begin(.write)
            _ = try LineRow.head(of: name, isLocked: true, on: session)
            lock.yield()
            isDone.wait()
        }
        do {
            defer { isDone.signal() }
            for await _ in locks { break }
            try await body()
        }
        try await holder
    }

    /// Ends the connections that listen, and returns how many there were.
    @discardableResult
    func endListening() async throws -> Int64 {
        try await integer("SELECT count(pg_terminate_backend(pid)) \(Self.listening)")
    }

    /// Waits until a connection listens, and waits for notices.
    func untilListening() async throws {
        try await wait(for: "SELECT count(*) \(Self.listening) AND state = 'idle'") { $0 == 1 }
    }

    static let own = "FROM pg_stat_activity WHERE datname = current_database()"
    static let listening = "\(own) AND query LIKE 'LISTEN %'"
}

/// Runs nodes beside a body.
func running(_ nodes: [PostgreSQLNode], _ body: () async throws -> Void) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        for node in nodes { group.addTask { await node.run() } }
        defer { group.cancelAll() }
        try await body()
    }
}

extension PostgreSQLOptions {
    /// Leaves notices as the only way in which a node hears of heads, but for the start of listening.
    mutating func hearsNoticesAlone() {
        (pollInterval, silenceMax) = (.seconds(3_600), .seconds(3_600))
    }
}
#endif
