internal import GodwitStore
internal import GodwitTree

// What a device stores of a replica beside its objects, as values: one type for each table.

/// Where the device is on the server's line.
struct DeviceReplica: Hashable, Sendable {
    /// The epoch of the base; nil before the first answer.
    var epoch: Epoch?
    /// The last state that was adopted from the server.
    var base = LineState.root
    /// The sum of the base's objects.
    var sum = ContentSum.empty
    /// The last starts of the server before the base, the oldest first.
    var starts: [LineStart] = []
    /// The last batch that was frozen, whether it has an outcome or not.
    var sequence: Int64 = 0
    /// The name of that batch.
    var name: BatchName?
    /// Whether that batch has no outcome yet.
    var isFrozen = false
    /// The client that has sent that batch, where the device has taken another id since.
    ///
    /// A copy of the batch may still arrive, so it goes on under the old id until it has an outcome.
    var frozenAs: ClientID?
    /// The client's id before it found that a clone uses it too; nil once the server knows the new
    /// one.
    var former: ClientID?
    /// Whether the store was salvaged since the last comparison, so that any row may be missing.
    var isSalvaged = false
}

/// Who the device is for a server.
///
/// All replicas of a store that have one server share it: a restored backup restores them all.
struct DeviceIdentity: Hashable, Sendable {
    var client: ClientID
    /// The nonce of the last request.
    var nonce: Int64 = 0

    /// Whether a nonce is so high that the device soon could not count on from it.
    ///
    /// No device comes to this by itself: another program uses its id, and the device takes another one.
    static func isUsedUp(_ nonce: Int64) -> Bool { nonce > 1 << 52 }
}

/// A state that a device has adopted, and the epoch that the line had then.
struct AdoptedState: Hashable, Sendable {
    let epoch: Epoch
    let state: LineState
}

/// An object with changes that the server has not taken yet.
///
/// The object in the store is the base with the frozen changes and the tail applied.
struct PendingObject: Hashable, Sendable {
    /// The object in the replica's base; nil when it has none.
    var base: VersionedValue?
    /// The changes in the frozen batch, or others that are kept apart from the tail.
    var frozen: ObjectDelta?
    /// The batch in which they are frozen.
    var batch: Int64?
    /// The changes since then.
    var tail: ObjectDelta?
    /// Why the server has refused the object: it is not sent until it is edited or retried.
    var rejection: Rejection.Reason?
    /// Whether the frozen changes may be in the line already, sent by a clone of the device, or to a
    /// server that was restored since.
    var isDoubtful = false

    /// All changes, as one.
    ///
    /// - Precondition: The object is not edited after a hook had refused it.
    func changes() throws(ReplicationError) -> ObjectDelta? { try frozen.composed(with: tail) }

    /// The object in the store, as far as the row knows.
    func target() throws(ReplicationError) -> VersionedValue? {
        // An edit of a refused object comes after the way back to the object before it.
        rejection == .editedHere
            ? try frozen.applied(to: tail.applied(to: base))
            : try changes().applied(to: base)
    }
}
