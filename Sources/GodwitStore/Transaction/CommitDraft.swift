internal import GRDB
internal import GodwitTree

/// What one request has changed so far, within the transaction of its group.
///
/// Objects are written to SQLite at once, so that whatever reads the database sees them. The
/// draft remembers their old and new values for hooks, indexes, the change set and the cache.
final class CommitDraft {
    let database: Database
    let commit: CommitNumber
    let context: StoreContext
    var isTouched = false
    /// Whether the request wants everything before it on the disk.
    var isFlush = false
    /// Whether a hook's error is told from other ones.
    var tellsRefusals = false
    private(set) var participants: [any TransactionParticipant] = []
    /// The collections that this request has changed, as they are now.
    private(set) var totals: [Key: Ledger.Total] = [:]
    private var changes: [ObjectKey: ObjectChange] = [:]
    private let group: WriteGroup

    /// The changed keys in the order of the changes, for the hooks.
    private var log: [(key: ObjectKey, author: Int?)] = []
    private var author: Int?
    /// What a retention has removed.
    private var expired: Set<ObjectKey> = []
    private var sentinel = Sentinel()

    init(_ group: WriteGroup) {
        database = group.database
        context = group.context
        commit = group.last.next
        self.group = group
    }

    var isEmpty: Bool { !isTouched && !changes.values.contains { $0.kind != nil } }

    /// All objects that differ from what they were before the request.
    var effective: [ObjectChange] { changes.values.filter { $0.kind != nil } }

    func change(of key: ObjectKey) -> ObjectChange? {
        guard let change = changes[key], change.kind != nil else { return nil }
        return change
    }

    /// The app gets hold of the connection, and may begin savepoints.
    func lendConnection() { sentinel.begin(in: database) }

    /// Notes that the request has changed something, which a savepoint may take back.
    func noteChange() throws { try sentinel.note(in: database) }

    /// - Throws: ``StoreError/savepointRolledBack`` if a savepoint has taken a change back.
    func checkSavepoints() throws { try sentinel.check(in: database) }

    func add(_ participant: any TransactionParticipant) {
        guard !participants.contains(where: { $0 === participant }) else { return }
        participants.append(participant)
    }
}

// MARK: - Changing

extension CommitDraft {
    /// - Parameter edits: What the put object was made with from the one that is there, if that is
    ///   known.
    func put(_ put: Put, at key: ObjectKey, by edits: Delta? = nil) throws {
        guard put.value.isNested(within: WriteTransaction.objectDepthMax) else {
            throw StoreError.tooDeep(key, limit: WriteTransaction.objectDepthMax)
        }
        var known = known(key)
        if case .miss = known {
            // Most unknown keys are new ones: one descent into the B-tree instead of two.
            let object = put.object(at: key, commit: commit)
            try context.indexes.refuseNewer(object, at: key, group.catalogue)
            if try ObjectTable.insert(key, object, in: database) {
                return try record(key, from: nil, to: object)
            }
            known = .hit(try ObjectTable.object(at: key, in: database))
        }
        guard case .hit(let old?) = known else {
            let object = original(of: put.object(at: key, commit: commit), at: key)
            try context.indexes.refuseNewer(object, at: key, group.catalogue)
            let isNew = try ObjectTable.insert(key, object, in: database)
            guard isNew else { throw StoreError.changedBehindTheStore(key) }
            return try record(key, from: nil, to: object)
        }
        let new = try put.object(replacing: old, at: key, commit: commit)
        try replace(old, with: new, at: key, by: edits)
    }

    func replaceMetadata(_ metadata: [UInt8]?, at key: ObjectKey) throws {
        guard let old = try object(at: key) else { throw StoreError.noObject(key) }
        let new = StoredObject(
            at: key,
            bytes: old.bytes,
            metadata: metadata,
            version: old.version,
            commit: commit
        )
        try replace(old, with: new, at: key)
    }

    /// - Parameter isExpired: Whether a retention removes it.
    func remove(_ key: ObjectKey, isExpired: Bool = false) throws {
        guard let old = try object(at: key) else { return }
        try context.indexes.refuseNewer(old, at: key, group.catalogue)
        try ObjectTable.remove(key, in: database)
        if isExpired { expired.insert(key) } else { expired.remove(key) }
        try record(key, from: old, to: nil)
    }

    func touch(_ key: ObjectKey) throws {
        guard let object = try object(at: key) else { return }
        let first = changes[key]
        changes[key] = ObjectChange(
            key: key,
            old: first.map(\.old) ?? object,
            new: object,
            isTouched: true,
            isExpired: false,
            recordedDelta: first?.recordedDelta
        )
        log.append((key, author))
    }

    private func replace(
        _ old: StoredObject,
        with new: StoredObject,
        at key: ObjectKey,
        by edits: Delta? = nil
    ) throws {
        guard !new.isSame(as: old) else { return }
        let new = original(of: new, at: key)
        for object in [old, new] {
            try context.indexes.refuseNewer(object, at: key, group.catalogue)
        }
        try ObjectTable.update(key, new, in: database)
        try record(key, from: old, to: new, by: edits)
    }

    /// The object from before the request, if the new one is the same: it was not changed then, and
    /// keeps its commit and its seal.
    private func original(of new: StoredObject, at key: ObjectKey) -> StoredObject {
        guard let old = changes[key]?.old, new.isSame(as: old) else { return new }
        return old
    }

