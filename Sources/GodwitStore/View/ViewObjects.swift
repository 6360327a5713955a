internal import GRDB
internal import GodwitTree

/// The objects as they were at a view's commit, whatever has been committed since.
///
/// SQLite shows the newest commit; the cache has what the objects that changed since were
/// before. A read first pins what SQLite shows, and then asks the cache: whatever SQLite shows
/// as changed, the cache had kept before it was committed (``VersionCache``, invariant 3).
struct ViewObjects: ObjectLookup, Sendable {
    let database: any DatabaseReader
    let context: StoreContext
    let commit: CommitNumber

    func object(at key: ObjectKey) throws -> StoredObject? {
        let cache = context.cache
        if case .hit(let object) = cache.withVersions({ $0.lookUp(key, at: commit) }) {
            return object
        }
        return try read { database, pinned in
            switch cache.withVersions({ $0.pastVersion(of: key, at: commit) }) {
            case .hit(let object): return object
            case .miss:
                let object = try ObjectTable.object(at: key, in: database)
                cache.withVersions { $0.fill(key, with: object, readAt: pinned) }
                return object
            }
        }
    }

    func exists(_ key: ObjectKey) throws -> Bool { try object(at: key) != nil }

    func count(of collection: Key, in range: KeyRange) throws -> Int {
        guard range == .all else {
            var count = 0
            try forEachKey(of: collection, KeyWalk(range: range)) { _ in
                count += 1
                return true
            }
            return count
        }
        return try read { database, _ in
            var count = Int(try Ledger.total(of: collection, in: database).count)
            for (key, old) in past(of: collection) {
                let place = ObjectKey(collection: collection, key: key)
                if try ObjectTable.exists(place, in: database) { count -= 1 }
                if old != nil { count += 1 }
            }
            return count
        }
    }

    func collections() throws -> [Key] {
        let known = try read { database, _ in try Ledger.collections(in: database) }
        let changed = context.cache.withVersions { $0.pastCollections }
        return try Set(known).union(changed).filter { try count(of: $0, in: .all) > 0 }.sorted()
    }
}

// MARK: - Walks

extension ViewObjects {
    func forEachKey(
        of collection: Key,
        _ walk: KeyWalk,
        _ body: (String) throws -> Bool
    ) throws {
        try read { database, _ in
            var overlay = Overlay(past(of: collection), walk)
            try ObjectTable.forEachKey(of: collection, overlay.databaseWalk, in: database) { key in
                try overlay.advance(to: key, database: nil) { key, _ in try body(key) }
            }
            try overlay.finish { key, _ in try body(key) }
        }
    }

    func forEachObject(
        of collection: Key,
        _ walk: KeyWalk,
        _ body: (String, StoredObject) throws -> Bool
    ) throws {
        try read { database, _ in
            var overlay = Overlay(past(of: collection), walk)
            func emit(key: String, object: StoredObject?) throws -> Bool {
                try object.map { try body(key, $0) } ?? true
            }
            try ObjectTable.forEachObject(of: collection, overlay.databaseWalk, in: database) {
                try overlay.advance(to: $0, database: $1, emit)
            }
            try overlay.finish(emit)
        }
    }

    func forEachEntry(
        of collection: Key,
        by index: StoreIndex,
        _ bounds: IndexBounds,
        column: Int?,
        _ body: (String, IndexedValue?) throws -> Bool
    ) throws {
        let indexes = context.indexes
        try read { database, _ in
            let catalogue = try indexes.catalogue(in: database)
            let entry = try catalogue.entry(of: index, in: collection, version: bounds.version)
            let past = past(of: collection)
            guard !past.isEmpty else {
                return try entry.forEachEntry(bounds, column: column, in: database, body)
            }
            var wide = bounds
            wide.limit = bounds.limit.map { $0 + past.count }
            var rows: [IndexedRow] = []
            let add = { (key: Key, object: StoredObject) in
                let place = ObjectKey(collection: collection, key: key)
                let values = try indexes.values(of: object, at: place, for: entry)
                rows.append(IndexedRow(values: values, key: key.text))
            }
            try entry.forEachEntry(wide, column: nil, in: database) { text, _ in
                let key = Key(text)
                let place = ObjectKey(collection: collection, key: key)
                if past[key] == nil, let object = try ObjectTable.object(at: place, in: database) {
                    try add(key, object)
                }
                return true
            }
            for (key, object) in past { if let object { try add(key, object) } }
            rows.removeAll { !bounds.contains($0.values) }
            rows.sort { bounds.order == .ascending ? $0 < $1 : $1 < $0 }
            for row in rows.prefix(bounds.limit ?? .max) {
                guard try body(row.key, column.map { row.values[$0] }) else { return }
            }
        }
    }

