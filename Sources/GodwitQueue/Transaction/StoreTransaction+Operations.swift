internal import GRDB
public import GodwitStore
public import GodwitTree

extension StoreTransaction where Self: ~Copyable {
    /// An operation of the queue; nil when there is none of this name, or not any more.
    public borrowing func operation(_ id: OperationID) throws -> QueuedOperation? {
        guard try hasQueue(), let number = try OperationTable.number(of: id, in: database) else {
            return nil
        }
        return try OperationTable.operation(number, in: database)
    }

    /// Calls `body` with the operations in the order of enqueuing, until it returns false.
    ///
    /// - Parameters:
    ///   - pipeline: The pipeline of the operations; nil for all of them.
    ///   - state: The state of the operations; nil for any.
    ///   - body: Returns whether the next operation is wanted.
    public borrowing func forEachOperation(
        in pipeline: String? = nil,
        where state: QueuedOperation.State? = nil,
        _ body: (QueuedOperation) throws -> Bool
    ) throws {
        guard try hasQueue() else { return }
        try OperationTable.forEach(in: database, where: state.map { .only($0) } ?? .all) {
            operation in
            guard pipeline == nil || operation.pipeline == pipeline else { return true }
            return try body(operation)
        }
    }

    /// The operations in the order of enqueuing.
    public borrowing func operations(
        in pipeline: String? = nil,
        where state: QueuedOperation.State? = nil
    ) throws -> [QueuedOperation] {
        var found: [QueuedOperation] = []
        try forEachOperation(in: pipeline, where: state) { operation in
            found.append(operation)
            return true
        }
        return found
    }

    /// The dead letters in the order of enqueuing, those that this version of the app cannot read among them.
    ///
    /// - Complexity: O(*n*) in the operations that do not wait.
    public borrowing func deadLetters() throws -> [QueuedOperation] {
        guard try hasQueue() else { return [] }
        var found: [QueuedOperation] = []
        try OperationTable.forEach(in: database, where: .deadLetters) { operation in
            found.append(operation)
            return true
        }
        return found
    }

    /// The unfinished operations that an operation needs.
    public borrowing func dependencies(of id: OperationID) throws -> [OperationID] {
        guard try hasQueue(), let number = try OperationTable.number(of: id, in: database) else {
            return []
        }
        return try DependencyTable.needs(of: number, in: database).compactMap { edge in
            try OperationTable.operation(edge.need, in: database)?.id
        }
    }

    /// The unfinished operations that an operation needs, each with what becomes of it when that one
    /// is not completed, and where the need comes from.
    public borrowing func recordedDependencies(
        of id: OperationID
    ) throws -> [RecordedDependency] {
        guard try hasQueue(), let number = try OperationTable.number(of: id, in: database) else {
            return []
        }
        return try DependencyTable.needs(of: number, in: database).compactMap { edge in
            try OperationTable.operation(edge.need, in: database).map { need in
                RecordedDependency(
                    id: need.id,
                    policy: edge.policy,
                    isExplicit: edge.origin == .app,
                    isDerived: edge.isDerived
                )
            }
        }
    }

    /// The unfinished operations that push an object, in the order of enqueuing; see
    /// ``PushOperation/objects``.
    ///
    /// Those of a transaction under way are found when it is committed.
    public borrowing func operations(pushing key: ObjectKey) throws -> [QueuedOperation] {
        guard try hasQueue() else { return [] }
        return try ObjectRecordTable.operations(pushing: key, in: database).compactMap {
            try OperationTable.operation($0, in: database)
        }
    }

    /// All unfinished operations that an operation needs, directly or not.
    public borrowing func recursiveDependencies(of id: OperationID) throws -> Set<OperationID> {
        guard try hasQueue(), let start = try OperationTable.number(of: id, in: database) else {
            return []
        }
        var seen: Set<OperationNumber> = []
        var left = [start]
        while let number = left.popLast() {
            for edge in try DependencyTable.needs(of: number, in: database)
            where seen.insert(edge.need).inserted { left.append(edge.need) }
        }
        return Set(try seen.compactMap { try OperationTable.operation($0, in: database)?.id })
    }

    /// What the transactions that enqueued an operation made of the objects that it pushes.
    public borrowing func recordedChanges(of id: OperationID) throws -> [RecordedChange] {
        guard try hasQueue(), let number = try OperationTable.number(of: id, in: database) else {
            return []
        }
        return try ObjectRecordTable.rows(of: number, in: database).map { row in
            RecordedChange(
                key: row.key,
                old: try row.old.map { try Value(canonicalBytes: $0, budget: .unlimited) },
                new: try row.new.map { try Value(canonicalBytes: $0, budget: .unlimited) }
            )
        }
    }

    /// The tries of an operation that have not completed it; the last twenty.
    public borrowing func attempts(of id: OperationID) throws -> [Attempt] {
        guard try hasQueue(), let number = try OperationTable.number(of: id, in: database) else {
            return []
        }
        return try AttemptTable.attempts(of: number, in: database)
    }

    /// Whether the store has the tables of a queue.
    borrowing func hasQueue() throws -> Bool { try database.tableExists("godwit_runner") }
}

/// A dependency of a queued operation on another one.
public struct RecordedDependency: Hashable, Sendable {
    public let id: OperationID
    public let policy: Dependency.Policy
    /// Whether the app has asked for it.
    public let isExplicit: Bool
    /// Whether footprints or rules ask for it.
    public let isDerived: Bool
}

/// What happened to an object that an operation pushes.
public struct RecordedChange: Hashable, Sendable {
    public let key: ObjectKey
    /// The object as the cloud is thought to have it: before the first change that is not pushed.
    public let old: Value?
    /// The object after the last change that was recorded with the operation.
    public let new: Value?
}

extension WriteTransaction {
    /// Records what this transaction has made of the objects that an operation pushes.
    borrowing func record(_ keys: [ObjectKey], of operation: OperationNumber) throws {
        for key in keys {
            let bytes: (old: [UInt8]?, new: [UInt8]?)
            if let change = change(of: key) {
                bytes = change.bytes
            } else {
                let current = try value(of: key)?.canonicalBytes
                bytes = (current, current)
            }
            let base = try ObjectRecordTable.failedBase(of: key, in: database)
            let row = ObjectRecordTable.Row(key: key, old: base ?? bytes.old, new: bytes.new)
            try ObjectRecordTable.add(row, to: operation, in: database)
        }
    }
}
