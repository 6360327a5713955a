internal import GRDB
internal import GodwitStore
internal import GodwitTree

/// A device's rows of one replica, as one transaction sees them.
struct StoredDevice {
    let number: DeviceNumber
    let server: ServerNumber
    let database: Database
    let objects: ObjectSource
    let policy: MergePolicy
    /// The nonce of the last request, of which the row only knows a limit.
    let nonce: Int64

    /// Another replica of the same server.
    func of(_ number: DeviceNumber) -> StoredDevice {
        StoredDevice(
            number: number,
            server: server,
            database: database,
            objects: objects,
            policy: policy,
            nonce: nonce
        )
    }

    fileprivate func object(_ key: ObjectKey) throws -> VersionedValue? {
        try objects.versionedValue(at: key).map { VersionedValue($0.value, version: $0.version) }
    }

    /// A row with the whole change that leads to the object in the store.
    ///
    /// The tail has what the app has recorded. Other programs record nothing.
    func completed(
        _ row: PendingObject,
        to object: VersionedValue?
    ) throws -> PendingObject {
        var row = row
        let known = try row.target()
        guard known != object else { return row }
        let rest = ObjectDelta.diff(known, object, policy: policy)
        if row.rejection == .editedHere {
            row.frozen = try row.frozen.composed(with: rest)
        } else {
            row.tail = try row.tail.composed(with: rest)
        }
        return row
    }
}

extension StoredDevice: DeviceReader {
    func slice(with keys: Set<ObjectKey>) throws -> DeviceSlice {
        try slice(with: keys, othersMax: 0)
    }

    func wholeSlice(with keys: Set<ObjectKey>) throws -> DeviceSlice {
        try slice(with: keys, othersMax: .max)
    }

    /// - Parameter othersMax: How many rows to read besides, of objects that are to be sent.
    func slice(with keys: Set<ObjectKey>, othersMax: Int64) throws -> DeviceSlice {
        var identity = try DeviceTable.identity(for: server, in: database)
        identity.nonce = nonce
        var slice = DeviceSlice(
            replica: try DeviceTable.replica(number, in: database),
            identity: identity,
            pending: [:],
            objects: [:]
        )
        var rows =
            othersMax == .max
            ? try PendingTable.all(of: number, in: database)
            : try PendingTable.held(of: number, in: database)
        if othersMax > 0, othersMax < .max {
            rows.merge(try PendingTable.others(of: number, countMax: othersMax, in: database)) {
                held,
                _ in held
            }
        }
        let keys = try keys.withRecords(where: hasObjects)
        if othersMax < .max, try PendingTable.hasAny(of: number, in: database) {
            for key in keys where rows[key] == nil {
                rows[key] = try PendingTable.row(key, of: number, in: database)
            }
            slice.hasMore = rows.isEmpty
        }
        for (key, row) in rows {
            let object = try object(key)
            slice.objects[key] = object
            slice.pending[key] = try completed(row, to: object)
        }
        let frozen = rows.filter { $0.value.frozen != nil }.keys
        let others = try keys.union(frozen.withRecords(where: hasObjects))
        let filled = try Set(others.map(\.collection)).filter(hasObjects)
        for key in others where rows[key] == nil && filled.contains(key.collection) {
            slice.objects[key] = try object(key)
        }
        return slice
    }

    /// Whether a collection has objects, or pending ones that were removed.
    private func hasObjects(_ collection: Key) throws -> Bool {
        try DeviceTable.hasObjects(collection, in: database)
            || PendingTable.hasAny(of: number, in: collection, database)
    }

    /// As many of some objects as a batch may have, without reading more of them than their sizes.
    func first(
        of keys: ArraySlice<ObjectKey>,
        _ machine: DeviceMachine
    ) throws -> ArraySlice<ObjectKey> {
        var (count, size) = (0, 0)
        for key in keys.prefix(machine.batchCountMax)
        where count == 0 || size < machine.batchSizeMax {
            size += try DeviceTable.sizeInBytes(of: key, in: database)
            count += 1
        }
        return keys.prefix(count)
    }

    func base() throws -> StoredBase { try StoredBase(self) }

    func hasFetched() throws -> Bool { try FetchedTable.hasAny(of: number, in: database) }

    func fetched() throws -> [ObjectKey: VersionedValue?] {
        try FetchedTable.all(of: number, in: database)
    }

    func sum() throws -> ContentSum { try StoredBase(self).total() }
}

/// The objects of a replica's base, for a comparison: those in the store that have no changes, and
/// the bases of the others.
struct StoredBase: ComparedObjects {
    private let database: Database
    private let collections: [Key]
    private let pending: SortedObjects
    private let pendingKeys: Set<ObjectKey>

