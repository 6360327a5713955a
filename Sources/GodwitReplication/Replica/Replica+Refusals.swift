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
//   (3) A row of an object that the app has edited, before it arrived or since, is marked as edited: its
//       tail leads from the server's object to the one before the edit, and `frozen` has the edit.
//       Before the next request the two are merged, each object by itself where a hook refuses some.

extension Replica {
    /// What becomes of the objects that an answer brings.
    package enum Arrivals: Sendable {
        case taken
        /// They stay beside the store, because a hook has refused the transaction with them.
        ///
        /// ``Replica/retryRefused()`` tries them again, and the next request those with local
        /// changes.
        case heldBack
    }

    /// Whether a transaction has failed because a hook of the app refuses what it changes.
    ///
    /// - Parameter error: What taking an answer in has thrown, or the transaction around it.
    package static func isRefusal(_ error: any Error) -> Bool {
        guard let refusal = error as? HookRefusal else { return false }
        return !(refusal.hook is ReplicaRecorder)
    }

    /// The objects of the server that a hook refuses, by key; nil for a removal.
    ///
    /// The store has an older object, or none. If the app writes it, its edit is merged with what has
    /// arrived.
    public func refusedObjects() async throws -> [ObjectKey: Value?] {
        let number = number
        return try await store.read { transaction in
            var objects: [ObjectKey: Value?] = [:]
            for key in try PendingTable.refused(of: number, in: transaction.connection) {
                let row = try PendingTable.row(key, of: number, in: transaction.connection)
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
            try PendingTable.refused(of: number, in: transaction.connection)
        }
        _ = try await change(keys[...]) { [self] in try takeIn($0, in: $1) }
    }

    /// Changes objects in one transaction, or in halves while a hook refuses it.
    ///
    /// - Returns: Those that a hook refuses by themselves.
    private func change(
        _ keys: ArraySlice<ObjectKey>,
        _ body: @escaping @Sendable (ObjectKey, borrowing WriteTransaction) throws -> Void
    ) async throws -> [ObjectKey] {
        guard !keys.isEmpty else { return [] }
        do {
            try await store.write { [self] transaction in
                try checkOpenness(in: transaction)
                recorder.takeNoSteps(in: transaction)
                transaction.tellRefusals()
                for key in keys { try body(key, transaction) }
            }
            return []
        } catch let error where Self.isRefusal(error) {
            guard keys.count > 1 else { return Array(keys) }
            let middle = keys.startIndex + keys.count / 2
            return try await change(keys[..<middle], body) + change(keys[middle...], body)
        }
    }

    private func takeIn(_ key: ObjectKey, in transaction: borrowing WriteTransaction) throws {
        let database = transaction.connection
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
    /// Where a hook refuses the merge as well, the app's object stays, and a conflict keeps the one that had
    /// arrived. ``nextRequest(sizeMax:in:)`` does the same, and throws if a hook refuses one of the merges.
    package func mergeEditsOfRefused() async throws {
        let number = number
        let keys = try await store.read { transaction in
            try PendingTable.editedAfterRefusal(of: number, in: transaction.connection)
        }
        let refused = try await change(keys[...]) { [self] in try mergeEdit(of: $0, in: $1) }
        for key in refused {
            try await store.write { [self] transaction in
                try checkOpenness(in: transaction)
                recorder.takeNoSteps(in: transaction)
                try mergeEdit(of: key, keepingIt: true, in: transaction)
            }
        }
    }

    func mergeEditsOfRefused(in transaction: borrowing WriteTransaction) throws {
        let keys = try PendingTable.editedAfterRefusal(of: number, in: transaction.connection)
        guard !keys.isEmpty else { return }
        recorder.takeNoSteps(in: transaction)
        for key in keys { try mergeEdit(of: key, in: transaction) }
    }

    private func mergeEdit(
        of key: ObjectKey,
        keepingIt: Bool = false,
        in transaction: borrowing WriteTransaction
    ) throws {
        let database = transaction.connection
        guard let found = try PendingTable.row(key, of: number, in: database),
            found.rejection == .editedHere
        else { return }
        let edited = try transaction.versioned(key)
        let row = try device(in: transaction).completed(found, to: edited)
        var machine = machine
        machine.rules = ProgramRules(try policy(for: key, in: transaction))
        let edit = try EditOfRefused(of: row, at: key, edited, machine, keepsIt: keepingIt)
        if let object = edit.result, object != edited {
            try transaction.setValue(object.value, version: object.version, of: key)
        } else if edit.result == nil, edited != nil {
            try transaction.removeValue(of: key)
        }
        try PendingTable.set(edit.row, key, of: number, in: database)
        try add(edit.conflicts, about: key, in: edit.result?.value, in: transaction)
        transaction.touch()
    }

    private func add(
        _ conflicts: [MergeConflict],
        about object: ObjectKey,
        in result: Value?,
        in transaction: borrowing WriteTransaction
    ) throws {
        guard !conflicts.isEmpty, let key = ConflictRecord.key(about: object) else { return }
        let record = ConflictRecord.record(
            try transaction.versioned(key),
            adding: conflicts,
            about: object,
            in: result
        )
        guard let record else { return }
        try transaction.setValue(record.value, version: record.version, of: key)
    }
}

extension WriteTransaction {
    /// An object as the transaction sees it.
    func versioned(_ key: ObjectKey) throws -> VersionedValue? {
        try source.versionedValue(at: key).map { VersionedValue($0.value, version: $0.version) }
    }
}

/// An edit of an object in the store, while another one had arrived and was refused.
private struct EditOfRefused {
    /// The object as it is to be.
    let result: VersionedValue?
    /// What leads from the object that had arrived to the result; nil for nothing.
    let row: PendingObject?
    let conflicts: [MergeConflict]

    /// - Parameter row: A row that is complete.
    init(
        of row: PendingObject,
        at key: ObjectKey,
        _ edited: VersionedValue?,
        _ machine: DeviceMachine,
        keepsIt: Bool
    ) throws(ReplicationError) {
        let arrived = row.base
        let old = try row.tail.applied(to: arrived)
        let merge = try ObjectMerge(
            key,
            base: old,
            ours: .diff(old, arrived, policy: machine.policy),
            theirs: row.isDoubtful ? .diff(old, edited, policy: machine.policy) : row.frozen,
            policy: machine.policy,
            areTheirsDoubtful: row.isDoubtful
        )
        let isReadable = merge.result.map { machine.isReadable(key, $0) } ?? true
        guard !keepsIt, isReadable else {
            result = edited
            let rest = ObjectDelta.diff(arrived, edited, policy: machine.policy)
            self.row = rest.map { PendingObject(base: arrived, tail: $0) }
            conflicts = [MergeConflict(key, since: old, ours: edited, theirs: arrived, .ours)]
            return
        }
        (result, conflicts) = (merge.result, merge.conflicts)
        self.row = merge.afterOurs.map { rest in
            row.isDoubtful
                ? PendingObject(base: arrived, frozen: rest, isDoubtful: true)
                : PendingObject(base: arrived, tail: rest)
        }
    }
}
