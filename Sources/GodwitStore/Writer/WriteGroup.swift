internal import GRDB
internal import GodwitTree
internal import Synchronization

/// The requests that share one physical transaction.
///
/// Each has its own savepoint, result, error and commit number: one that fails leaves no trace
/// and harms no other.
final class WriteGroup {
    struct Member {
        let request: any WriteRequest
        /// nil when the request has changed nothing.
        let changes: ChangeSet?
    }

    let database: Database
    let context: StoreContext
    let durability: Durability
    private(set) var size = GroupSize()
    private(set) var members: [Member] = []
    private(set) var participants: [any TransactionParticipant] = []
    /// The newest state of each object that the group has changed.
    private(set) var pending: [ObjectKey: VersionCache.Change] = [:]
    /// What the last commit has left, and what the group has made of it.
    private(set) var ledger: Ledger.State
    /// The collections that the group has changed.
    private(set) var collections: Set<Key> = []
    /// What those objects were before the group.
    private var old: [ObjectKey: VersionCache.Past] = [:]
    /// What each request has found, for the change log.
    private var olds: [CommitNumber: [ObjectKey: StoredObject?]] = [:]

    init(_ database: Database, _ context: StoreContext, durability: Durability) {
        self.database = database
        self.context = context
        self.durability = durability
        ledger = context.ledger.withLock { $0 }
    }

    /// The last commit, those of this group included.
    var last: CommitNumber { ledger.last }

    /// Whether there is something to commit.
    var isEmpty: Bool { members.allSatisfy { $0.changes == nil } }
    var changes: [VersionCache.Change] { Array(pending.values) }
    var pasts: [VersionCache.Past] { Array(old.values) }
}

extension WriteGroup {
    /// Runs one request; what it throws has left no trace.
    ///
    /// The first request needs no savepoint: when it fails, the transaction holds nothing else.
    func add(_ request: any WriteRequest) throws {
        let draft = CommitDraft(self)
        let isFirst = members.isEmpty
        if !isFirst { try execute("SAVEPOINT godwit_request") }
        do {
            try request.run(in: WriteTransaction(draft))
            if !draft.isEmpty { try draft.callHooks(context.hooks) }
            for participant in draft.participants {
                try participant.requestWillSucceed(in: WriteTransaction(draft))
            }
            guard database.isInsideTransaction else { throw StoreError.transactionEnded }
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

    private func take(_ draft: CommitDraft, of request: any WriteRequest) {
        for participant in draft.participants
        where !participants.contains(where: { $0 === participant }) {
            participants.append(participant)
        }
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
                old[change.key] = VersionCache.Past(
                    key: change.key,
                    end: last,
                    object: change.old
                )
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
        try Ledger.record(&ledger, changed: collections, in: database)
        if context.options.processes == .several { try log() }
    }

    private func log() throws {
        for changes in members.compactMap(\.changes) {
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

    /// Looks at the clock; the close rules ask for the group's age.
    func age(_ age: Duration) { size.age = age }

    private func execute(_ sql: String) throws {
        try PreparedStatement(sql, in: database).execute()
    }
}
