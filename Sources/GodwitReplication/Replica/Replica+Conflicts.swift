internal import GRDB
public import GodwitStore
public import GodwitTree

/// How a conflict is resolved.
public enum ConflictDecision: Hashable, Sendable {
    /// What the merge has chosen stays.
    case keep
    /// The change that was not taken is made after all; theirs, if the merge has something of both.
    case takeOther
    /// The place has this value afterwards.
    case put(Value)
}

extension Replica {
    /// The conflicts that are not resolved yet, in the order of the objects that they are about.
    ///
    /// A merge has decided each of them, and the record keeps what it did not take:
    ///
    /// ```swift
    /// for record in try await replica.conflicts() {
    ///     for (id, conflict) in record.conflicts where conflict.choice == .theirs {
    ///         try await store.write {
    ///             try replica.resolve(id, about: record.object, .takeOther, in: $0)
    ///         }
    ///     }
    /// }
    /// ```
    public func conflicts() async throws -> [ConflictRecord] {
        try await store.read { [self] in try conflicts(in: $0) }
    }

    /// The conflicts that are not resolved yet, within a transaction.
    public func conflicts(
        in transaction: borrowing some StoreTransaction & ~Copyable
    ) throws -> [ConflictRecord] {
        let collections = try DeviceTable.collections(of: number, in: transaction.connection)
        return try ConflictRecord.all(of: collections, in: transaction)
    }

    /// The conflicts that are not resolved, again whenever they change.
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

    /// Resolves a conflict, on all devices.
    ///
    /// The decision is an ordinary change: it is sent, and merged with what others do.
    ///
    /// - Parameters:
    ///   - id: The conflict's key in its record.
    ///   - object: What the record is about.
    ///   - decision: Which side to take.
    ///   - transaction: The transaction that resolves it.
    /// - Throws: ``ReplicationError/unknownConflict(_:)`` when it is resolved already, or
    ///   ``ReplicationError/changedSince(_:)`` when its place in the object does not have the value any
    ///   more that the merge has left, or its item cannot be found in its list: resolve it with
    ///   ``ConflictDecision/keep`` and edit the object. An item with an `id`, a `name` or the like is found
    ///   by that, another one only while nothing else changes it.
    public func resolve(
        _ id: Key,
        about object: ObjectKey,
        _ decision: ConflictDecision = .keep,
        in transaction: borrowing WriteTransaction
    ) throws {
        try ConflictRecord.resolve(id, about: object, decision, in: transaction)
    }
}

extension ConflictRecord {
    /// Resolves a conflict in a store whose replica may not be open; see
    /// ``Replica/resolve(_:about:_:in:)``.
    public static func resolve(
        _ id: Key,
        about object: ObjectKey,
        _ decision: ConflictDecision = .keep,
        in transaction: borrowing WriteTransaction
    ) throws {
        guard let key = key(about: object),
            let stored = try transaction.source.versionedValue(at: key),
            let record = ConflictRecord(stored.value), let conflict = record.conflicts[id]
        else { throw ReplicationError.unknownConflict(object) }
        let opening = record.openings[id]
        var items: [ChangedItem] = []
        switch decision {
        case .keep: break
        case .takeOther:
            items = try put(
                conflict.other,
                at: opening,
                of: object,
                opening?.version,
                in: transaction
            )
        case .put(let value):
            items = try put(value, at: opening, of: object, nil, in: transaction)
        }
        if let rest = Self.record(stored.value, without: id, items) {
            try transaction.setValue(rest, version: stored.version, of: key)
        } else {
            try transaction.removeValue(of: key)
        }
    }

    /// - Parameter version: That of a value which is a whole object; nil for the one that is there.
    /// - Returns: The items of lists in which the place is, without one that is gone.
    private static func put(
        _ value: Value?,
        at opening: Opening?,
        of object: ObjectKey,
        _ version: Int?,
        in transaction: borrowing WriteTransaction
    ) throws -> [ChangedItem] {
        let stored = try transaction.source.versionedValue(at: object)
        let (steps, edited) = try changed(
            stored?.value,
            stored?.version,
            value,
            at: opening,
            of: object
        )
        guard !steps.isEmpty, let stored, let edited else {
            try replace(object, with: value, version: version ?? stored?.version, in: transaction)
            return []
        }
        try transaction.setValue(edited, version: stored.version, of: object)
        return ValuePath(Array(steps)).items.compactMap { item in
            guard item.count < steps.count || value != nil, let old = stored.value.part(at: item),
                let mark = stored.value.itemMark(at: item), let new = edited.itemMark(at: item)
            else { return nil }
            // A record of before another item got the same identity has that; it is about either of them.
            return ChangedItem(
                list: ValuePath(Array(item)).list,
                old: [mark, old.digest],
                new: new
            )
        }
    }

