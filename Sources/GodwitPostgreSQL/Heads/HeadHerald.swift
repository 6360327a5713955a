#if PostgreSQL
internal import GodwitReplication
internal import Logging
internal import Synchronization

/// Tells other nodes which replicas have new heads.
///
/// It does so after the commits, and not in them: PostgreSQL commits transactions with notifications
/// one after the other. What is not told, other nodes find when they ask for the heads themselves.
final class HeadHerald: Sendable {
    let node: UInt64
    private let database: PostgreSQLDatabase
    private let logger: Logger
    private let pending = Mutex<Set<ReplicaName>>([])
    private let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation

    /// How many replicas may wait to be told of.
    private static let pendingMax = 65_536
    /// Of how many one transaction tells.
    private static let portionCount = 256

    init(_ database: PostgreSQLDatabase, node: UInt64, logger: Logger) {
        (self.database, self.node, self.logger) = (database, node, logger)
        (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Notes that a replica has a new head.
    func tell(of name: ReplicaName) {
        let isNoted = pending.withLock { pending in
            guard pending.count < Self.pendingMax else { return false }
            return pending.insert(name).inserted
        }
        if isNoted { signal.yield() }
    }

    /// Tells what is noted, until the task is cancelled or the database has no notifications.
    func run() async {
        for await _ in signals {
            while let names = takePortion() {
                do {
                    try await tell(of: names)
                } catch let error as PostgreSQLError where error.isUnsupported {
                    logger.info("the database has no notifications: nodes ask for heads")
                    return
                } catch is CancellationError {
                    return
                } catch {
                    // Nodes that cannot be told ask by themselves.
                    logger.info("new heads were not told", metadata: ["error": "\(error)"])
                }
            }
        }
    }

    private func takePortion() -> [ReplicaName]? {
        pending.withLock { pending in
            let names = Array(pending.prefix(Self.portionCount))
            pending.subtract(names)
            return names.isEmpty ? nil : names
        }
    }

    private func tell(of names: [ReplicaName]) async throws {
        let node = node
        try await database.write { session in
            // Nothing is lost with a notification that a crash takes away: no sync is needed.
            try session.execute("SET LOCAL synchronous_commit = off")
            for name in names {
                try session.query(
                    "SELECT 1 FROM pg_notify($1, $2)",
                    [
                        .text(HeadChannel.name(of: name)),
                        .text(HeadNotice(node: node, replica: name).payload),
                    ]
                )
            }
        }
    }
}
#endif
