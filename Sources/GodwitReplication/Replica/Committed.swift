internal import GRDB
internal import GodwitStore
internal import Synchronization

/// A value in memory that changes when, and only when, a transaction commits.
///
/// Within the transaction every update sees the ones before it; everyone else sees the last
/// committed value. A rollback leaves nothing behind. Store transactions run one at a time, so
/// there is at most one draft.
final class Committed<Value: Sendable>: Sendable {
    private struct Versions {
        var committed: Value
        var draft: Value?
    }

    private let versions: Mutex<Versions>

    init(_ value: Value) { versions = Mutex(Versions(committed: value)) }

    var value: Value { versions.withLock { $0.committed } }

    func update<Result>(
        in transaction: borrowing WriteTransaction,
        _ body: (inout Value) throws -> Result
    ) throws -> Result {
        var (next, isFirst) = versions.withLock { ($0.draft ?? $0.committed, $0.draft == nil) }
        let result = try body(&next)
        versions.withLock { [next] in $0.draft = next }
        if isFirst {
            transaction.database.afterNextTransaction { _ in
                self.versions.withLock { versions in
                    if let draft = versions.draft.take() { versions.committed = draft }
                }
            } onRollback: { _ in
                self.versions.withLock { $0.draft = nil }
            }
        }
        return result
    }
}
