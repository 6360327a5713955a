internal import GRDB
public import GodwitStore
internal import GodwitTree

extension StoreTransaction where Self: ~Copyable {
    /// What a conflict is about: both sides and what they come from; nil unless there is one.
    public borrowing func conflict(of id: OperationID) throws -> PushConflict? {
        guard let operation = try operation(id), operation.state == .conflict else { return nil }
        let row = try ConflictTable.row(of: operation.number, in: connection)
        let objects = try ObjectRecordTable.rows(of: operation.number, in: connection)
        let object = objects.count == 1 ? objects.first : nil
        return PushConflict(
            operation: operation,
            key: object?.key,
            base: try object?.old.map { try Value(canonicalBytes: $0, budget: .unlimited) },
            ours: try object.flatMap { try value(of: $0.key) },
            theirs: row?.theirs,
            tag: row?.tag,
            policy: object.flatMap { source.mergePolicy(of: $0.key.collection) } ?? .standard
        )
    }
}

extension StoreTransaction where Self: ~Copyable {
    /// All conflicts of the queue, in the order of enqueuing.
    ///
    /// - Complexity: O(*k*) in the number of conflicts.
    public borrowing func pushConflicts() throws -> [PushConflict] {
        guard try hasQueue() else { return [] }
        var conflicts: [PushConflict] = []
        for number in try ConflictTable.operations(in: connection) {
            guard let operation = try OperationTable.operation(number, in: connection),
                let conflict = try conflict(of: operation.id)
            else { continue }
            conflicts.append(conflict)
        }
        return conflicts
    }
}

extension WriteTransaction {
    /// Ends a conflict: the object becomes what was decided, the cloud's version is the base from
    /// now on, its tag is recorded, and the operation is in line again.
    ///
    /// An object that was removed here, and is taken from the cloud, is not removed there: operations
    /// that push its removal are skipped. After ``PushConflict/Resolution/skip`` the object stays as it
    /// is here, and its next push meets the cloud's version again.
    ///
    /// A value that is taken is stored as its collection's type writes it, if the store has
    /// `CollectionRules` for that.
    ///
    /// - Throws: ``QueueError/wrongState(_:_:)`` unless the operation is in conflict,
    ///   `StoreError.unreadableObject` for a value of another type; nothing is changed then.
    public borrowing func resolveConflict(
        of id: OperationID,
        _ resolution: PushConflict.Resolution
    ) throws {
        try resolveConflict(of: id, resolution, version: nil)
    }

    /// - Parameter version: The version of the type that a value which is taken is of; nil for that of the
    ///   store's rules.
    package borrowing func resolveConflict(
        of id: OperationID,
        _ resolution: PushConflict.Resolution,
        version: Int?
    ) throws {
        guard let operation = try operation(id) else { throw QueueError.unknownOperation(id) }
        guard let conflict = try conflict(of: id) else {
            throw QueueError.wrongState(id, operation.state)
        }
        let resolution = try typed(resolution, of: conflict)
        if case .skip = resolution {
            // The tag stays unknown, because the object here has not taken in the cloud's.
            return try finish(operation.number, .skipped(reason: Self.keptReason))
        }
        if let tag = conflict.tag {
            try setTag(tag.value, for: tag.key, identifier: tag.identifier)
        }
        if case .take(let value) = resolution, let key = conflict.key {
            try take(value, version: version, at: key, for: conflict)
            if value != nil, conflict.ours == nil { try skipRemovals(of: key) }
            guard try self.operation(id) != nil else { return }
        }
        try resume(operation, attempts: operation.attempts)
    }

    private static var keptReason: String { "the cloud's version was kept" }

    /// An object that was removed is here again: to push its removal would remove it there.
    private borrowing func skipRemovals(of key: ObjectKey) throws {
        for number in try ObjectRecordTable.operations(pushing: key, in: connection) {
            let rows = try ObjectRecordTable.rows(of: number, in: connection)
            guard rows.allSatisfy({ $0.key == key && $0.new == nil }) else { continue }
            try finish(number, .skipped(reason: Self.keptReason))
        }
    }

    /// A resolution that leaves an object which the app can read.
    borrowing func typed(
        _ resolution: PushConflict.Resolution,
        of conflict: PushConflict
    ) throws -> PushConflict.Resolution {
        guard case .take(let value?) = resolution, let key = conflict.key else { return resolution }
        return .take(try retyped(value, at: key))
    }

