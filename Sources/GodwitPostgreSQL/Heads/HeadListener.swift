#if PostgreSQL
internal import GodwitReplication
internal import Logging
internal import Synchronization

/// Hears of heads that other nodes have made, and tells those who follow them here.
///
/// It has a connection of its own. While it has none, or the database has no notifications, it asks for
/// the heads that are followed. Each head is read before it is told, so that no notice can be a lie,
/// and none comes too late.
final class HeadListener: Sendable {
    private let database: PostgreSQLDatabase
    private let server: ReplicaServer
    private let node: UInt64
    private let logger: Logger
    private let lane = Mutex<SessionThread?>(nil)

    /// How often a connection that hears nothing is asked whether it is still there.
    private static let silenceMax = Duration.seconds(10)

    init(_ database: PostgreSQLDatabase, _ server: ReplicaServer, node: UInt64, logger: Logger) {
        (self.database, self.server) = (database, server)
        (self.node, self.logger) = (node, logger)
    }

    /// Listens until the task is cancelled.
    func run() async {
        server.whenFollowedNamesChange { [weak self] in self?.lane.withLock(\.self)?.wake() }
        var canListen = true
        while !Task.isCancelled {
            do {
                if canListen { try await listenOnce() }
            } catch let error as PostgreSQLError where error.isUnsupported {
                canListen = false
            } catch {
                logger.info("listening ended", metadata: ["error": "\(error)"])
            }
            // What fails is tried again in the next round.
            try? await tellHeads(of: server.followedNames)
            try? await database.options.backoff.sleep(database.options.pollInterval)
        }
    }

    /// Connects, and listens until the connection ends.
    private func listenOnce() async throws {
        let lane = try await SessionThread.connect(to: database.address, database.options)
        self.lane.withLock { $0 = lane }
        defer {
            self.lane.withLock { $0 = nil }
            lane.end()
        }
        var channels: Set<String> = []
        while !Task.isCancelled {
            let names = server.followedNames
            let wanted = Set(names.map(HeadChannel.name))
            let added = wanted.subtracting(channels)
            try await listen(added, not: channels.subtracting(wanted), on: lane)
            channels = wanted
            // Something may have been told before this node listened.
            try await tellHeads(of: names.filter { added.contains(HeadChannel.name(of: $0)) })
            let heard = try await hear(on: lane)
            try await tellHeads(of: server.followedNames.intersection(heard))
        }
    }

    private func listen(
        _ added: Set<String>,
        not removed: Set<String>,
        on lane: SessionThread
    ) async throws {
        guard !added.isEmpty || !removed.isEmpty else { return }
        let commands = added.map { "LISTEN \($0)" } + removed.map { "UNLISTEN \($0)" }
        try await lane.run { session in
            Result { for command in commands { try session.execute(command) } }
        }.get()
    }

    /// Waits for notices of other nodes, for other followers, or for a while.
    private func hear(on lane: SessionThread) async throws -> Set<ReplicaName> {
        let payloads = try await lane.run { session in
            Result {
                var found = try session.notifications()
                if found.isEmpty {
                    let isSilent = session.waitForNotifications(atMost: Self.silenceMax)
                    if isSilent { try session.execute("SELECT 1") }
                    found = try session.notifications()
                }
                return found.map(\.payload)
            }
        }.get()
        let notices = payloads.compactMap(HeadNotice.init)
        return Set(notices.filter { $0.node != node }.map(\.replica))
    }

    private func tellHeads(of names: Set<ReplicaName>) async throws {
        for name in names {
            do {
                try await server.tellHead(of: name)
            } catch ReplicationError.unknownReplica {
                continue
            }
        }
    }
}
#endif