    private func record(
        _ key: ObjectKey,
        from old: StoredObject?,
        to new: StoredObject?,
        by edits: Delta? = nil
    ) throws {
        try noteChange()
        try context.indexes.update(key, from: old, to: new, group.catalogue, in: database)
        var total = total(of: key.collection)
        if let old { total.remove(old) }
        if let new { total.add(new) }
        totals[key.collection] = total
        let first = changes[key]
        changes[key] = ObjectChange(
            key: key,
            old: first.map(\.old) ?? old,
            new: new,
            isTouched: first?.isTouched ?? false,
            isExpired: expired.contains(key),
            recordedDelta: recordedDelta(after: first, from: old, to: new, by: edits)
        )
        log.append((key, author))
    }

    /// The edits of the whole transaction so far; nil if it has not only edited the object.
    private func recordedDelta(
        after first: ObjectChange?,
        from old: StoredObject?,
        to new: StoredObject?,
        by edits: Delta?
    ) -> Delta? {
        guard let old, let new else { return nil }
        if new.bytes == old.bytes { return first?.recordedDelta }
        guard let edits else { return nil }
        // The metadata may have changed before, or the object may be what it was.
        guard let first, first.old?.bytes != old.bytes else { return edits }
        return try? first.recordedDelta?.composed(with: edits)
    }
}

// MARK: - Reading

extension CommitDraft: ObjectLookup {
    func object(at key: ObjectKey) throws -> StoredObject? {
        if case .hit(let object) = known(key) { return object }
        let object = try ObjectTable.object(at: key, in: database)
        context.cache.withVersions { versions in
            versions.fill(key, with: object, readAt: versions.published)
        }
        return object
    }

    func exists(_ key: ObjectKey) throws -> Bool {
        if case .hit(let object) = known(key) { return object != nil }
        return try ObjectTable.exists(key, in: database)
    }

    func count(of collection: Key, in range: KeyRange) throws -> Int {
        guard range == .all else {
            return try ObjectTable.count(of: collection, in: range, database)
        }
        return Int(total(of: collection).count)
    }

    func collections() throws -> [Key] {
        let known = Set(group.ledger.collections.keys).union(totals.keys)
        return known.filter { total(of: $0).count > 0 }.sorted()
    }

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
        // Not checked against the ledger: the body may change what it walks over.
        try ObjectTable.forEachObject(of: collection, walk, in: database, body)
    }

    func forEachEntry(
        of collection: Key,
        by index: StoreIndex,
        _ bounds: IndexBounds,
        column: Int?,
        _ body: (String, IndexedValue?) throws -> Bool
    ) throws {
        let entry = try group.catalogue.entry(of: index, in: collection, version: bounds.version)
        try entry.forEachEntry(bounds, column: column, in: database, body)
    }

    func indexes(of collection: Key) -> [IndexTable.Entry] {
        group.catalogue.entries(of: collection)
    }

    func mergePolicy(of collection: Key) -> MergePolicy? {
        context.indexes.mergePolicy(of: collection)
    }

    func noteScan() { context.metrics.scanned() }

    /// The sum of a collection's objects before the request, and now.
    func totals(of collection: Key) -> (old: Ledger.Total, new: Ledger.Total) {
        (group.ledger.total(of: collection), total(of: collection))
    }

    private func total(of collection: Key) -> Ledger.Total {
        totals[collection] ?? group.ledger.total(of: collection)
    }

    /// What is known without a look into the database: this request's change, an earlier
    /// request's of the same group, or what the cache has of the last commit.
    private func known(_ key: ObjectKey) -> VersionCache.Lookup {
        if let change = changes[key] { return .hit(change.new) }
        if let pending = group.pending[key] { return .hit(pending.object) }
        return context.cache.withVersions { $0.lookUp(key, at: $0.published) }
    }
}

// MARK: - Hooks

extension CommitDraft {
    /// How often hooks may answer each other's changes.
    private static let roundMax = 16

    func callHooks(_ hooks: [any TransactionHook]) throws {
        guard !hooks.isEmpty else { return }
        var seen = Array(repeating: 0, count: hooks.count)
        defer { author = nil }
        for _ in 0..<Self.roundMax {
            var isQuiet = true
            for (index, hook) in hooks.enumerated() {
                let new = unseen(by: index, hook, after: seen[index])
                seen[index] = log.count
                guard !new.isEmpty else { continue }
                isQuiet = false
                author = index
                do {
                    try hook.willCommit(new, in: WriteTransaction(self))
                } catch let error where tellsRefusals && !StoreError.isFailure(error) {
                    throw HookRefusal(error: error, hook: hook)
                }
            }
            if isQuiet { return }
        }
        throw StoreError.endlessHooks(rounds: Self.roundMax)
    }

    private func unseen(
        by index: Int,
        _ hook: any TransactionHook,
        after position: Int
    ) -> [ObjectChange] {
        let isOwn = hook is any OwnHook
        let keys = log[position...].filter { entry in
            entry.author != index && (isOwn || !entry.key.isReserved) && hook.wants(entry.key)
        }.map(\.key)
        return Set(keys).sorted().compactMap { changes[$0] }.filter { change in
            // What the hook was told of was taken back: it is told that, too.
            change.kind != nil
                || log[..<position].contains { $0.key == change.key && $0.author != index }
        }
    }
}

// MARK: - Result

extension CommitDraft {
    /// What the request has changed, after its hooks.
    var changeSet: ChangeSet {
        var keys: [ObjectChange.Kind: Set<ObjectKey>] = [:]
        for change in effective {
            if let kind = change.kind { keys[kind, default: []].insert(change.key) }
        }
        return ChangeSet(
            commit: commit,
            inserted: keys[.inserted] ?? [],
            updated: keys[.updated] ?? [],
            removed: keys[.removed] ?? [],
            touched: (keys[.describedAnew] ?? []).union(keys[.touched] ?? [])
        )
    }
}
