internal import GRDB
internal import GodwitTree
internal import Synchronization

/// The requests that share one physical transaction.
///
/// Each has its own savepoint, result, error and commit number: one that fails leaves no trace
/// and harms no other.
///
/// Unchecked, because it is used on the thread of the connection that writes and nowhere else.
final class WriteGroup: @unchecked Sendable {
    struct Member {
        /// nil for a part of the app's own transaction: the app has its result.
        let request: (any WriteRequest)?
        /// nil when the request has changed nothing.
        let changes: ChangeSet?
    }

    let database: Database
    let context: StoreContext
    let durability: Durability
    /// The number of a transaction that the app has begun; zero for one of the store's own.
    let token: UInt64
    private(set) var size = GroupSize()
    private(set) var members: [Member] = []
    /// Whether a request wants everything before it on the disk.
    private(set) var isFlush = false
    private(set) var participants: [any TransactionParticipant] = []
    /// The newest state of each object that the group has changed.
    private(set) var pending: [ObjectKey: VersionCache.Change] = [:]
    let catalogue: IndexCatalogue
    /// What the last commit has left, and what the group has made of it.
    private(set) var ledger: Ledger.State
    /// The collections that the group has changed.
    private(set) var collections: Set<Key> = []
    /// What those objects were before the group.
    private var old: [ObjectKey: VersionCache.Past] = [:]
    /// Those of them that views have not been given yet.
    private var newPasts: [VersionCache.Past] = []
    /// How many members the change log has.
    private var loggedCount = 0
    /// What each request has found, for the change log.
    private var olds: [CommitNumber: [ObjectKey: StoredObject?]] = [:]

    init(
        _ database: Database,
        _ context: StoreContext,
        durability: Durability,
        token: UInt64 = 0
    ) throws {
        self.token = token
        self.database = database
        self.context = context
        self.durability = durability
        ledger = context.ledger.withLock { $0 }
        catalogue = try context.indexes.catalogue(in: database)
    }

    /// The last commit, those of this group included.
    var last: CommitNumber { ledger.last }

    /// Whether there is something to commit.
    var isEmpty: Bool { members.allSatisfy { $0.changes == nil } }
    var changes: [VersionCache.Change] { Array(pending.values) }
}

extension WriteGroup {
    /// Runs one request; what it throws has left no trace.
    ///
    /// The first request needs no savepoint: when it fails, the transaction holds nothing else.
    func add(_ request: any WriteRequest) throws {
        try add(request, isFirst: members.isEmpty) { try request.run(in: $0) }
    }

    /// Runs a part of a transaction that the app has begun itself.
    func join(_ body: (borrowing WriteTransaction) throws -> Void) throws {
        try execute("SAVEPOINT godwit_part")
        do {
            try add(nil, isFirst: false, body)
            try record()
            try execute("RELEASE godwit_part")
        } catch {
            if database.isInsideTransaction {
                try execute("ROLLBACK TO godwit_part")
                try execute("RELEASE godwit_part")
            }
            throw error
        }
    }

    private func add(
        _ request: (any WriteRequest)?,
        isFirst: Bool,
        _ body: (borrowing WriteTransaction) throws -> Void
    ) throws {
        let draft = CommitDraft(self)
        if !isFirst { try execute("SAVEPOINT godwit_request") }
        // In its own transaction, the app has the connection already.
        if request == nil { draft.lendConnection() }
        do {
            try body(WriteTransaction(draft))
            if !draft.isEmpty { try draft.callHooks(context.hooks) }
            for participant in draft.participants {
                try participant.requestWillSucceed(in: WriteTransaction(draft))
            }
            guard database.isInsideTransaction else { throw StoreError.transactionEnded }
            try draft.checkSavepoints()
            try PreparedStatement.refuseDeferredViolations(in: database)
            if !isFirst { try execute("RELEASE godwit_request") }
        } catch {
            for participant in draft.participants { participant.requestFailed() }
            if !isFirst, database.isInsideTransaction {
                try execute("ROLLBACK TO godwit_request")
                try execute("RELEASE godwit_request")
            }
            throw error
        }
        for participant in draft.participants { participant.requestSucceeded() }
        take(draft, of: request)
    }

    private func take(_ draft: CommitDraft, of request: (any WriteRequest)?) {
        for participant in draft.participants
        where !participants.contains(where: { $0 === participant }) {
            participants.append(participant)
        }
        if draft.isFlush { isFlush = true }
        guard !draft.isEmpty else {
            members.append(Member(request: request, changes: nil))
            return
        }
        ledger.last = draft.commit
        for (collection, total) in draft.totals {
            ledger.set(total, of: collection)
            collections.insert(collection)
        }
        for change in draft.effective {
            if context.options.processes == .several {
                olds[last, default: [:]][change.key] = change.old
            }
            if old[change.key] == nil {
                let past = VersionCache.Past(key: change.key, end: last, object: change.old)
                old[change.key] = past
                newPasts.append(past)
            }
            pending[change.key] = VersionCache.Change(
                key: change.key,
                commit: change.kind == .touched ? change.new?.commit ?? last : last,
                object: change.new
            )
            size.byteCount += change.new?.bytes.count ?? 0
        }
        size.objectCount = pending.count
        members.append(Member(request: request, changes: draft.changeSet))
    }

    /// Writes down what the group comes to, before the commit.
    func record() throws {
        try Ledger.record(&ledger, changed: collections, token: token, in: database)
        if context.options.processes == .several { try log() }
    }

    private func log() throws {
        defer { loggedCount = members.count }
        for changes in members[loggedCount...].compactMap(\.changes) {
            var rows = [ChangeLog.Row(commit: changes.last, kind: .commit, key: .none, old: nil)]
            let kinds: [(ChangeLog.Kind, Set<ObjectKey>)] = [
                (.inserted, changes.inserted), (.updated, changes.updated),
                (.removed, changes.removed), (.touched, changes.touched),
            ]
            for (kind, keys) in kinds {
                for key in keys {
                    let old = olds[changes.last]?[key] ?? nil
                    rows.append(.init(commit: changes.last, kind: kind, key: key, old: old))
                }
            }
            for row in rows { try ChangeLog.append(row, in: database) }
        }
        try ChangeLog.trim(at: last, in: database)
    }

    /// What objects were before the group, as far as views have not been given it.
    func takePasts() -> [VersionCache.Past] {
        defer { newPasts = [] }
        return newPasts
    }

    /// Looks at the clock; the close rules ask for the group's age.
    func age(_ age: Duration) { size.age = age }

    private func execute(_ sql: String) throws {
        try PreparedStatement(sql, in: database).execute()
    }
}
