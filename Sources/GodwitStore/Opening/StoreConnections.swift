internal import Foundation
internal import GRDB

/// The connections of an open store, and the locks that go with them.
struct StoreConnections: Sendable {
    let database: any DatabaseWriter
    let isOwner: Bool
    let processLock: ProcessLock?
    let recovery: RecoveryReport?
    private let lock: StoreLock?

    func close() throws {
        if isOwner { try database.close() }
        lock?.release()
    }

    func markAsStore() { lock?.mark() }

    /// Runs `body` outside of a transaction; no other process writes or checkpoints meanwhile.
    func alone(_ body: (Database) throws -> Void) rethrows {
        try database.writeWithoutTransaction { database in
            try processLock.withLock { try body(database) }
        }
    }
}

extension StoreConnections {
    static func open(_ location: StoreLocation, _ options: StoreOptions) throws -> Self {
        guard case .file(let path) = location else {
            return StoreConnections(
                database: try DatabaseQueue(),
                isOwner: true,
                processLock: nil,
                recovery: nil,
                lock: nil
            )
        }
        guard options.access == .readWrite else { return try openReadOnly(path) }
        let lock = try StoreLock(path: path, processes: options.processes)
        let processLock = options.processes == .several ? try ProcessLock(path: path) : nil
        // An opening writes, and begins by reading: SQLite refuses it at once, however long it may wait, if
        // another process has written between the two.
        let (database, recovery) = try processLock.withLock {
            try openOrRecover(path, lock, options)
        }
        return StoreConnections(
            database: database,
            isOwner: true,
            processLock: processLock,
            recovery: recovery,
            lock: lock
        )
    }

    static func adopt(
        _ writer: any DatabaseWriter,
        _ location: StoreLocation,
        _ options: StoreOptions
    ) throws -> Self {
        guard case .file(let path) = location else {
            return StoreConnections(
                database: writer,
                isOwner: false,
                processLock: nil,
                recovery: nil,
                lock: nil
            )
        }
        return StoreConnections(
            database: writer,
            isOwner: false,
            processLock: options.processes == .several ? try ProcessLock(path: path) : nil,
            recovery: nil,
            lock: try StoreLock(path: path, processes: options.processes)
        )
    }

    private static func openReadOnly(_ path: String) throws -> Self {
        guard FileManager.default.fileExists(atPath: path) else {
            throw StoreError.noStore(path: path)
        }
        let configuration = Self.configuration(isReadOnly: true)
        let database = try naming(path) {
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            try queue.read { try check($0, at: path) }
            return queue
        }
        return StoreConnections(
            database: database,
            isOwner: true,
            processLock: nil,
            recovery: nil,
            lock: nil
        )
    }

    private static func openOrRecover(
        _ path: String,
        _ lock: StoreLock,
        _ options: StoreOptions
    ) throws -> (DatabasePool, RecoveryReport?) {
        if DamagedFile.hasUnfinishedRecovery(of: path) {
            try lock.alone { try DamagedFile.finishRecovery(of: path) }
        }
        do {
            return (try openPool(path, lock), nil)
        } catch let error as StoreError where error.isDamage && options.recovery != .refuse {
            // Another process would go on in a file that is no longer the store's.
            let report = try lock.alone {
                try DamagedFile.recover(path, by: options.recovery, because: error)
            }
            return (try openPool(path, lock), report)
        }
    }

    private static func openPool(_ path: String, _ lock: StoreLock) throws -> DatabasePool {
        let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
        if size == 0, lock.isMarked {
            throw StoreError.corrupt(path: path, reason: "the file is empty, but held a store")
        }
        return try naming(path) {
            // Looked at before it is opened for writing: what is refused stays untouched.
            if let size, size > 0 { try lookAt(path) }
            return try DatabasePool(path: path, configuration: configuration(isReadOnly: false))
        }
    }

    /// Another process may have the file for itself for a moment: while it creates the file, or takes in
    /// the log of a process that was killed.
    private static func configuration(isReadOnly: Bool) -> Configuration {
        var configuration = Configuration()
        configuration.readonly = isReadOnly
        configuration.busyMode = .timeout(10)
        return configuration
    }

    private static func lookAt(_ path: String) throws {
        do {
            let configuration = configuration(isReadOnly: true)
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            try queue.read { try check($0, at: path) }
            try queue.close()
        } catch let error as DatabaseError where error.resultCode == .SQLITE_READONLY {
            // A journal has to be rolled back first, which only a writer can do.
        }
    }

    /// Reads what every opening needs: the schema, and the store's own books.
    private static func check(_ database: Database, at path: String) throws {
        _ = try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM sqlite_schema")
        guard try database.tableExists("godwit_schema") else { return }
        try StoreSchema.schema.refuseOther(database)
        if try database.tableExists("godwit_ledger") { _ = try Ledger.last(in: database) }
    }

    /// Names the file in what SQLite has to say about it.
    private static func naming<Result>(
        _ path: String,
        _ body: () throws -> Result
    ) throws -> Result {
        do {
            return try body()
        } catch let error as DatabaseError {
            throw StoreError(error, path: path) ?? error
        }
    }
}

extension StoreError {
    /// Whether the file is damaged, or something else altogether; not that it is out of reach.
    var isDamage: Bool {
        switch self {
        case .corrupt, .notADatabase, .damagedLedger, .damagedObject, .damagedCollection: true
        default: false
        }
    }
}
