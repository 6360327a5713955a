#if PostgreSQL
internal import GodwitReplication
internal import Logging
internal import Synchronization

/// Tells other nodes which replicas have new heads.
///
/// It does so after the commits, and not in them: PostgreSQL commits transactions with notifications
/// one after the other. A notice names a replica and not its head: one that could not be sent, and is
/// sent later, tells of the newest.
final class HeadHerald: Sendable {
    let node: UInt64
    private let database: PostgreSQLDatabase
    private let logger: Logger
    /// The replicas to tell of; nil where the database has no notifications.
    private let pending = Mutex<Set<ReplicaName>?>([])
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
            // What is not noted, other nodes find when they ask for the heads themselves.
            guard let count = pending?.count, count < Self.pendingMax else { return false }
            return pending?.insert(name).inserted == true
        }
        if isNoted { signal.yield() }
    }

    /// Tells what is noted, until the task is cancelled or the database has no notifications.
    func run() async {
        for await _ in signals {
            do {
                while let names = takePortion() { try await tellSurely(of: names) }
            } catch is NoNotifications {
                logger.info("the database has no notifications: nodes ask for heads")
                pending.withLock { $0 = nil }
                return
            } catch {
                // The task is cancelled: nothing else ends the attempts.
                return
            }
        }
    }

    private func takePortion() -> [ReplicaName]? {
        pending.withLock { pending in
            guard let names = pending?.prefix(Self.portionCount), !names.isEmpty else { return nil }
            pending?.subtract(names)
            return Array(names)
        }
    }

    /// Tells of replicas, as often as it takes, unless the database refuses for good.
    ///
    /// - Throws: ``NoNotifications``, `CancellationError`.
    private func tellSurely(of names: [ReplicaName]) async throws {
        for attempts in 1... {
            do {
                return try await tell(of: names)
            } catch let error as PostgreSQLError {
                if attempts == 1 {
                    logger.info(
                        "new heads were not told, and will be",
                        metadata: ["error": "\(error)"]
                    )
                }
                // One that does not pass would hold up all others: nodes ask for heads, too.
                guard error.isPassing else {
                    logger.error("a head is not told", metadata: ["error": "\(error)"])
                    return
                }
                try await database.options.backoff.wait(after: attempts)
                try Task.checkCancellation()
            }
        }
    }

    private func tell(of names: [ReplicaName]) async throws {
        let node = node
        try await database.write { session in
            let answers = try names.map { name in
                let notice = HeadNotice(node: node, replica: name)
                return try session.send(
                    "SELECT 1 FROM pg_notify($1, $2)",
                    [.text(HeadChannel.name(of: notice.replica)), .text(notice.payload)]
                )
            }
            for answer in answers {
                do throws(PostgreSQLError) { _ = try answer.rows() } catch {
                    throw error.isUnknownFunction ? NoNotifications() : error
                }
            }
            // Nothing is lost with a notification that a crash takes away: no sync is needed.
            try session.send("SET LOCAL synchronous_commit = off")
        }
    }
}
#endif
