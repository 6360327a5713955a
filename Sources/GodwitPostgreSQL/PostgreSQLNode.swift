#if PostgreSQL
public import GodwitReplication
public import Logging

/// One of any number of servers that share the replicas in a PostgreSQL database.
///
/// ```swift
/// let database = PostgreSQLDatabase(try PostgreSQLAddress("postgres://godwit@localhost/sync"))
/// try await database.migrate()
/// let node = try await PostgreSQLNode(database)
/// await node.run()        // and meanwhile node.server answers
/// ```
///
/// Nothing that a node keeps in memory is needed by another one: a message may go to any of them.
/// What one commits, those who follow the replica on another hear while both run.
public final class PostgreSQLNode: Sendable {
    public let server: ReplicaServer
    private let herald: HeadHerald
    private let listener: HeadListener

    /// Notes where each line stands, in case that the database was restored from a backup.
    ///
    /// - Throws: ``PostgreSQLError``; ``PostgreSQLError/schemaIsOlder(step:known:)`` before
    ///   ``PostgreSQLDatabase/migrate()``.
    public init(
        _ database: PostgreSQLDatabase,
        options: ReplicaServer.Options = ReplicaServer.Options(),
        logger: Logger = Logger(label: "godwit.postgresql")
    ) async throws {
        let node = UInt64.random(in: .min ... .max)
        herald = HeadHerald(database, node: node, logger: logger)
        let storage = try await PostgreSQLLineStorage(database, herald: herald)
        server = ReplicaServer(storage, options: options)
        listener = HeadListener(database, server, node: node, logger: logger)
    }

    /// Tells other nodes of new heads, and hears of theirs, until the task is cancelled.
    public func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [herald] in await herald.run() }
            group.addTask { [listener] in await listener.run() }
        }
    }
}
#endif
