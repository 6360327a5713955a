internal import GRDB
internal import GodwitTree
internal import Synchronization

/// What all parts of one open store share.
final class StoreContext: Sendable {
    let location: StoreLocation
    let options: StoreOptions
    let cache: ObjectCache
    let indexes: IndexSet
    let feed = ChangeFeed()
    let metrics: StoreMetrics
    /// The ledger of the last commit here.
    let ledger = Mutex(Ledger.State())
    let attachments = Attachments()
    let neighbours = Neighbours()
    private let saveThreshold: Mutex<Int>
    private let namedHooks = Mutex<[(name: String, hook: any TransactionHook)]>([])
    /// Guards the order in which commits are published, those of this process and of others.
    private let publication = Mutex(Publication())

    private struct Publication {
        /// Whether a group of this process may be committed already, and is not published yet.
        var isCommitting = false
    }

    init(_ location: StoreLocation, _ options: StoreOptions) {
        self.location = location
        self.options = options
        saveThreshold = Mutex(options.limits.saveThreshold)
        metrics = StoreMetrics(options.metrics)
        indexes = IndexSet(
            isShared: options.processes == .several || options.access == .readOnly
        )
        cache = ObjectCache(
            VersionCache(
                published: .none,
                costMax: options.cacheSizeInBytes,
                pastCostMax: options.viewSizeInBytes
            )
        )
    }

    /// The limits of the next group.
    var limits: WriteLimits {
        var limits = options.limits
        limits.saveThreshold = saveThreshold.withLock { $0 }
        return limits
    }

    func setSaveThreshold(_ count: Int) { saveThreshold.withLock { $0 = count } }

    var identifiers: Identifiers { options.identifiers }
    var hooks: [any TransactionHook] { namedHooks.withLock { $0.map(\.hook) } }

    func version(of collection: Key) -> Int { indexes.version(of: collection) ?? 1 }

    func addHook(_ hook: some TransactionHook, named name: String) throws(StoreError) {
        let isNew = namedHooks.withLock { hooks in
            guard !hooks.contains(where: { $0.name == name }) else { return false }
            // A retention sees what the others have left.
            let isBeforeLast = hooks.last?.hook is RetentionHook
            hooks.insert((name, hook), at: isBeforeLast ? hooks.count - 1 : hooks.count)
            return true
        }
        guard isNew else { throw .hookExists(name: name) }
    }

    func hasHook(named name: String) -> Bool {
        namedHooks.withLock { $0.contains { $0.name == name } }
    }

    func removeHook(named name: String) {
        namedHooks.withLock { $0.removeAll { $0.name == name } }
    }
}

// MARK: - Publishing

extension StoreContext {
    /// Has readers leave new commits alone until ``publish(_:)`` or ``endCommit()``: the next one
    /// that they see may be this process's own.
    func beginCommit() { publication.withLock { $0.isCommitting = true } }

    func endCommit() { publication.withLock { $0.isCommitting = false } }

    /// Makes a commit of this process known, before any later one of another process.
    func publish(_ commit: () -> Void) {
        publication.withLock { publication in
            commit()
            publication.isCommitting = false
        }
    }

    /// Takes in what other processes have committed, as the transaction shows it.
    func catchUp(in database: Database) throws {
        guard options.hasOtherWriters else { return }
        let last = try Ledger.last(in: database)
        try publication.withLock { publication in
            let published = cache.withVersions { $0.published }
            guard last > published, !publication.isCommitting else { return }
            let ledger = try Ledger.state(in: database)
            self.ledger.withLock { if $0.last < ledger.last { $0 = ledger } }
            let rows = try ChangeLog.rows(after: published, in: database)
            try takeIn(rows.filter { $0.commit <= last }, after: published, through: last)
        }
    }

    private func takeIn(
        _ rows: [ChangeLog.Row],
        after published: CommitNumber,
        through last: CommitNumber
    ) throws {
        neighbours.committed(published.next...last)
        let commits = Dictionary(grouping: rows, by: \.commit)
        let isComplete = Int64(commits.count) == last.rawValue - published.rawValue
        guard isComplete else {
            cache.withVersions { $0.reset(to: last) }
            return feed.publish(ChangeSet(commit: last, isReset: true, isFromElsewhere: true))
        }
        let changed = rows.filter { $0.kind != .commit }
        var first: [ObjectKey: VersionCache.Past] = [:]
        for row in changed where first[row.key] == nil {
            first[row.key] = VersionCache.Past(key: row.key, end: row.commit, object: row.old)
        }
        let newest = Dictionary(changed.map { ($0.key, $0.commit) }) { _, last in last }
        let sets = commits.keys.sorted().map { ChangeSet(commit: $0, rows: commits[$0] ?? []) }
        cache.withVersions { [first] versions in
            versions.offer(Array(first.values))
            versions.forget(newest, as: sets, through: last)
        }
        for set in sets { feed.publish(set) }
    }
}

extension ChangeSet {
    fileprivate init(commit: CommitNumber, rows: [ChangeLog.Row]) {
        let keys = { (kind: ChangeLog.Kind) in
            Set(rows.filter { $0.kind == kind }.map(\.key))
        }
        self.init(
            commit: commit,
            inserted: keys(.inserted),
            updated: keys(.updated),
            removed: keys(.removed),
            touched: keys(.touched),
            isFromElsewhere: true
        )
    }
}

// MARK: - Errors

extension StoreContext {
    /// Says in the store's words what SQLite means; other errors stay what they are.
    func translated(_ error: any Error) -> any Error {
        guard let error = error as? DatabaseError else { return error }
        return StoreError(error, path: location.path) ?? error
    }
}
