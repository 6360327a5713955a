#if PostgreSQL
internal import GodwitReplication
internal import Logging
internal import Synchronization

/// Reads heads that may be new, and tells those who follow them: each replica by itself.
///
/// A head is told in its replica's turn, which a decision may hold for long. Meanwhile the heads of
/// other replicas are told, and of this one only the newest is left to tell.
final class HeadTeller: Sendable {
    private let server: ReplicaServer
    private let backoff: PostgreSQLBackoff
    private let logger: Logger
    private let notes: Mutex<HeadNotes>
    private let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation

    /// How many heads may wait to be read; those that are not noted are read when they are next told of.
    private static let countMax = 65_536
    /// How many are read at once for each connection: a slow decision has one of its own, so that there
    /// are always replicas among these that are not slow.
    private static let runningPerConnection = 8

    init(_ server: ReplicaServer, _ options: PostgreSQLOptions, _ logger: Logger) {
        (self.server, self.backoff, self.logger) = (server, options.backoff, logger)
        let runningMax = Self.runningPerConnection * options.connectionMax
        notes = Mutex(HeadNotes(runningMax: runningMax, countMax: Self.countMax))
        (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Notes that replicas may have new heads.
    func tell(of names: Set<ReplicaName>) {
        notes.withLock { notes in
            for name in names { notes.note(name) }
        }
        signal.yield()
    }

    /// Reads and tells what is noted, until the task is cancelled.
    func run() async {
        await withDiscardingTaskGroup { group in
            for await _ in signals {
                while let name = notes.withLock({ $0.begin() }) {
                    group.addTask {
                        await self.tellHead(of: name)
                        self.notes.withLock { $0.end(name) }
                        self.signal.yield()
                    }
                }
            }
        }
    }

    /// Tells the head of a replica; tries again while it is followed and cannot be read.
    private func tellHead(of name: ReplicaName) async {
        var attempts = 0
        while !Task.isCancelled {
            do {
                return try await server.tellHead(of: name)
            } catch ReplicationError.unknownReplica {
                return
            } catch {
                guard !Task.isCancelled, server.isFollowed(name) else { return }
                attempts += 1
                if attempts == 1 {
                    logger.info(
                        "a head was not read, and will be",
                        metadata: ["replica": "\(name)", "error": "\(error)"]
                    )
                }
                try? await backoff.wait(after: attempts)
            }
        }
    }
}
#endif