    func indexes(of collection: Key) throws -> [IndexTable.Entry] {
        try read { database, _ in
            try context.indexes.catalogue(in: database).entries(of: collection)
        }
    }

    func mergePolicy(of collection: Key) -> MergePolicy? {
        context.indexes.mergePolicy(of: collection)
    }

    func noteScan() { context.metrics.scanned() }

    private func past(of collection: Key) -> [Key: StoredObject?] {
        context.cache.withVersions { $0.pastVersions(in: collection, at: commit) }
    }

    /// Runs `body` on one commit of SQLite's, not older than the view's.
    ///
    /// A read within a walk is part of the walk's transaction.
    private func read<Result>(
        _ body: (Database, _ pinned: CommitNumber) throws -> Result
    ) throws -> Result {
        do {
            return try database.unsafeReentrantRead { database in
                if database.isInsideTransaction { return try pinned(database, body) }
                var result: Result?
                try database.inTransaction(.deferred) {
                    result = try pinned(database, body)
                    return .commit
                }
                guard let result else { preconditionFailure("A read that ends well has a result") }
                return result
            }
        } catch {
            throw context.translated(error)
        }
    }

    private func pinned<Result>(
        _ database: Database,
        _ body: (Database, _ pinned: CommitNumber) throws -> Result
    ) throws -> Result {
        try context.catchUp(in: database)
        let pinned = try Ledger.last(in: database)
        // A transaction of the app's own may be older than the view.
        guard pinned >= commit else { throw StoreError.foreignTransaction }
        let result = try body(database, pinned)
        guard !context.cache.withVersions({ $0.isOvertaken(commit) }) else {
            throw StoreError.viewOvertaken(commit)
        }
        return result
    }
}

/// A key with the values by which an index sorts it.
private struct IndexedRow: Comparable {
    let values: [IndexedValue]
    let key: String

    static func < (left: IndexedRow, right: IndexedRow) -> Bool {
        for (value, other) in zip(left.values, right.values) {
            if value < other { return true }
            if other < value { return false }
        }
        return left.key.utf8.lexicographicallyPrecedes(right.key.utf8)
    }
}

/// Past objects, woven into a walk over newer ones.
private struct Overlay {
    private let past: [Key: StoredObject?]
    private let order: SortDirection
    private var waiting: ArraySlice<(key: String, object: StoredObject)>
    private var left: Int
    private let walk: KeyWalk

    init(_ past: [Key: StoredObject?], _ walk: KeyWalk) {
        self.past = past
        self.walk = walk
        order = walk.order
        left = walk.limit ?? .max
        waiting =
            past.compactMap { key, object in
                guard let object, walk.range.contains(key.text) else { return nil }
                return (key.text, object)
            }.sorted { Self.precedes($0.key, $1.key, walk.order) }[...]
    }

    /// As many rows of the database as may be needed.
    var databaseWalk: KeyWalk {
        var walk = walk
        walk.limit = walk.limit.map { min($0, .max - past.count) + past.count }
        return walk
    }

    typealias Emit = (String, StoredObject?) throws -> Bool

    /// Emits what comes before a row of the database, and the row itself unless it is newer.
    mutating func advance(to key: String, database: StoredObject?, _ emit: Emit) throws -> Bool {
        while let next = waiting.first, Self.precedes(next.key, key, order) {
            waiting.removeFirst()
            guard try emitOne(next.key, next.object, emit) else { return false }
        }
        guard past[Key(key)] == nil else { return left > 0 }
        return try emitOne(key, database, emit)
    }

    mutating func finish(_ emit: Emit) throws {
        while let next = waiting.popFirst() {
            guard try emitOne(next.key, next.object, emit) else { return }
        }
    }

    private mutating func emitOne(
        _ key: String,
        _ object: StoredObject?,
        _ emit: Emit
    ) throws -> Bool {
        guard left > 0 else { return false }
        left -= 1
        if try emit(key, object), left > 0 { return true }
        left = 0
        return false
    }

    private static func precedes(_ left: String, _ right: String, _ order: SortDirection) -> Bool {
        order == .ascending
            ? left.utf8.lexicographicallyPrecedes(right.utf8)
            : right.utf8.lexicographicallyPrecedes(left.utf8)
    }
}