    private borrowing func take(
        _ value: Value?,
        version: Int?,
        at key: ObjectKey,
        for conflict: PushConflict
    ) throws {
        // The operation that was in conflict pushes it.
        try skipAutomaticOperations(of: key)
        switch (value, version) {
        case (nil, _): try removeValue(of: key)
        case (let value?, nil): try setValue(value, of: key)
        case (let value?, let version?): try setValue(value, version: version, of: key)
        }
        // Without the cloud's version, what others are built on stays.
        guard let version = conflict.theirs else { return }
        let theirs = version == .null ? nil : version.canonicalBytes
        // Whatever else pushes this object is built on the same version of the cloud's.
        for operation in try ObjectRecordTable.operations(pushing: key, in: connection) {
            try ObjectRecordTable.setBase(theirs, of: key, for: operation, in: connection)
        }
    }

    /// Takes an operation out of its pipeline until a conflict is resolved.
    borrowing func stop(
        _ operation: QueuedOperation,
        theirs: Value?,
        tag: CloudTag?,
        reason: String
    ) throws {
        let verdict = OperationTable.Verdict(
            state: .conflict,
            attempts: operation.attempts + 1,
            mayHaveRun: operation.mayHaveRun,
            reason: reason
        )
        try OperationTable.record(verdict, of: operation.number, in: connection)
        let row = ConflictTable.Row(theirs: try typed(theirs, of: operation), tag: tag)
        try ConflictTable.set(row, of: operation.number, in: connection)
        try note(.stopped(operation.number, .conflict))
        try releaseNextSuspect(after: operation)
    }
}

extension WriteTransaction {
    /// The cloud's JSON as the object's type writes it, so that a merge compares like with like.
    ///
    /// What is not of that type is kept as it is, for a person to look at.
    private borrowing func typed(_ theirs: Value?, of operation: QueuedOperation) throws -> Value? {
        let objects = try ObjectRecordTable.rows(of: operation.number, in: connection)
        guard let theirs, theirs != .null, objects.count == 1 else { return theirs }
        return (try? retyped(theirs, at: objects[0].key)) ?? theirs
    }
}

// MARK: - Dead letters

extension WriteTransaction {
    /// Puts a dead letter, or an operation in conflict, back in line; its attempts count anew.
    ///
    /// For an operation that waits for its next attempt, it ends the backoff: "Try now".
    ///
    /// - Throws: ``QueueError/wrongState(_:_:)`` for an operation that waits for something else, or runs;
    ///   ``QueueError/circularDependency(_:)`` for one that would wait for operations which wait for it.
    public borrowing func retryOperation(_ id: OperationID) throws {
        guard let operation = try operation(id) else { throw QueueError.unknownOperation(id) }
        if operation.state == .waiting, try endBackoff(of: operation.number) { return }
        guard operation.state != .waiting, operation.state != .running else {
            throw QueueError.wrongState(id, operation.state)
        }
        try resume(operation, attempts: 0)
        try AttemptTable.forgive(operation.number, in: connection)
    }

    /// Changes a dead letter, an operation in conflict or one in backoff, and puts it back in line.
    ///
    /// ```swift
    /// try transaction.retryOperation(id, editing: { try $0.replace(with: UploadPhoto(scale: 0.5)) })
    /// ```
    ///
    /// - Throws: ``QueueError/wrongState(_:_:)`` for an operation that waits for something else, or runs; what
    ///   `edit` throws.
    public borrowing func retryOperation(
        _ id: OperationID,
        editing edit: (inout OperationEdit) throws -> Void
    ) throws {
        try modifyOperation(id, edit)
        try retryOperation(id)
    }

    /// - Returns: Whether the operation had failed, and waited for its next attempt.
    private borrowing func endBackoff(of number: OperationNumber) throws -> Bool {
        let context = HoldTable.retryContext
        guard try HoldTable.remove(number, context: context, in: connection) else { return false }
        try note(.released(number, context: context))
        return true
    }

    private borrowing func resume(_ operation: QueuedOperation, attempts: Int) throws {
        if operation.state.isDeadLetter { try refuseCircle(through: operation.number) }
        let verdict = OperationTable.Verdict(
            state: .waiting,
            attempts: attempts,
            mayHaveRun: operation.mayHaveRun,
            reason: operation.reason
        )
        try OperationTable.record(verdict, of: operation.number, in: connection)
        try ConflictTable.remove(operation.number, in: connection)
        try note(.resumed(operation.number))
    }
}
