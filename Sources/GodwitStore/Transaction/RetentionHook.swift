internal import GRDB
internal import GodwitTree

/// Removes what has been in a collection for too long, in the transactions that change it.
struct RetentionHook: TransactionHook {
    let collections: Set<Key>?
    private let rules: [Key: Retention]
    private let clock: StoreClock

    init(_ rules: [CollectionRules], clock: StoreClock) {
        let pairs = rules.compactMap { rule in rule.retention.map { (rule.name, $0) } }
        self.rules = Dictionary(pairs) { _, last in last }
        self.clock = clock
        collections = Set(self.rules.keys)
    }

    func willCommit(
        _ changes: [ObjectChange],
        in transaction: borrowing WriteTransaction
    ) throws {
        let (database, now) = (transaction.connection, clock.millisecondsSince1970())
        for change in changes {
            if let new = change.new {
                let moment = try moment(of: change.key.collection, now, in: database)
                try RetentionTable.note(change.key, new.commit, at: moment, in: database)
            } else {
                try RetentionTable.forget(change.key, in: database)
            }
        }
        for collection in Set(changes.map(\.key.collection)) {
            try expire(collection, at: now, in: transaction)
            transaction.add(NotedTotal(of: collection))
        }
    }

    /// The time of a write.
    ///
    /// Where the last ones stay, each write is later than the one before it, whatever the calendar
    /// says.
    private func moment(of collection: Key, _ now: Int64, in database: Database) throws -> Int64 {
        guard case .count = rules[collection],
            let last = try RetentionTable.last(of: collection, in: database)
        else { return now }
        return max(now, last + 1)
    }

    /// Removes what is due in all collections.
    func expireAll(in transaction: borrowing WriteTransaction) throws {
        let now = clock.millisecondsSince1970()
        for collection in rules.keys.sorted() { try expire(collection, at: now, in: transaction) }
    }

    /// Notes the objects that were written by a process without these rules, or before there were any.
    func adopt(in transaction: borrowing WriteTransaction) throws {
        let (database, now) = (transaction.connection, clock.millisecondsSince1970())
        for collection in rules.keys {
            let total = transaction.totals(of: collection).old
            guard try RetentionTable.total(of: collection, in: database) != total else { continue }
            try RetentionTable.complete(collection, at: now, in: database)
            try RetentionTable.set(total, of: collection, in: database)
        }
    }

    private func expire(
        _ collection: Key,
        at now: Int64,
        in transaction: borrowing WriteTransaction
    ) throws {
        let database = transaction.connection
        var isDone = false
        while !isDone {
            isDone = true
            for note in try due(collection, at: now, in: database) {
                let commit = try transaction.commit(of: note.key)
                if let commit, commit != note.commit {
                    // A process without these rules has written it since.
                    let moment = try moment(of: collection, now, in: database)
                    try RetentionTable.note(note.key, commit, at: moment, in: database)
                    isDone = false
                } else {
                    try transaction.expire(note.key)
                    try RetentionTable.forget(note.key, in: database)
                }
            }
        }
    }

    private func due(
        _ collection: Key,
        at now: Int64,
        in database: Database
    ) throws -> [RetentionTable.Note] {
        switch rules[collection] {
        case .age(let age):
            let limit = now - Int64(age / .milliseconds(1))
            return try RetentionTable.notes(of: collection, writtenBefore: limit, in: database)
        case .count(let count):
            return try RetentionTable.notes(of: collection, beyond: count, in: database)
        case nil: return []
        }
    }
}

/// Says that all objects of a collection are noted, if they were before the transaction.
private final class NotedTotal: TransactionParticipant {
    private let collection: Key

    init(of collection: Key) { self.collection = collection }

    func requestWillSucceed(in transaction: borrowing WriteTransaction) throws {
        let (totals, database) = (transaction.totals(of: collection), transaction.connection)
        guard try RetentionTable.total(of: collection, in: database) == totals.old else { return }
        try RetentionTable.set(totals.new, of: collection, in: database)
    }

    func requestSucceeded() {}
    func requestFailed() {}
    func committed() {}
    func rolledBack() {}
}
