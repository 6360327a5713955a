public import GodwitTree

/// Takes part in every commit, within its transaction.
///
/// This is how a replica records what changed, and how its push is queued, in the transaction
/// that made the change.
public protocol TransactionHook: Sendable {
    /// Called once before a commit, with the objects that it changes: their new values, or nil
    /// for those it removes. What the hook writes belongs to the same commit; when it throws,
    /// the transaction is rolled back.
    func willCommit(
        _ objects: [ObjectKey: Value?],
        in transaction: borrowing WriteTransaction
    ) throws
}
