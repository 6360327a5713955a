internal import GRDB
public import GodwitStore
public import GodwitTree

// Objects that arrive, and that a hook of the app refuses.
//
//   (1) A hook sees all that a transaction changes, and rolls all of it back. So the answer is taken in
//       once more, without the objects; then these are tried again, in halves, until those are left that
//       the hook refuses alone. The exchange goes on.
//   (2) A row of such an object has the server's object as its base, and leads from it to the object in
//       the store. It is not sent.
//   (3) When the app writes the object all the same, the trigger marks the row as edited, and the row
//       keeps apart what the app has recorded. Before the next request the edit is merged with what has
//       arrived, on the object that both come from.

extension Replica {
    /// What becomes of the objects that an answer brings.
    public enum Arrivals: Sendable {
        case taken
        /// Those without local changes stay beside the store, because a hook has refused the
        /// transaction with them: ``Replica/retryRefused()`` tries them again.
        case heldBack
        /// Where there are local changes, the device's object stays besides, and is sent.
        case keptBack
    }

    /// Whether a transaction has failed because a hook of the app refuses what it changes.
    ///
    /// - Parameter error: What ``receive(_:to:_:in:)`` has thrown, or the transaction around it.
    public static func isRefusal(_ error: any Error) -> Bool {
        guard let refusal = error as? HookRefusal else { return false }
        return !(refusal.hook is Replica)
    }

    /// The objects of the server that a hook refuses, by key; nil for a removal.
    ///
    /// The store has an older object, or none. If the app writes it, its edit is merged with what has
    /// arrived.
    public func refusedObjects() async throws -> [ObjectKey: Value?] {
        let number = number
        return try await store.read { transaction in
            var objects: [ObjectKey: Value?] = [:]
            for key in try PendingTable.refused(of: number, in: transaction.database) {
                let row = try PendingTable.row(key, of: number, in: transaction.database)
                objects[key] = .some(row?.base?.value)
            }
            return objects
        }
    }

    /// Tries again to take in the objects that a hook has refused.
    ///
    /// A connector does it whenever it connects.
    public func retryRefused() async throws {
        let number = number
        let keys = try await store.read { transaction in
            try PendingTable.refused(of: number, in: transaction.database)
        }
        try await takeIn(keys[...])
    }

    private func takeIn(_ keys: ArraySlice<ObjectKey>) async throws {
        guard !keys.isEmpty else { return }
        do {
            try await store.write { [self] transaction in
                takeNoSteps(in: transaction)
                transaction.tellRefusals()
                for key in keys { try takeIn(key, in: transaction) }
            }
        } catch let error where Self.isRefusal(error) {
            guard keys.count > 1 else { return }
            let middle = keys.startIndex + keys.count / 2
            try await takeIn(keys[..<middle])
            try await takeIn(keys[middle...])
        }
    }

    private func takeIn(_ key: ObjectKey, in transaction: borrowing WriteTransaction) throws {
        let database = transaction.database
        guard let row = try PendingTable.row(key, of: number, in: database),
            row.rejection == .refusedHere
        else { return }
        if let object = row.base {
            try transaction.setValue(object.value, version: object.version, of: key)
        } else {
            try transaction.removeValue(of: key)
        }
        try PendingTable.set(nil, key, of: number, in: database)
    }
}

// MARK: - Edits of refused objects

extension Replica {
    /// Merges the app's edits of objects that a hook has refused with what had arrived (3).
    ///
    /// - Parameter keepsEdits: Whether the app's object stays as it is, because a hook refuses the merge
    ///   as well. What had arrived is kept as a conflict then.
    public func mergeEditsOfRefused(
        keepsEdits: Bool = false,
        in transaction: borrowing WriteTransaction
    ) throws {
        let database = transaction.database
        let keys = try PendingTable.editedAfterRefusal(of: number, in: database)
        guard !keys.isEmpty else { return }
        takeNoSteps(in: transaction)
        for key in keys {
            guard let row = try PendingTable.row(key, of: number, in: database) else { continue }
            let edited = try transaction.source.versionedValue(at: key).map {
                VersionedValue($0.value, version: $0.version)
            }
            let edit = try EditOfRefused(of: row, at: key, edited, policy, keepsEdits: keepsEdits)
            if let object = edit.result, object != edited {
                try transaction.setValue(object.value, version: object.version, of: key)
            } else if edit.result == nil, edited != nil {
                try transaction.removeValue(of: key)
            }
            let rest = edit.rest.map { PendingObject(base: row.base, tail: $0) }
            try PendingTable.set(rest, key, of: number, in: database)
            try add(edit.conflicts, about: key, in: transaction)
        }
        transaction.touch()
    }

    private func add(
        _ conflicts: [Conflict],
        about object: ObjectKey,
        in transaction: borrowing WriteTransaction
    ) throws {
        guard !conflicts.isEmpty, let key = ConflictRecord.key(about: object) else { return }
        let stored = try transaction.source.versionedValue(at: key).map {
            VersionedValue($0.value, version: $0.version)
        }
        guard let record = ConflictRecord.record(stored, adding: conflicts, about: object) else {
            return
        }
        try transaction.setValue(record.value, version: record.version, of: key)
    }
}

extension PendingObject {
    /// The app's edit of a refused object: what it has recorded, and what else has changed.
    fileprivate func edit(
        of old: VersionedValue?,
        to edited: VersionedValue?,
        _ policy: MergePolicy
    ) throws(ReplicationError) -> ObjectDelta? {
        let known = try frozen.applied(to: old)
        return try frozen.composed(with: .diff(known, edited, policy: policy))
    }
}

/// An edit of an object in the store, while another one had arrived and was refused.
private struct EditOfRefused {
    /// The object as it is to be.
    let result: VersionedValue?
    /// From the object that had arrived to the result; nil for nothing.
    let rest: ObjectDelta?
    let conflicts: [Conflict]

    init(
        of row: PendingObject,
        at key: ObjectKey,
        _ edited: VersionedValue?,
        _ policy: MergePolicy,
        keepsEdits: Bool
    ) throws(ReplicationError) {
        let arrived = row.base
        let old = try row.tail.applied(to: arrived)
        guard !keepsEdits else {
            (result, rest) = (edited, .diff(arrived, edited, policy: policy))
            conflicts = [
                .takenWhole(key, since: old, ours: edited, theirs: arrived, .ours)
            ]
            return
        }
        let merge = try ObjectMerge(
            key,
            base: old,
            ours: .diff(old, arrived, policy: policy),
            theirs: try row.edit(of: old, to: edited, policy),
            policy: policy
        )
        (result, rest, conflicts) = (merge.result, merge.afterOurs, merge.conflicts)
    }
}
