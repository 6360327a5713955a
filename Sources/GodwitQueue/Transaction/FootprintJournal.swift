internal import GodwitStore
internal import Synchronization

/// Keeps the footprints of the unfinished operations in memory, in step with the database.
///
/// It reads them when a transaction first needs them, and takes in what other processes have committed
/// since. If a request fails that has only added operations, it forgets these; if one fails that has changed
/// others, if a group of requests is rolled back, or if a pipeline gets another order, it reads all of them.
final class FootprintJournal: Sendable {
    private struct State {
        /// nil until it is needed.
        var index: FootprintIndex?
        /// The last commit whose footprints the index has.
        var seen = CommitNumber(rawValue: 0)
        /// The request under way, if that has used the index.
        var current: Request?
        /// The operations that failed requests have changed.
        var stale: Set<OperationNumber> = []
        /// Whether the index has something that may be rolled back yet.
        var isUncommitted = false
        /// Changes when the index is forgotten.
        var generation = 0
    }

    private struct Request {
        let commit: CommitNumber
        /// What was seen before it.
        let seen: CommitNumber
        /// Whether it has read the index, perhaps with what earlier requests of its group have done.
        var hasLoaded = false
        var changed: Set<OperationNumber> = []
    }

    private let state = Mutex(State())

    /// Uses the index as the database is for a transaction, which becomes a commit.
    func update<Result>(
        in transaction: borrowing WriteTransaction,
        _ body: (inout FootprintIndex) throws -> Result
    ) throws -> Result {
        transaction.add(self)
        transaction.touch()
        // Taken out, not copied. If the body fails, the index is read again.
        var (index, seen, stale, generation) = state.withLock { state in
            if state.current == nil {
                state.current = Request(commit: transaction.commit, seen: state.seen)
            }
            // If the request fails, what was stale before is stale again.
            state.current?.changed.formUnion(state.stale)
            defer { state.stale = [] }
            return (state.index.take(), state.seen, state.stale, state.generation)
        }
        let hasRead = try Self.catchUp(&index, from: seen, and: stale, in: transaction)
        var current = index.take() ?? FootprintIndex()
        _ = current.takeChanged()
        let result = try body(&current)
        let changed = current.takeChanged()
        if current.isEmpty { current = FootprintIndex() }
        state.withLock { [current] state in
            // A queue may have come meanwhile.
            if state.generation == generation { state.index = current }
            if hasRead { state.current?.hasLoaded = true }
            state.seen = CommitNumber(rawValue: transaction.commit.rawValue - 1)
            state.current?.changed.formUnion(changed)
        }
        return result
    }

    /// Forgets an operation that goes, if the index is in memory.
    func remove(
        _ operation: OperationNumber,
        in transaction: borrowing WriteTransaction
    ) throws {
        guard state.withLock({ $0.index != nil }) else { return }
        try update(in: transaction) { $0.remove(operation) }
    }

    /// Has what an operation waits for be read from the database, if the index is in memory.
    func forgetNeeds(of operation: OperationNumber) {
        state.withLock { $0.index?.forgetNeeds(of: operation) }
    }

    /// - Returns: Whether it has read all operations, with what the request under way has done to them.
    private static func catchUp(
        _ index: inout FootprintIndex?,
        from seen: CommitNumber,
        and stale: Set<OperationNumber>,
        in transaction: borrowing WriteTransaction
    ) throws -> Bool {
        let (last, database) = (transaction.commit.rawValue - 1, transaction.connection)
        if transaction.isShared, last - seen.rawValue > QueueLog.commitMax { index = nil }
        guard index != nil else {
            index = try read(transaction)
            return true
        }
        var numbers = stale
        if transaction.isShared, seen.rawValue < last {
            let first = CommitNumber(rawValue: seen.rawValue + 1)
            let commits = first...CommitNumber(rawValue: last)
            numbers.formUnion(try QueueLog.numbers(of: commits, in: database))
        }
        guard !numbers.contains(QueueLog.orders) else {
            index = try read(transaction)
            return true
        }
        for number in numbers.sorted() {
            guard let stored = try OperationTable.footprint(of: number, in: database) else {
                index?.remove(number)
                continue
            }
            let line = try transaction.line(of: stored)
            if index?.load(stored.record, of: number, in: line) == false {
                index = try read(transaction)
                return true
            }
        }
        return false
    }

    /// The index as the database has it.
    static func read(
        _ transaction: borrowing WriteTransaction
    ) throws -> FootprintIndex {
        var (index, lines) = (FootprintIndex(), [String: Bool]())
        try OperationTable.forEachFootprint(in: transaction.connection) { number, stored in
            let isLine = try lines[stored.pipeline] ?? transaction.keepsOrder(stored.pipeline)
            lines[stored.pipeline] = isLine
            let line = isLine || stored.keepsOrder ? stored.pipeline : nil
            _ = index.load(stored.record, of: number, in: line)
        }
        return index
    }

    /// Has the index be read again.
    func forget() {
        state.withLock { state in
            (state.index, state.isUncommitted, state.stale) = (nil, false, [])
            state.generation += 1
        }
    }
}

extension FootprintJournal: TransactionParticipant {
    func requestSucceeded() {
        state.withLock { state in
            guard let request = state.current.take() else { return }
            (state.seen, state.isUncommitted) = (request.commit, true)
        }
    }

    func requestFailed() {
        guard let request = state.withLock({ $0.current.take() }) else { return }
        if request.hasLoaded { return forget() }
        state.withLock { state in
            state.stale.formUnion(request.changed)
            state.seen = request.seen
        }
    }

    func committed() { state.withLock { $0.isUncommitted = false } }

    func rolledBack() {
        if state.withLock({ $0.current.take() != nil || $0.isUncommitted }) { forget() }
    }

    func lostTrack() -> Bool {
        forget()
        return true
    }
}

extension WriteTransaction {
    /// Which pipeline keeps an operation in the order of commits; nil if none does.
    borrowing func line(of stored: StoredFootprint) throws -> String? {
        try stored.keepsOrder || keepsOrder(stored.pipeline) ? stored.pipeline : nil
    }

    borrowing func footprints() -> FootprintJournal { attachment { _ in FootprintJournal() } }
}
