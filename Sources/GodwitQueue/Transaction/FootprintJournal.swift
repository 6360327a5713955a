internal import GodwitStore
internal import Synchronization

/// Keeps the footprints of the unfinished operations in memory, in step with the database.
///
/// It reads them when a transaction first needs them, takes in what other processes have committed since,
/// and reads them again when something that it knew of was rolled back.
final class FootprintJournal: Sendable {
    private struct State {
        /// nil until it is needed.
        var index: FootprintIndex?
        /// The last commit whose footprints the index has.
        var seen = CommitNumber(rawValue: 0)
        /// The commit of the request under way, if that has used the index.
        var current: CommitNumber?
        /// Whether the index has something that may be rolled back yet.
        var isUncommitted = false
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
        var (index, seen) = state.withLock { state in
            state.current = transaction.commit
            return (state.index.take(), state.seen)
        }
        try Self.catchUp(&index, from: seen, in: transaction)
        var current = index.take() ?? FootprintIndex()
        let result = try body(&current)
        if current.isEmpty { current = FootprintIndex() }
        state.withLock { [current] state in
            state.index = current
            state.seen = CommitNumber(rawValue: transaction.commit.rawValue - 1)
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

    private static func catchUp(
        _ index: inout FootprintIndex?,
        from seen: CommitNumber,
        in transaction: borrowing WriteTransaction
    ) throws {
        let (last, database) = (transaction.commit.rawValue - 1, transaction.connection)
        if transaction.isShared, last - seen.rawValue > QueueLog.commitMax { index = nil }
        guard index != nil else {
            var new = FootprintIndex()
            try OperationTable.forEachFootprint(in: database) { new.load($1, of: $0) }
            index = new
            return
        }
        guard transaction.isShared, seen.rawValue < last else { return }
        let commits = CommitNumber(rawValue: seen.rawValue + 1)...CommitNumber(rawValue: last)
        for number in try QueueLog.numbers(of: commits, in: database) {
            if let record = try OperationTable.footprint(of: number, in: database) {
                index?.load(record, of: number)
            } else {
                index?.remove(number)
            }
        }
    }

    /// Has the index be read again.
    func forget() {
        state.withLock { ($0.index, $0.current, $0.isUncommitted) = (nil, nil, false) }
    }
}

extension FootprintJournal: TransactionParticipant {
    func requestSucceeded() {
        state.withLock { state in
            guard let commit = state.current else { return }
            (state.seen, state.current, state.isUncommitted) = (commit, nil, true)
        }
    }

    func requestFailed() { if state.withLock({ $0.current != nil }) { forget() } }

    func committed() { state.withLock { $0.isUncommitted = false } }

    func rolledBack() {
        if state.withLock({ $0.isUncommitted || $0.current != nil }) { forget() }
    }

    func lostTrack() -> Bool {
        forget()
        return true
    }
}

extension WriteTransaction {
    borrowing func footprints() -> FootprintJournal { attachment { _ in FootprintJournal() } }
}
