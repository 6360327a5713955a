/// State in memory that follows what a transaction writes, and only if it is committed.
///
/// Several requests may share one physical transaction: each ends by itself, then all are
/// committed or rolled back together.
package protocol TransactionParticipant: AnyObject, Sendable {
    /// The request is about to end well: the last chance to write, or to refuse.
    func requestWillSucceed(in transaction: borrowing WriteTransaction) throws
    /// What the request wrote will be committed, if anything is.
    func requestSucceeded()
    /// What the request wrote was rolled back; what earlier requests wrote was not.
    func requestFailed()
    /// Everything that succeeded is committed.
    ///
    /// Readers that take in other processes' commits wait meanwhile, so this must not read.
    func committed()
    /// Everything that succeeded was rolled back after all.
    func rolledBack()
    /// Some of what succeeded was rolled back and some was committed: only the database knows.
    ///
    /// - Returns: Whether it can go on without being opened again.
    func lostTrack() -> Bool
}

extension TransactionParticipant {
    package func lostTrack() -> Bool { false }

    package func requestWillSucceed(in transaction: borrowing WriteTransaction) throws {}
}
