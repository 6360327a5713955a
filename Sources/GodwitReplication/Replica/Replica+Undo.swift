internal import GRDB
public import GodwitStore
internal import GodwitTree

// Undo of a device's own steps, after changes of others have arrived.
//
//   (1) A step is what one transaction of this program has changed in the replica: the objects before
//       and after, and how they were edited where the app has recorded that.
//   (2) To undo it is a merge: base after, ours now, theirs before. Where others have changed the same
//       place since, their change stays. Undo subtracts an increment.
//   (3) The result is an ordinary change, which is sent; and it is what can be redone. A new step
//       forgets what is undone.

extension Replica {
    /// How many steps can be undone and redone.
    public struct UndoCounts: Hashable, Sendable {
        public let undoable: Int
        public let redoable: Int
    }

    /// Takes back the last step of this device that is not undone, and keeps what others have done.
    ///
    /// ```swift
    /// let replica = try await connector.open(name, collections: ["lists"], undoCountMax: 50)
    /// try await store.write { try replica.undo(in: $0) }
    /// ```
    ///
    /// A step is one transaction. Steps are kept over launches, as many as the replica was opened for.
    ///
    /// - Precondition: The transaction has undone or redone nothing yet.
    /// - Returns: Whether there was a step to undo.
    /// - Throws: ``ReplicationError/unknownReplica(_:)`` when the replica was closed or left.
    @discardableResult
    public func undo(in transaction: borrowing WriteTransaction) throws -> Bool {
        try turnBack(isUndone: false, in: transaction)
    }

    /// Makes the step again that was undone last.
    ///
    /// - Returns: Whether there was one.
    @discardableResult
    public func redo(in transaction: borrowing WriteTransaction) throws -> Bool {
        try turnBack(isUndone: true, in: transaction)
    }

    /// How many steps can be undone and redone.
    public func undoCounts(
        in transaction: borrowing some StoreTransaction & ~Copyable
    ) throws -> UndoCounts {
        let database = transaction.connection
        return UndoCounts(
            undoable: try UndoTable.count(of: number, isUndone: false, in: database),
            redoable: try UndoTable.count(of: number, isUndone: true, in: database)
        )
    }

    private func turnBack(
        isUndone: Bool,
        in transaction: borrowing WriteTransaction
    ) throws -> Bool {
        precondition(!recorder.takesNoSteps, "A transaction undoes or redoes one step")
        try checkOpenness(in: transaction)
        let database = transaction.connection
        guard let step = try UndoTable.last(of: number, isUndone: isUndone, in: database) else {
            return false
        }
        recorder.takeNoSteps(in: transaction)
        let changes = try UndoTable.changes(of: step, number, in: database)
        try UndoTable.remove(step, of: number, in: database)
        for change in changes {
            let now = try transaction.versioned(change.key)
            let rules = try policy(for: change.key, in: transaction)
            let merge = try change.takenBack(from: now, rules)
            let isReadable = merge.result.map { machine.isReadable(change.key, $0) } ?? true
            // An object that the app could not read any more stays as it is.
            let (result, edit) = isReadable ? (merge.result, merge.afterOurs) : (now, nil)
            if result != now { try set(result, at: change.key, by: edit, in: transaction) }
            try UndoTable.set(
                UndoneChange(key: change.key, before: now, after: result, recorded: edit),
                step: transaction.commit.rawValue,
                isUndone: !isUndone,
                of: number,
                in: database
            )
        }
        transaction.touch()
        return true
    }

    private func set(
        _ object: VersionedValue?,
        at key: ObjectKey,
        by change: ObjectDelta?,
        in transaction: borrowing WriteTransaction
    ) throws {
        guard let object else { return try transaction.removeValue(of: key) }
        var edits: Delta?
        if case .apply(let delta)? = change?.change, delta.hasIncrement { edits = delta }
        try transaction.setValue(object.value, version: object.version, of: key, by: edits)
    }
}

extension UndoneChange {
    /// The object as it is now, without the change.
    fileprivate func takenBack(
        from now: VersionedValue?,
        _ policy: MergePolicy
    ) throws(ReplicationError) -> ObjectMerge {
        let ours = ObjectDelta.diff(after, now, policy: policy)
        let recorded = try recorded.flatMap { delta throws(ReplicationError) in
            delta.hasIncrement ? try delta.inverted(on: before) : nil
        }
        var policy = policy
        // The changes of others stay, place by place: elsewhere the step's increments are subtracted.
        for _ in 0..<Self.contestedCountMax {
            let merge = try ObjectMerge(
                key,
                base: after,
                ours: ours,
                theirs: recorded ?? .diff(after, before, policy: policy),
                policy: policy
            )
            let contested = merge.conflicts.map(\.conflict).filter { $0.choice != .ours }
            if contested.isEmpty { return merge }
            for conflict in contested { policy.set(.ours, at: conflict.path.description) }
        }
        return try ObjectMerge(
            key,
            base: after,
            ours: ours,
            theirs: .diff(after, before, policy: policy),
            policy: policy,
            areTheirsDoubtful: true
        )
    }

    /// How often a merge is made again before all of the step gives way.
    private static let contestedCountMax = 16
}
