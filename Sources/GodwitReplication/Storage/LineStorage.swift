package import GodwitStore
internal import GodwitTree

/// Where a server keeps the lines of its replicas.
///
/// A decision is made in three steps: ``load(_:of:)`` reads what it needs in one snapshot, the
/// machine decides, ``commit(_:decidedOn:of:)`` writes it if nothing has changed in between. Any
/// number of servers may share a storage. Opening it notes the head of each line, in case that the
/// storage was restored from a backup.
package protocol LineStorage: Sendable {
    /// The longest key that it takes, with the name of its collection, in bytes.
    var keySizeMax: Int { get }

    /// Makes a line without objects, if there is none of the name.
    func create(_ name: ReplicaName, epoch: Epoch) async throws

    /// - Throws: ``ReplicationError/unknownReplica(_:)``.
    func load(_ reads: LineReads, of name: ReplicaName) async throws -> LineSlice

    /// Writes a decision in one transaction, and returns when it is durable.
    ///
    /// - Returns: false if the line, the client's row or a state that it is to keep is not as the
    ///   slice says any more. Nothing is written then.
    func commit(
        _ writes: LineWrites,
        decidedOn slice: LineSlice,
        of name: ReplicaName
    ) async throws -> Bool

    /// Answers ranges of a comparison with a state.
    ///
    /// - Returns: nil when the state is not kept any more.
    func answer(
        _ request: RangeRequest,
        with state: LineState,
        of name: ReplicaName
    ) async throws -> [SpanAnswer]?

    /// The newest state of a line.
    ///
    /// - Throws: ``ReplicationError/unknownReplica(_:)``.
    func head(of name: ReplicaName) async throws -> LineState

    /// How a line stands.
    ///
    /// - Throws: ``ReplicationError/unknownReplica(_:)``.
    func summary(of name: ReplicaName) async throws -> ReplicaSummary

    /// All objects of a line.
    ///
    /// - Throws: ``ReplicationError/unknownReplica(_:)``.
    func objects(of name: ReplicaName) async throws -> [ObjectKey: VersionedValue]

    /// Which clients have changed some objects last; nothing of objects that are not there.
    ///
    /// - Throws: ``ReplicationError/unknownReplica(_:)``.
    func lastChanges(
        of keys: [ObjectKey],
        in name: ReplicaName
    ) async throws -> [ObjectKey: LastChange]

    /// The names of all lines, in their order.
    func names() async throws -> [ReplicaName]

    /// The clients of a line, in the order of their ids.
    ///
    /// - Throws: ``ReplicationError/unknownReplica(_:)``.
    func clients(of name: ReplicaName) async throws -> [ReplicaClient]

    /// Drops a client's refs, and what was kept for them. What became of its batches stays known.
    ///
    /// - Returns: Whether it had refs.
    func forget(_ client: ClientID, of name: ReplicaName) async throws -> Bool

    /// Drops states that no client can have, with a bounded number of rows.
    ///
    /// - Returns: Whether nothing is left to drop.
    func collectGarbage(of name: ReplicaName, rowMax: Int) async throws -> Bool
}

extension LineStorage {
    package var keySizeMax: Int { .max }
}
