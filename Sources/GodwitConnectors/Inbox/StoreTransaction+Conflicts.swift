internal import GodwitQueue
internal import GodwitReplication
public import GodwitStore
internal import GodwitTree

extension StoreTransaction where Self: ~Copyable {
    /// The conflicts about a collection's objects, of all replicas and pipelines, in the order of their keys.
    ///
    /// An operation that pushes several objects is not among them: see `conflict(of:)`.
    ///
    /// - Complexity: O(*k*) in the number of conflicts.
    public borrowing func conflicts<Object>(
        in collection: Store.Collection<Object>
    ) throws -> [ObjectConflict<Object>] {
        var found: [ObjectConflict<Object>] = []
        for record in try ConflictRecord.all(about: collection.name, in: self)
        where record.object.collection == collection.name {
            for (id, conflict) in record.conflicts.sorted(by: { $0.key < $1.key }) {
                found.append(try ObjectConflict(record, id, conflict, in: collection, self))
            }
        }
        for conflict in try pushConflicts() {
            if let conflict = try ObjectConflict(conflict, in: collection, self) {
                found.append(conflict)
            }
        }
        return found.sorted { ($0.key, $0.id) < ($1.key, $1.id) }
    }

    /// The object under a key; nil also for one that the type cannot read.
    borrowing func readable<Object>(
        _ key: String,
        in collection: Store.Collection<Object>
    ) throws -> Object? {
        do {
            return try get(key, in: collection)
        } catch let error as StoreError where error.isOfOneObject {
            return nil
        }
    }
}

extension WriteTransaction {
    /// Resolves a conflict about an object.
    ///
    /// A decision about a replica's conflict is an ordinary change, which all devices get. After a decision
    /// about a cloud's, the operation is in line again.
    ///
    /// - Throws: `ReplicationError.unknownConflict(_:)` and `QueueError` if the conflict is resolved already,
    ///   `ReplicationError.changedSince(_:)` if the other side's change has no place any more, or the cloud has
    ///   another version by now, `StoreError.commitMismatch(_:expected:found:)` to put an object over a newer
    ///   one, ``ConnectorError/unreadVersion(_:)`` to take a cloud's version that was not read. Nothing is
    ///   changed then.
    public borrowing func resolve<Object>(
        _ conflict: ObjectConflict<Object>,
        in collection: Store.Collection<Object>,
        _ choice: ConflictResolution<Object>
    ) throws {
        switch conflict.origin {
        case .replica: try resolveMerge(conflict, in: collection, choice)
        case .cloud(let operation, _): try resolvePush(operation, conflict, in: collection, choice)
        }
    }

    private borrowing func resolveMerge<Object>(
        _ conflict: ObjectConflict<Object>,
        in collection: Store.Collection<Object>,
        _ choice: ConflictResolution<Object>
    ) throws {
        let place = collection.place(conflict.key)
        let id = conflict.recordKey
        switch choice {
        case .keep: try ConflictRecord.resolve(id, about: place, .keep, in: self)
        case .takeOther: try ConflictRecord.resolve(id, about: place, .takeOther, in: self)
        case .put(let object):
            try require(conflict.stamp.commit, of: conflict.key, in: collection)
            try ConflictRecord.resolve(id, about: place, .keep, in: self)
            try put(object, conflict.key, in: collection)
        }
    }

    private borrowing func resolvePush<Object>(
        _ operation: OperationID,
        _ conflict: ObjectConflict<Object>,
        in collection: Store.Collection<Object>,
        _ choice: ConflictResolution<Object>
    ) throws {
        guard let push = try self.conflict(of: operation) else {
            throw QueueError.unknownOperation(operation)
        }
        guard push.theirs == conflict.stamp.theirs else {
            throw ReplicationError.changedSince(collection.place(conflict.key))
        }
        let version = collection.version
        switch choice {
        case .keep: try resolveConflict(of: operation, .retry)
        case .takeOther:
            guard let theirs = push.theirs else { throw ConnectorError.unreadVersion(conflict.key) }
            let value = theirs == .null ? nil : theirs
            try resolveConflict(of: operation, .take(value), version: version)
        case .put(let object):
            try require(conflict.stamp.commit, of: conflict.key, in: collection)
            let value = try object.map { try self.value(of: $0, for: conflict.key, in: collection) }
            try resolveConflict(of: operation, .take(value), version: version)
        }
    }

    private borrowing func put<Object>(
        _ object: Object?,
        _ key: String,
        in collection: Store.Collection<Object>
    ) throws {
        guard let object else { return try remove(key, in: collection) }
        try set(object, for: key, in: collection)
    }
}
