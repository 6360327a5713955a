internal import GRDB
public import GodwitStore
public import GodwitTree

/// How a conflict is settled.
public enum ConflictDecision: Hashable, Sendable {
    /// What the merge has chosen stays.
    case keep
    /// The place has this value afterwards; nil removes what is there.
    case put(Value?)
}

extension Replica {
    /// The conflicts that are not settled yet, in the order of the objects that they are about.
    ///
    /// A merge has decided each of them, and the record keeps what it did not take:
    ///
    /// ```swift
    /// for record in try await replica.conflicts() {
    ///     for (id, conflict) in record.conflicts where conflict.choice == .theirs {
    ///         try await store.write {
    ///             try replica.settle(id, about: record.object, .put(conflict.ours), in: $0)
    ///         }
    ///     }
    /// }
    /// ```
    public func conflicts() async throws -> [ConflictRecord] {
        try await store.read { [self] in try conflicts(in: $0) }
    }

    /// The conflicts that are not settled yet, within a transaction.
    public func conflicts(
        in transaction: borrowing some Transaction & ~Copyable
    ) throws -> [ConflictRecord] {
        let collections = try DeviceTable.collections(of: number, in: transaction.database)
        return try ConflictRecord.all(of: collections, in: transaction)
    }

    /// The conflicts that are not settled, again whenever they change.
    ///
    /// A slow reader gets the newest ones only. The sequence ends when the store is closed, or cannot
    /// be read.
    public func observedConflicts() -> AsyncStream<[ConflictRecord]> {
        let changes = store.changes()
        let (stream, continuation) = AsyncStream.makeStream(
            of: [ConflictRecord].self,
            bufferingPolicy: .bufferingNewest(1)
        )
        let task = Task { [self] in
            defer { continuation.finish() }
            guard var last = try? await conflicts() else { return }
            continuation.yield(last)
            for await change in changes {
                guard change.concernsConflicts else {
                    continue
                }
                guard let records = try? await conflicts() else { return }
                if records != last { continuation.yield(records) }
                last = records
            }
        }
        continuation.onTermination = { _ in task.cancel() }
        return stream
    }

    /// Settles a conflict, on all devices.
    ///
    /// The decision is an ordinary change: it is sent, and merged with what others do.
    ///
    /// - Parameters:
    ///   - id: The conflict's key in its record.
    ///   - object: What the record is about.
    /// - Throws: ``ReplicationError/unknownConflict(_:)`` when it is settled already, `TreeError` when
    ///   its place in the object is gone.
    public func settle(
        _ id: Key,
        about object: ObjectKey,
        _ decision: ConflictDecision = .keep,
        in transaction: borrowing WriteTransaction
    ) throws {
        guard let key = ConflictRecord.key(about: object),
            let stored = try transaction.source.versionedValue(at: key),
            let conflict = ConflictRecord(stored.value)?.conflicts[id]
        else { throw ReplicationError.unknownConflict(object) }
        if case .put(let value) = decision {
            try put(value, at: conflict.path, of: object, in: transaction)
        }
        if let rest = ConflictRecord.record(stored.value, without: id) {
            try transaction.setValue(rest, version: stored.version, of: key)
        } else {
            try transaction.removeValue(of: key)
        }
    }

    private func put(
        _ value: Value?,
        at path: Path,
        of object: ObjectKey,
        in transaction: borrowing WriteTransaction
    ) throws {
        let stored = try transaction.source.versionedValue(at: object)
        let version = stored?.version ?? 1
        guard !path.steps.isEmpty else {
            guard let value else { return try transaction.removeValue(of: object) }
            return try transaction.setValue(value, version: version, of: object)
        }
        guard var edited = stored?.value else { throw StoreError.noObject(object) }
        _ = try edited.edit { $0.put(value, at: path.steps[...]) }
        try transaction.setValue(edited, version: version, of: object)
    }
}

extension ConflictRecord {
    /// All conflicts of a store that are not settled, of whichever replica, in the order of the objects.
    public static func all(
        in transaction: borrowing some Transaction & ~Copyable
    ) throws -> [ConflictRecord] {
        try all(of: transaction.collections(), in: transaction)
    }

    fileprivate static func all(
        of collections: some Sequence<Key>,
        in transaction: borrowing some Transaction & ~Copyable
    ) throws -> [ConflictRecord] {
        var records: [ConflictRecord] = []
        for collection in collections where isCollection(collection) {
            for key in try transaction.keys(in: StoreCollection<Value>(collection)) {
                let place = ObjectKey(collection: collection, key: Key(key))
                if let record = try transaction.value(of: place).flatMap(Self.init) {
                    records.append(record)
                }
            }
        }
        return records.sorted { $0.object < $1.object }
    }
}

extension ChangeSet {
    fileprivate var concernsConflicts: Bool {
        isReset || keys.contains { ConflictRecord.isCollection($0.collection) }
    }
}

extension Draft {
    /// Puts a value at a place within, or removes what is there.
    fileprivate mutating func put(_ value: Value?, at steps: ArraySlice<Path.Step>) {
        guard let step = steps.first else { return }
        let isLast = steps.count == 1
        switch step {
        case .key(let key) where isLast: self[key] = value
        case .key(let key): self[key].put(value, at: steps.dropFirst())
        case .position(let position) where isLast && value == nil: list.remove(at: position)
        case .position(let position) where isLast: self[position] = value
        case .position(let position): self[position].put(value, at: steps.dropFirst())
        }
    }
}
