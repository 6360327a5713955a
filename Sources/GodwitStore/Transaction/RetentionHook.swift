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
            if change.new == nil {
                try RetentionTable.forget(change.key, in: database)
            } else {
                let moment = try moment(of: change.key.collection, now, in: database)
                try RetentionTable.note(change.key, at: moment, in: database)
            }
        }
        for collection in Set(changes.map(\.key.collection)) {
            try expire(collection, at: now, in: transaction)
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

    /// Notes the objects that were written while the collection had no retention.
    ///
    /// A process that is alone forgets the notes of a collection that loses its retention. Of
    /// several, another one may have it, and may have left out what this one has written.
    func adopt(in transaction: borrowing WriteTransaction) throws {
        let (database, now) = (transaction.connection, clock.millisecondsSince1970())
        for collection in rules.keys {
            guard
                try transaction.isShared || RetentionTable.count(of: collection, in: database) == 0
            else { continue }
            try RetentionTable.complete(collection, at: now, in: database)
        }
    }

    private func expire(
        _ collection: Key,
        at now: Int64,
        in transaction: borrowing WriteTransaction
    ) throws {
        let database = transaction.connection
        let due: [String]
        switch rules[collection] {
        case .age(let age):
            let limit = now - Int64(age / .milliseconds(1))
            due = try RetentionTable.keys(of: collection, writtenBefore: limit, in: database)
        case .count(let count):
            due = try RetentionTable.keys(of: collection, beyond: count, in: database)
        case nil: due = []
        }
        for key in due {
            let place = ObjectKey(collection: collection, key: Key(key))
            try transaction.expire(place)
            try RetentionTable.forget(place, in: database)
        }
    }
}