    /// The object with a value in the place of a conflict, and where that place is now.
    private static func changed(
        _ stored: Value?,
        _ version: Int?,
        _ value: Value?,
        at opening: Opening?,
        of object: ObjectKey
    ) throws -> (steps: ArraySlice<ValuePath.Step>, object: Value?) {
        guard let opening, let steps = opening.steps(in: stored) else {
            throw ReplicationError.changedSince(object)
        }
        guard !steps.isEmpty else { return (steps, value) }
        guard var edited = stored, version == opening.version else {
            throw ReplicationError.changedSince(object)
        }
        do {
            _ = try edited.edit { $0.put(value, at: steps) }
        } catch {
            throw ReplicationError.changedSince(object)
        }
        return (steps, edited)
    }

    /// The object as ``ConflictDecision/takeOther`` would leave it; nil if it removes the object.
    ///
    /// - Throws: ``ReplicationError/unknownConflict(_:)``, ``ReplicationError/changedSince(_:)``.
    package func object(
        taking id: Key,
        in transaction: borrowing some StoreTransaction & ~Copyable
    ) throws -> VersionedValue? {
        guard let conflict = conflicts[id] else { throw ReplicationError.unknownConflict(object) }
        let stored = try transaction.source.versionedValue(at: object)
        let (steps, value) = try Self.changed(
            stored?.value,
            stored?.version,
            conflict.other,
            at: openings[id],
            of: object
        )
        let version = steps.isEmpty ? openings[id]?.version : stored?.version
        return value.map { VersionedValue($0, version: version ?? 1) }
    }

    private static func replace(
        _ object: ObjectKey,
        with value: Value?,
        version: Int?,
        in transaction: borrowing WriteTransaction
    ) throws {
        guard let value else { return try transaction.removeValue(of: object) }
        guard let version else { return try transaction.setValue(value, of: object) }
        try transaction.setValue(value, version: version, of: object)
    }
}

extension ConflictRecord.Opening {
    /// The place, if it has what the merge has left there.
    ///
    /// Items of lists may have moved: an item is found by its mark, where no other one has the same.
    fileprivate func steps(in object: Value?) -> ArraySlice<ValuePath.Step>? {
        guard let place else { return nil }
        guard let way = place.item else {
            return object?.part(at: place.steps[...])?.digest == left ? place.steps[...] : nil
        }
        guard let item, let object else { return nil }
        var found = object.places(like: way).filter { place in
            let part = object.part(at: place[...])
            return part?.identityMark == item || part?.digest == item
        }
        guard let only = found.popLast(), found.isEmpty else { return nil }
        let steps = only + place.steps[way.endIndex...]
        return object.part(at: steps[...])?.digest == left ? steps[...] : nil
    }
}

extension ConflictRecord {
    /// All conflicts of a store that are not resolved, of whichever replica, in the order of the objects.
    public static func all(
        in transaction: borrowing some StoreTransaction & ~Copyable
    ) throws -> [ConflictRecord] {
        try all(of: transaction.collections(), in: transaction)
    }

    /// The conflicts about a collection's objects that are not resolved, in the order of the objects.
    package static func all(
        about collection: Key,
        in transaction: borrowing some StoreTransaction & ~Copyable
    ) throws -> [ConflictRecord] {
        try all(of: [Self.collection(about: collection)], in: transaction)
    }

    fileprivate static func all(
        of collections: some Sequence<Key>,
        in transaction: borrowing some StoreTransaction & ~Copyable
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

extension Conflict {
    /// The change that the merge has not made; theirs, if it has something of both.
    fileprivate var other: Value? { choice == .theirs ? ours : theirs }
}

extension ChangeSet {
    fileprivate var concernsConflicts: Bool {
        isReset || keys.contains { ConflictRecord.isCollection($0.collection) }
    }
}

extension Draft {
    /// Puts a value at a place within, or removes what is there.
    fileprivate mutating func put(_ value: Value?, at steps: ArraySlice<ValuePath.Step>) {
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
