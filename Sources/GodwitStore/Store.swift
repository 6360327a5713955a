internal import Foundation
internal import GRDB
internal import Synchronization

/// Objects in collections, on disk or in memory, changed by transactions.
///
/// ```swift
/// let store = try Store(.file("/tmp/shop.godwit"))
/// let items = Store.Collection<Item>("items")
///
/// try await store.write { transaction in
///     try transaction.set(Item(name: "Bread"), for: "bread", in: items)
/// }
/// let bread = try await store.read { try $0.get("bread", in: items) }
/// ```
///
/// What `write` has returned from survives a crash of the process and of the machine. A store on
/// disk is open in one place at a time; ``Access/readOnly`` may look beside it.
public final class Store: Sendable {
    /// Where the objects are kept.
    public enum Location: Hashable, Sendable {
        /// In an SQLite file, made when there is none.
        case file(String)
        /// In memory, gone with the store.
        case memory
    }

    public enum Access: Sendable {
        case readWrite
        /// Looks at a store on disk, also while another process writes to it.
        case readOnly
    }

    public let location: Location
    private let writer: any DatabaseWriter
    private let lock: StoreLock?
    private let feed = ChangeFeed()
    private let identifiers: Identifiers
    private let hooks = Mutex<[(name: String, hook: any TransactionHook)]>([])

    private static let schema = Schema(
        name: "store",
        steps: [ObjectTable.schema[0] + CommitTable.schema[0]]
    )

    /// Opens a store, and makes one where there is none.
    ///
    /// - Throws: ``StoreError``; the file is untouched then.
    public init(
        _ location: Location,
        access: Access = .readWrite,
        identifiers: Identifiers = .random
    ) throws {
        self.location = location
        self.identifiers = identifiers
        switch (location, access) {
        case (.memory, _):
            lock = nil
            writer = try DatabaseQueue()
        case (.file(let path), .readOnly):
            lock = nil
            writer = try Self.openReadOnly(path)
        case (.file(let path), .readWrite):
            lock = try StoreLock(path: path)
            writer = try Self.naming(path) { try DatabasePool(path: path) }
        }
        guard access == .readWrite else { return }
        try Self.naming(location.path) {
            try writer.writeWithoutTransaction { try Self.makeDurable($0) }
        }
        try prepare(Self.schema)
    }

    /// Closes the store.
    ///
    /// Change sequences end; later transactions throw.
    public func close() throws {
        feed.finish()
        try writer.close()
        lock?.release()
    }
}

extension Store {
    /// Runs `body` in a transaction: all of its changes are committed, or none if it throws.
    ///
    /// Transactions run one after the other. When this returns, the changes are on disk.
    public func write<Result: Sendable>(
        _ body: @escaping @Sendable (borrowing WriteTransaction) throws -> Result
    ) async throws -> Result {
        try await writer.write { try self.perform(body, in: $0) }
    }

    /// Runs `body` on the newest commit; what others commit meanwhile stays out of sight.
    public func read<Result: Sendable>(
        _ body: @escaping @Sendable (borrowing ReadTransaction) throws -> Result
    ) async throws -> Result {
        try await writer.read { try body(ReadTransaction(database: $0)) }
    }

    /// The change sets of all commits from now on.
    public func changes() -> ChangeSets { feed.subscribe() }

    /// Lets `hook` take part in every commit from the next transaction on, after those that were
    /// added before it.
    ///
    /// - Throws: ``StoreError/hookExists(name:)`` when the store has a hook of this name: two of
    ///   one kind would do the same work twice.
    public func addHook(_ hook: some TransactionHook, named name: String) throws(StoreError) {
        let isNew = hooks.withLock { hooks in
            guard !hooks.contains(where: { $0.name == name }) else { return false }
            hooks.append((name, hook))
            return true
        }
        guard isNew else { throw .hookExists(name: name) }
    }

    /// Brings the tables of a part of Godwit, or of the app, up to date.
    public func prepare(_ schema: Schema) throws {
        try Self.naming(location.path) { try writer.write { try schema.prepare($0) } }
    }

    private func perform<Result>(
        _ body: (borrowing WriteTransaction) throws -> Result,
        in database: Database
    ) throws -> Result {
        let draft = CommitDraft(identifiers: identifiers)
        let transaction = WriteTransaction(
            database: database,
            commit: try CommitTable.last(in: database).next,
            draft: draft
        )
        let result = try body(transaction)
        guard !draft.isEmpty else { return result }
        let objects = draft.objects
        for (_, hook) in hooks.withLock({ $0 }) { try hook.willCommit(objects, in: transaction) }
        try CommitTable.record(transaction.commit, in: database)
        let changes = draft.changeSet(commit: transaction.commit)
        database.afterNextTransaction { [feed] _ in feed.publish(changes) }
        return result
    }
}

extension Store {
    private static func openReadOnly(_ path: String) throws -> any DatabaseWriter {
        guard FileManager.default.fileExists(atPath: path) else {
            throw StoreError.noStore(path: path)
        }
        var configuration = Configuration()
        configuration.readonly = true
        return try naming(path) { try DatabaseQueue(path: path, configuration: configuration) }
    }

    /// Lets every commit from now on be on disk when it is done.
    ///
    /// GRDB sets `NORMAL` for a pool, which may lose the last commits at a power failure. What was
    /// committed so, or by a process whose sync has failed, is brought out of the log: the kernel
    /// may never write it there, and all that follows it in the log would go with it.
    private static func makeDurable(_ database: Database) throws {
        try database.execute(sql: "PRAGMA synchronous = FULL")
        try database.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
    }

    /// Names the file in what SQLite has to say about it.
    private static func naming<Result>(_ path: String, _ body: () throws -> Result) throws -> Result
    {
        do {
            return try body()
        } catch let error as DatabaseError {
            let reason = error.message ?? error.resultCode.description
            switch error.resultCode {
            case .SQLITE_NOTADB: throw StoreError.notADatabase(path: path)
            case .SQLITE_CORRUPT: throw StoreError.corrupt(path: path, reason: reason)
            default: throw StoreError.unavailable(path: path, reason: reason)
            }
        }
    }
}

extension Store.Location {
    /// The path of the file; in memory, SQLite's own name for that.
    public var path: String {
        switch self {
        case .file(let path): path
        case .memory: ":memory:"
        }
    }
}
