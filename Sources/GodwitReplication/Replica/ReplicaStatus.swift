internal import GRDB
public import GodwitStore

/// How a replica stands on its device.
public struct ReplicaStatus: Hashable, Sendable {
    /// The device's id for the server.
    public let client: ClientID
    /// The last state that was adopted from the server; the root before the first one.
    public let base: LineState
    /// Whether changes wait to be sent, or for their answer.
    ///
    /// Objects that the server has refused do not count.
    public let isDirty: Bool
    /// How many objects have changes that the server has not taken.
    public let pendingCount: Int
    /// The objects of the server that a hook of the app refuses, in the order of their keys: see
    /// ``Replica/refusedObjects()``.
    public let refusedByApp: [ObjectKey]
    /// The objects that the server has refused: they are sent again when they are edited.
    public let rejections: [ObjectKey: Rejection.Reason]
}

extension Replica {
    /// How far a download of many objects has come; nil when none is under way, and before its first
    /// answer.
    ///
    /// A download that is cut off goes on where it was, even if the app ends. The objects appear in the
    /// store at its end, all at once.
    public func download(in transaction: borrowing WriteTransaction) throws -> DownloadProgress? {
        try session.update(in: transaction) { $0.progress }
    }

    /// How the replica stands after the last commit.
    ///
    /// - Throws: ``ReplicationError/unknownReplica(_:)`` when the replica was left.
    public func status() async throws -> ReplicaStatus {
        try await store.read { [self] in try status(in: $0) }
    }

    /// How the replica stands within a transaction.
    public func status(
        in transaction: borrowing some StoreTransaction & ~Copyable
    ) throws -> ReplicaStatus {
        try checkExistence(in: transaction.connection)
        return try ReplicaStatus(of: number, server, in: transaction.connection)
    }
}

extension Replica {
    /// The last state that was adopted from the server; it costs one row.
    ///
    /// - Throws: ``ReplicationError/unknownReplica(_:)`` when the replica was left.
    public func base() async throws -> LineState {
        try await store.read { [self] transaction in
            try checkExistence(in: transaction.connection)
            return try DeviceTable.base(of: number, in: transaction.connection)
        }
    }

    /// The last state that was adopted from the server, within a transaction.
    public func base(in transaction: borrowing WriteTransaction) throws -> LineState {
        try checkExistence(in: transaction.connection)
        return try DeviceTable.base(of: number, in: transaction.connection)
    }
}

extension ReplicaStatus {
    init(
        of number: DeviceNumber,
        _ server: ServerNumber,
        in database: Database
    ) throws {
        client = try DeviceTable.identity(for: server, in: database).client
        base = try DeviceTable.base(of: number, in: database)
        isDirty = try PendingTable.isDirty(number, in: database)
        refusedByApp = try PendingTable.refused(of: number, in: database)
        pendingCount = try PendingTable.count(of: number, in: database) - refusedByApp.count
        rejections = try PendingTable.rejections(of: number, in: database)
    }
}
