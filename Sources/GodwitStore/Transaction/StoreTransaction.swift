public import GRDB
package import GodwitTree

/// Reads the objects of one commit.
///
/// Transactions and views are readers; what they see does not change under their hands.
public protocol ObjectReader: ~Copyable {
    /// Where the objects are read from.
    var source: ObjectSource { get }
}

/// A view of one commit, for as long as the body that borrows it.
///
/// A transaction cannot be kept and its body cannot wait: the compiler refuses both. So no
/// transaction is ever open while a network is slow, and none is used after its end.
public protocol StoreTransaction: ObjectReader, ~Copyable {
    /// The database connection, for the app's own tables in the same transaction.
    ///
    /// The tables whose names begin with `godwit_` are the store's: it does not see what is
    /// written to them by hand.
    var database: Database { get }

    /// The last commit that this transaction can see, its own not included.
    var lastCommit: CommitNumber { get }
}

extension StoreTransaction where Self: ~Copyable {
    /// The connection, for Godwit's own tables: the app, which may begin savepoints, does not get it.
    package var connection: Database { source.connection ?? database }
}

/// Reads what was committed when it began, and nothing later.
public struct ReadTransaction: StoreTransaction, ~Copyable {
    public let database: Database
    public let lastCommit: CommitNumber
    public let source: ObjectSource

    init(_ database: Database, _ context: StoreContext) throws {
        self.database = database
        lastCommit = try Ledger.last(in: database)
        source = ObjectSource(
            CommittedObjects(
                database: database,
                commit: lastCommit,
                cache: context.cache,
                indexes: context.indexes,
                metrics: context.metrics
            ),
            connection: database
        )
    }
}

/// Where a reader finds its objects; the readers' own affair.
public struct ObjectSource {
    let objects: any ObjectLookup
    /// The transaction's connection; nil for a view, which has none of its own.
    let connection: Database?

    init(_ objects: any ObjectLookup, connection: Database? = nil) {
        self.objects = objects
        self.connection = connection
    }

    /// The rules for merges that a collection's type declares.
    package func mergePolicy(of collection: Key) -> MergePolicy? {
        objects.mergePolicy(of: collection)
    }

    /// An object as plain data, with the version of the type that wrote it.
    package func versionedValue(at key: ObjectKey) throws -> (value: Value, version: Int)? {
        guard let object = try objects.object(at: key) else { return nil }
        return (try object.value(at: key), object.version)
    }
}

/// The objects as a reader sees them.
protocol ObjectLookup {
    func object(at key: ObjectKey) throws -> StoredObject?
    func exists(_ key: ObjectKey) throws -> Bool
    func count(of collection: Key, in range: KeyRange) throws -> Int
    func collections() throws -> [Key]
    func forEachKey(
        of collection: Key,
        _ walk: KeyWalk,
        _ body: (String) throws -> Bool
    ) throws
    func forEachObject(
        of collection: Key,
        _ walk: KeyWalk,
        _ body: (String, StoredObject) throws -> Bool
    ) throws
    /// Walks a part of an index.
    ///
    /// - Parameter column: Which of the index's fields `body` gets besides the key; nil for none.
    func forEachEntry(
        of collection: Key,
        by index: StoreIndex,
        _ bounds: IndexBounds,
        column: Int?,
        _ body: (String, IndexedValue?) throws -> Bool
    ) throws
    /// The indexes that a collection has.
    func indexes(of collection: Key) throws -> [IndexTable.Entry]
    /// The rules for merges that a collection's type declares.
    func mergePolicy(of collection: Key) -> MergePolicy?
    /// Counts a query that looks at every object.
    func noteScan()
}

/// What SQLite shows of one commit, with the cache before it.
struct CommittedObjects: ObjectLookup {
    let database: Database
    let commit: CommitNumber
    let cache: ObjectCache
    let indexes: IndexSet
    let metrics: StoreMetrics

    func object(at key: ObjectKey) throws -> StoredObject? {
        try cache.object(at: key, commit: commit, in: database)
    }

    func exists(_ key: ObjectKey) throws -> Bool {
        try ObjectTable.exists(key, in: database)
    }

    func count(of collection: Key, in range: KeyRange) throws -> Int {
        guard range == .all else {
            return try ObjectTable.count(of: collection, in: range, database)
        }
        return Int(try Ledger.total(of: collection, in: database).count)
    }

    func collections() throws -> [Key] { try Ledger.collections(in: database) }

    func forEachKey(
        of collection: Key,
        _ walk: KeyWalk,
        _ body: (String) throws -> Bool
    ) throws {
        try ObjectTable.forEachKey(of: collection, walk, in: database, body)
    }

    func forEachObject(
        of collection: Key,
        _ walk: KeyWalk,
        _ body: (String, StoredObject) throws -> Bool
    ) throws {
        let isWhole = walk == KeyWalk(order: walk.order)
        let total = isWhole ? try Ledger.total(of: collection, in: database) : nil
        try ObjectTable.forEachObject(of: collection, walk, total: total, in: database, body)
    }

    func forEachEntry(
        of collection: Key,
        by index: StoreIndex,
        _ bounds: IndexBounds,
        column: Int?,
        _ body: (String, IndexedValue?) throws -> Bool
    ) throws {
        let catalogue = try indexes.catalogue(in: database)
        let entry = try catalogue.entry(of: index, in: collection, version: bounds.version)
        try entry.forEachEntry(bounds, column: column, in: database, body)
    }

    func indexes(of collection: Key) throws -> [IndexTable.Entry] {
        try indexes.catalogue(in: database).entries(of: collection)
    }

    func mergePolicy(of collection: Key) -> MergePolicy? {
        indexes.mergePolicy(of: collection)
    }

    func noteScan() { metrics.scanned() }
}
