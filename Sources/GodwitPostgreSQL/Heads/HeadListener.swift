#if PostgreSQL
internal import GodwitReplication
internal import Logging
internal import Synchronization

/// Hears of heads that other nodes have made, and has those who follow them here told.
///
/// It has a connection of its own. While it has none, or the database has no notifications, it asks for
/// the heads that are followed. Each head is read before it is told, so that no notice can be a lie,
/// and none comes too late.
final class HeadListener: Sendable {
    private let database: PostgreSQLDatabase
    private let server: ReplicaServer
    private let node: UInt64
    private let logger: Logger
    private let teller: HeadTeller
    private let lane = Mutex<SessionThread?>(nil)

    init(_ database: PostgreSQLDatabase, _ server: ReplicaServer, node: UInt64, logger: Logger) {
        (self.database, self.server) = (database, server)
        (self.node, self.logger) = (node, logger)
        teller = HeadTeller(server, database.options, logger)
    }

    /// Listens until the task is cancelled.
    func run() async {
        server.whenFollowedNamesChange { [weak self] in self?.lane.withLock(\.self)?.wake() }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.teller.run() }
            group.addTask { await self.listen() }
        }
    }

    private func listen() async {
        var canListen = true
        while !Task.isCancelled {
            do {
                if canListen { try await listenOnce() }
            } catch is NoNotifications {
                logger.info("the database cannot listen: this node asks for heads")
                canListen = false
            } catch {
                logger.info("listening ended", metadata: ["error": "\(error)"])
            }
            teller.tell(of: server.followedNames)
            try? await database.options.backoff.sleep(database.options.pollInterval)
        }
    }

    /// Connects, and listens until the connection ends.
    ///
    /// - Throws: ``NoNotifications``, ``PostgreSQLError``.
    private func listenOnce() async throws {
        let lane = try await SessionThread.connect(to: database.address, database.options)
        self.lane.withLock { $0 = lane }
        defer {
            self.lane.withLock { $0 = nil }
            lane.end()
        }
        var channels: Set<String> = []
        while !Task.isCancelled {
            // Replicas that are followed from now on wake the thread.
            let wanted = Set(server.followedNames.map(HeadChannel.name))
            let added = wanted.subtracting(channels)
            try await listen(added, not: channels.subtracting(wanted), on: lane)
            channels = wanted
            // Something may have been told before this node listened, also of replicas that are followed
            // since it has begun to.
            if !added.isEmpty {
                teller.tell(
                    of: server.followedNames.filter { added.contains(HeadChannel.name(of: $0)) }
                )
            }
            let heard = try await hear(on: lane)
            if !heard.isEmpty { teller.tell(of: heard.intersection(server.followedNames)) }
        }
    }

    private func listen(
        _ added: Set<String>,
        not removed: Set<String>,
        on lane: SessionThread
    ) async throws {
        guard !added.isEmpty || !removed.isEmpty else { return }
        try await lane.run { session in
            Result {
                for channel in added { try Self.listen(channel, session) }
                for channel in removed { try session.execute("UNLISTEN \(channel)") }
            }
        }.get()
    }

    private static func listen(_ channel: String, _ session: PostgreSQLSession) throws {
        do throws(PostgreSQLError) {
            try session.execute("LISTEN \(channel)")
        } catch {
            throw error.isUnknownCommand ? NoNotifications() : error
        }
    }

    /// Waits for notices of other nodes, for other followers, or for a while.
    private func hear(on lane: SessionThread) async throws -> Set<ReplicaName> {
        let silenceMax = database.options.silenceMax
        let payloads = try await lane.run { session in
            Result {
                var found = try session.notifications()
                if found.isEmpty {
                    let isSilent = session.waitForNotifications(atMost: silenceMax)
                    if isSilent { try session.execute("SELECT 1") }
                    found = try session.notifications()
                }
                return found.map(\.payload)
            }
        }.get()
        let notices = payloads.compactMap(HeadNotice.init)
        return Set(notices.filter { $0.node != node }.map(\.replica))
    }
}
#endif