    fileprivate init(_ device: StoredDevice) throws {
        database = device.database
        collections = try DeviceTable.collections(of: device.number, in: database)
            .sorted { $0.text.utf8.lexicographicallyPrecedes($1.text.utf8) }
        let rows = try PendingTable.all(of: device.number, in: database)
        pending = SortedObjects(rows.compactMapValues(\.base))
        pendingKeys = Set(rows.keys)
    }

    func sum(of span: KeySpan) throws -> CollectionSum {
        var sum = pending.sum(of: span)
        try eachKept(in: span) { key, statement in
            sum.replace(nil, with: try statement.object(version: 1, value: 2), at: key)
        }
        return sum
    }

    /// The sum of all objects.
    func total() throws -> ContentSum {
        var sum = pending.total()
        try eachKept(in: .all) { key, statement in
            sum.replace(nil, with: try statement.object(version: 1, value: 2), at: key)
        }
        return sum
    }

    func objects(in span: KeySpan, sizeMax: Int) throws -> [ObjectKey: VersionedValue]? {
        var objects = pending.objects(in: span, sizeMax: .max) ?? [:]
        try eachKept(in: span) { key, statement in
            objects[key] = try statement.object(version: 1, value: 2)
        }
        return objects
    }

    func cuts(of span: KeySpan, into count: Int) throws -> [ObjectKey] {
        var keys = Array((pending.objects(in: span, sizeMax: .max) ?? [:]).keys)
        try eachKept(in: span) { key, _ in keys.append(key) }
        return keys.sorted { $0.precedes($1) }.cuts(into: count)
    }

    /// Walks through the objects that have no changes.
    private func eachKept(
        in span: KeySpan,
        _ body: (ObjectKey, PreparedStatement) throws -> Void
    ) throws {
        for collection in collections {
            guard let range = span.range(in: collection) else { continue }
            let statement = try PreparedStatement(
                "SELECT key, version, value FROM godwit_object WHERE collection = ?1"
                    + (range.lower == nil ? "" : " AND key >= ?2")
                    + (range.upper == nil ? "" : " AND key < ?3") + " ORDER BY key",
                in: database
            )
            defer { statement.reset() }
            try statement.bind(collection, at: 1)
            if let lower = range.lower { try statement.bind(lower, at: 2) }
            if let upper = range.upper { try statement.bind(upper, at: 3) }
            while try statement.step() {
                let key = ObjectKey(collection: collection, key: Key(statement.text(0)))
                if !pendingKeys.contains(key) { try body(key, statement) }
            }
        }
    }
}

extension KeySpan {
    /// The part of the range that lies in a collection; nil for none.
    fileprivate func range(in collection: Key) -> (lower: Key?, upper: Key?)? {
        var range: (lower: Key?, upper: Key?) = (nil, nil)
        let name = collection.text.utf8
        if let lower {
            if lower.collection == collection {
                range.lower = lower.key
            } else if name.lexicographicallyPrecedes(lower.collection.text.utf8) {
                return nil
            }
        }
        if let upper {
            if upper.collection == collection {
                range.upper = upper.key
            } else if !name.lexicographicallyPrecedes(upper.collection.text.utf8) {
                return nil
            }
        }
        return range
    }
}

// MARK: - Writing

extension StoredDevice {
    /// Writes what an answer has changed, beside the objects.
    ///
    /// - Precondition: The objects are written, and the triggers have noted them as changes.
    /// - Parameter old: What the adoption was decided on.
    func write(_ adoption: Adoption, replacing old: DeviceReplica) throws {
        let keys = Set(adoption.objects.keys).union(adoption.pending.keys)
        for key in keys.sorted(by: { $0.precedes($1) }) {
            try PendingTable.set(adoption.pending[key] ?? nil, key, of: number, in: database)
        }
        switch adoption.fetched {
        case .kept: break
        case .more(let objects): try FetchedTable.insert(objects, of: number, in: database)
        case .dropped: try FetchedTable.removeAll(of: number, in: database)
        }
        try DeviceTable.set(adoption.replica, replacing: old, number, in: database)
    }

    /// Freezes what is pending, if no batch is under way.
    func freeze(_ slice: inout DeviceSlice, _ machine: DeviceMachine, name: BatchName) throws {
        let old = slice.replica
        for (key, row) in try machine.freeze(&slice, name: name) {
            try PendingTable.set(row, key, of: number, in: database)
        }
        try DeviceTable.set(slice.replica, replacing: old, number, in: database)
    }
}
