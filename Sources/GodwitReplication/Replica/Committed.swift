internal import GodwitStore
internal import Synchronization

/// A value in memory that changes when, and only when, a transaction commits.
///
/// Within the transaction every update sees the ones before it; other readers see the last
/// committed value. A rollback leaves nothing behind, whether it is that of one request or of
/// the group that it shares a commit with. Requests run one at a time, so there is at most one
/// draft.
final class Committed<Value: Sendable>: Sendable {
    private struct Versions {
        var committed: Value
        /// What the requests that succeeded have made of it, not committed yet.
        var pending: Value?
        /// What the request under way makes of it.
        var draft: Value?
    }

    private let versions: Mutex<Versions>

    init(_ value: Value) { versions = Mutex(Versions(committed: value)) }

    var value: Value { versions.withLock { $0.committed } }

    func update<Result>(
        in transaction: borrowing WriteTransaction,
        _ body: (inout Value) throws -> Result
    ) throws -> Result {
        var next = versions.withLock { $0.draft ?? $0.pending ?? $0.committed }
        let result = try body(&next)
        versions.withLock { [next] in $0.draft = next }
        transaction.add(self)
        return result
    }
}

extension Committed: TransactionParticipant {
    func requestSucceeded() {
        versions.withLock { $0.pending = $0.draft.take() ?? $0.pending }
    }

    func requestFailed() { versions.withLock { $0.draft = nil } }

    func committed() {
        versions.withLock { $0.committed = $0.pending.take() ?? $0.committed }
    }

    func rolledBack() { versions.withLock { ($0.pending, $0.draft) = (nil, nil) } }
}
