internal import Foundation
internal import GRDB
public import GodwitTree

/// What a store looks like inside, at one moment.
public struct StoreStatistics: Hashable, Sendable {
    public let commit: CommitNumber
    /// How many objects each collection has.
    public let objectCounts: [Key: Int]
    /// How large the database is, the WAL left aside, in bytes.
    public let databaseSize: Int
    /// How many pages the WAL had after the last commit here.
    public let walPageCount: Int
    public let queueDepth: Int
    /// Requests that were committed, or had nothing to commit, since the store was opened.
    public let requestCount: Int
    /// Physical transactions that have changed something since then.
    public let groupCount: Int
    public let cacheHits: Int
    public let cacheMisses: Int
    public let cacheSize: Int
    /// How much memory goes into what views still show, in bytes.
    public let viewSize: Int
    public let viewCount: Int
    public let oldestView: CommitNumber?
}

/// What a check of the whole store has found.
public struct IntegrityReport: Hashable, Sendable {
    /// What is wrong, in sentences; empty when nothing is.
    public internal(set) var problems: [String] = []
    public internal(set) var objectCount = 0

    public var isSound: Bool { problems.isEmpty }
}

extension Store {
    public func statistics() async throws -> StoreStatistics {
        let (counts, size, commit) = try await read { transaction in
            let database = transaction.connection
            let names = try Ledger.collections(in: database)
            let counts = try names.map { ($0, try Ledger.total(of: $0, in: database).count) }
            let pages = try Int.fetchOne(database, sql: "PRAGMA page_count") ?? 0
            let pageSize = try Int.fetchOne(database, sql: "PRAGMA page_size") ?? 0
            return (counts, pages * pageSize, transaction.lastCommit)
        }
        let cache = context.cache.withVersions { ($0.counts, $0.viewCount, $0.oldestView) }
        let work = writer.counts
        return StoreStatistics(
            commit: commit,
            objectCounts: Dictionary(uniqueKeysWithValues: counts.map { ($0, Int($1)) }),
            databaseSize: size,
            walPageCount: checkpointer.walPages,
            queueDepth: work.waiting,
            requestCount: work.requests,
            groupCount: work.groups,
            cacheHits: cache.0.hits,
            cacheMisses: cache.0.misses,
            cacheSize: cache.0.cost,
            viewSize: cache.0.pastCost,
            viewCount: cache.1,
            oldestView: cache.2
        )
    }

    /// Reads everything: SQLite's own check, each object and its seal, the ledger, the indexes.
    ///
    /// Writers go on meanwhile. A damaged object is a problem in the report, and no error.
    ///
    /// - Parameter progress: Called now and then with how many objects were read.
    public func integrityCheck(
        progress: @escaping @Sendable (Int) -> Void = { _ in }
    ) async throws -> IntegrityReport {
        let context = context
        do {
            return try await lanes.read {
                try IntegrityCheck(database: $0, context: context, progress: progress).run()
            }
        } catch let error as DatabaseError {
            var report = IntegrityReport()
            report.problems = ["SQLite cannot read the database: \(error.message ?? "?")"]
            return report
        }
    }

    /// Copies the store, as it is at the newest commit, into a new file; writers go on meanwhile.
    ///
    /// The copy is complete and on the disk when this returns; an interrupted one leaves only a
    /// file named `…-unfinished`.
    ///
    /// - Throws: ``StoreError/unavailable(path:reason:)`` when there is a file already.
    public func backup(to path: String) async throws {
        guard !FileManager.default.fileExists(atPath: path) else {
            throw StoreError.unavailable(path: path, reason: "there is a file already")
        }
        let unfinished = path + "-unfinished"
        try? FileManager.default.removeItem(atPath: unfinished)
        let sql = "VACUUM INTO ?"
        do {
            if !connections.isOwner {
                // The app's own connection has the key of an encrypted database.
                try await database.unsafeRead { database in
                    try database.execute(sql: sql, arguments: [unfinished])
                }
            } else if case .file(let source) = location {
                var configuration = Configuration()
                configuration.readonly = true
                let queue = try DatabaseQueue(path: source, configuration: configuration)
                try await queue.inDatabase(sql, unfinished)
                try queue.close()
            } else {
                try await database.inDatabase(sql, unfinished)
            }
        } catch {
            try? FileManager.default.removeItem(atPath: unfinished)
            throw context.translated(error)
        }
        try DiskFile.sync(unfinished)
        try FileManager.default.moveItem(atPath: unfinished, toPath: path)
        try DiskFile.sync((path as NSString).deletingLastPathComponent)
    }

    /// Gives the space of what was removed back to the file system; takes as long as a copy.
    ///
    /// Writes wait meanwhile.
    public func vacuum() async throws {
        try await writer.betweenGroups { database in
            try database.execute(sql: "VACUUM")
            try database.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
        }
    }

    /// Removes what has been in collections with a retention for too long.
    ///
    /// Happens by itself when the store opens and whenever such a collection changes.
    public func expire() async throws {
        let hook = RetentionHook(context.options.collections, clock: context.options.clock)
        try await write { try hook.expireAll(in: $0) }
    }

    /// Takes in what other processes commit, until the surrounding task is cancelled.
    ///
    /// Without this, their change sets come with the next read or write here.
    public func followOtherProcesses(
        every interval: Duration = .milliseconds(100),
        clock: any Clock<Duration> = ContinuousClock()
    ) async throws {
        while true {
            try await read { _ in }
            try await clock.sleep(for: interval)
        }
    }
}

extension DatabaseWriter {
    fileprivate func inDatabase(_ sql: String, _ argument: String) async throws {
        try await writeWithoutTransaction { try $0.execute(sql: sql, arguments: [argument]) }
    }
}

private enum DiskFile {
    /// Has the disk take a file, or the names in a folder.
    static func sync(_ path: String) throws {
        let descriptor = open(path.isEmpty ? "." : path, O_RDONLY)
        guard descriptor >= 0 else {
            throw StoreError.unavailable(path: path, reason: String(cString: strerror(errno)))
        }
        defer { close(descriptor) }
        #if canImport(Darwin)
        // There, fsync(2) leaves the bytes in the drive's own cache.
        let isSynced = fcntl(descriptor, F_FULLFSYNC) == 0 || fsync(descriptor) == 0
        #else
        let isSynced = fsync(descriptor) == 0
        #endif
        guard isSynced else {
            throw StoreError.inputOutput(reason: String(cString: strerror(errno)))
        }
    }
}
