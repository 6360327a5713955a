internal import GRDB
internal import Synchronization

#if canImport(GRDBSQLite)
internal import GRDBSQLite
#elseif canImport(SQLCipher)
internal import SQLCipher
#else
internal import SQLite3
#endif

/// Copies the WAL into the database, on the writer's thread and between transactions only.
///
/// SQLite before 3.51.3 can lose data when a checkpoint runs beside a write that resets the WAL
/// (sqlite.org/wal.html, "the WAL-reset bug"); this one never does, because each of its callers
/// holds the lock that lets one process write at a time. It runs after the writers have their
/// answers, so that none of them waits for it unless the next write comes at once.
final class Checkpointer: Sendable {
    private struct State {
        var walPages = 0
        /// The size at which the last checkpoint was tried: with a reader in the way it is not
        /// tried again at every commit.
        var triedAt = 0
        var durability: Durability?
        /// Whether commits lie in the WAL that no sync has followed.
        var hasUnsynced = false
    }

    private let state = Mutex(State())
    private let limits: WriteLimits
    /// Whether the connection is the store's own; an app's connection keeps the app's settings.
    private let isOwner: Bool

    init(limits: WriteLimits, isOwner: Bool) {
        self.limits = limits
        self.isOwner = isOwner
    }

    var walPages: Int { state.withLock { $0.walPages } }
    var hasUnsynced: Bool { state.withLock { $0.hasUnsynced } }

    /// Has everything in the database file, and synced, that an earlier process has left.
    ///
    /// What was committed under `NORMAL` lies in the WAL without a sync. Should the next sync
    /// fail, the kernel forgets it, and what is committed and synced after it hangs in the air.
    func begin(in database: Database) throws {
        // Without these, Apple's systems leave what is synced in the disk's own cache.
        try database.execute(sql: "PRAGMA fullfsync = 1; PRAGMA checkpoint_fullfsync = 1")
        try prepare(.durable, in: database)
        if isOwner { try database.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
    }

    /// Watches the WAL of the connection that writes; takes the place of SQLite's own checkpoint,
    /// which would run inside the next commit.
    func watch(_ database: Database) throws {
        guard isOwner else { return }
        // Room for the pages of a whole group: SQLite would write those that do not fit before
        // the commit, and some of them twice. And not much more: a commit that has split a page
        // walks the whole cache (the split leaves a page number beyond the end in it).
        try database.execute(
            sql: "PRAGMA journal_size_limit = \(64 << 20); PRAGMA cache_size = -\(8 << 10)"
        )
        // Unretained, because the store closes the connection before it lets the writer go.
        let context = Unmanaged.passUnretained(self).toOpaque()
        sqlite3_wal_hook(
            database.sqliteConnection,
            { context, _, _, pages in
                if let context {
                    Unmanaged<Checkpointer>.fromOpaque(context).takeUnretainedValue()
                        .note(Int(pages))
                }
                return SQLITE_OK
            },
            context
        )
    }

    /// Leaves everything in the database file, and an empty WAL, if no reader is in the way.
    ///
    /// SQLite does so when the last connection closes, but not if that one only reads; and GRDB
    /// closes its readers last.
    func finish(in database: Database) {
        guard isOwner, database.sqliteConnection != nil else { return }
        sqlite3_wal_hook(database.sqliteConnection, nil, nil)
        // What fails here has lost nothing: the WAL is still there for the next opening.
        try? database.execute(sql: "PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)")
    }

    private func note(_ pages: Int) {
        state.withLock { state in
            if pages < state.walPages { state.triedAt = 0 }
            state.walPages = pages
        }
    }
}

extension Checkpointer {
    /// Sets how much SQLite waits for the disk; between transactions only.
    func prepare(_ durability: Durability, in database: Database) throws {
        guard state.withLock({ $0.durability != durability }) else { return }
        let mode = durability == .durable ? "FULL" : "NORMAL"
        try database.execute(sql: "PRAGMA synchronous = \(mode)")
        state.withLock { state in
            state.durability = durability
            if durability == .relaxed { state.hasUnsynced = true }
        }
    }

    /// Leaves an app's own connection as durable as it was: it may begin a transaction itself.
    func leaveDurable(_ database: Database) throws {
        if !isOwner { try prepare(.durable, in: database) }
    }

    /// Learns that a commit has written something: a durable one has synced the whole WAL.
    func committed(_ durability: Durability) {
        if durability == .durable { state.withLock { $0.hasUnsynced = false } }
    }

    func afterGroup(in database: Database) throws {
        try checkpoint(at: limits.checkpointPages, in: database)
    }

    /// - Parameter requestCount: How many requests the last group has had. Several writers that
    ///   wait for each other's commits leave the writer idle for a moment only.
    func whenIdle(after requestCount: Int, in database: Database) throws {
        let busyLimit = min(limits.checkpointPages, 4 * limits.idleCheckpointPages)
        try checkpoint(at: requestCount > 1 ? busyLimit : limits.idleCheckpointPages, in: database)
    }

    private func checkpoint(at limit: Int, in database: Database) throws {
        let isDue = state.withLock { state in
            let step = state.triedAt == 0 ? limit : state.triedAt + limits.idleCheckpointPages
            guard isOwner, state.walPages >= max(limit, step) else { return false }
            state.triedAt = state.walPages
            return true
        }
        guard isDue else { return }
        try database.execute(sql: "PRAGMA wal_checkpoint(PASSIVE)")
    }
}
