internal import GodwitTree

/// An object that a query has found.
struct FoundObject {
    let key: String
    let stored: StoredObject
}

/// Answers a query from what a reader sees.
struct QueryRun<Object: Codable & Sendable> {
    private let query: StoreQuery<Object>
    private let lookup: any ObjectLookup
    let plan: QueryPlan
    private let fields: StoredFields<Object>

    private var search: Search { query.search }

    /// - Throws: ``StoreError/unusableField(_:reason:)``.
    init(_ query: StoreQuery<Object>, _ lookup: any ObjectLookup) throws {
        let (name, version) = (query.collection.name, query.collection.version)
        let fields = StoredFields(query.collection)
        let indexes =
            try query.index.map { [$0] }
            ?? lookup.indexes(of: name).filter { fields.agree(with: $0) }.map(\.index)
        (self.query, self.lookup, self.fields) = (query, lookup, fields)
        plan = QueryPlan(query.search, version: version, indexes: indexes)
        try query.fields.check(query.collection, lookup)
    }

    /// The objects that the query finds, in its order.
    func objects() throws -> [FoundObject] {
        guard !plan.isSorted else { return try sortedObjects() }
        var rows: [(place: SortedKey, object: FoundObject)] = []
        try forEachObject { object, values in
            let place = SortedKey(key: object.key, values: search.order.map { values($0.field) })
            rows.append((place, object))
            return true
        }
        rows.sort { $0.place.precedes($1.place, in: search) }
        return rows.prefix(search.limit ?? .max).map(\.object)
    }

    private func sortedObjects() throws -> [FoundObject] {
        var objects: [FoundObject] = []
        guard search.limit != 0 else { return [] }
        try forEachObject { object, _ in
            objects.append(object)
            return objects.count != search.limit
        }
        return objects
    }

    /// The keys of the objects that the query finds, in its order.
    func keys() throws -> [String] {
        guard plan.isExact, plan.isSorted || search.order.isEmpty else {
            return try objects().map(\.key)
        }
        var keys: [String] = []
        try forEachKey {
            keys.append($0)
            return true
        }
        if !plan.isSorted { keys.sort { $0.utf8.lexicographicallyPrecedes($1.utf8) } }
        return search.limit.map { Array(keys.prefix($0)) } ?? keys
    }

    /// The value of a field of each object that the query finds, without a look at the object if the
    /// index that answers has the field.
    func forEachValue(of field: Field, _ body: (IndexedValue) throws -> Void) throws {
        guard search.limit == nil else {
            for object in try objects() {
                let place = query.collection.place(object.key)
                try body(fields.values(of: object.stored, at: place)(field))
            }
            return
        }
        let isIndexed = plan.parts?.allSatisfy { $0.index.fields.contains(field) } ?? false
        guard plan.isExact, isIndexed else {
            return try forEachObject { _, values in
                try body(values(field))
                return true
            }
        }
        try forEachEntry(reading: field) { _, value in
            try body(value ?? .none)
            return true
        }
    }

    /// How many objects the query finds.
    func count() throws -> Int {
        var count = 0
        if plan.isExact {
            try forEachKey { _ in
                count += 1
                return count != search.limit
            }
        } else {
            try forEachObject { _, _ in
                count += 1
                return count != search.limit
            }
        }
        return search.limit == 0 ? 0 : count
    }
}

extension QueryRun {
    /// The keys that the parts of the plan have, each one once.
    private func forEachKey(_ body: (String) throws -> Bool) throws {
        try forEachEntry(reading: nil) { key, _ in try body(key) }
    }

    /// The entries that the parts of the plan have, each one once, with the value of a field that all of
    /// their indexes have.
    private func forEachEntry(
        reading field: Field?,
        _ body: (String, IndexedValue?) throws -> Bool
    ) throws {
        let parts = plan.parts ?? []
        // Keys are bytes: two of them may be one text for Swift.
        var (seen, goesOn) = (Set<Key>(), true)
        for part in parts where goesOn {
            let column = field.flatMap(part.index.fields.firstIndex)
            try lookup.forEachEntry(
                of: query.collection.name,
                by: part.index,
                part.bounds,
                column: column
            ) { key, value in
                if parts.count > 1, !seen.insert(Key(key)).inserted { return true }
                goesOn = try body(key, value)
                return goesOn
            }
        }
    }

    /// The objects that meet the criterion, each with the values of its fields.
    private func forEachObject(
        _ body: (FoundObject, (Field) -> IndexedValue) throws -> Bool
    ) throws {
        func take(_ key: String, _ stored: StoredObject) throws -> Bool {
            let values = try fields.values(of: stored, at: query.collection.place(key))
            guard plan.isExact || search.criterion.isMet(by: values) else { return true }
            return try body(FoundObject(key: key, stored: stored), values)
        }
        guard plan.parts != nil else {
            lookup.noteScan()
            return try lookup.forEachObject(of: query.collection.name, KeyWalk(), take)
        }
        try forEachKey { key in
            try lookup.object(at: query.collection.place(key)).map { try take(key, $0) } ?? true
        }
    }
}

/// The fields of objects as the app's version of their type has them.
struct StoredFields<Object: Codable & Sendable> {
    private let collection: StoreCollection<Object>
    /// The default object of the type; see ``Defaulted``.
    let defaults = defaultValue(of: Object.self)

    init(_ collection: StoreCollection<Object>) { self.collection = collection }

    /// Whether an index by order has the fields as the type has them.
    func agree(with entry: IndexTable.Entry) -> Bool {
        !entry.isText && entry.version == collection.version
            && entry.defaults == entry.index.fields.map { $0.value(in: defaults) }
    }

    /// An object that is newer than the type, or cannot be upgraded, is found by the fields that it has.
    func values(
        of object: StoredObject,
        at place: ObjectKey
    ) throws -> (Field) -> IndexedValue {
        let stored = try object.value(at: place)
        let upgraded = try? collection.upgraded(stored, at: place, from: object.version)
        let value = upgraded ?? stored
        return { IndexedValue($0.value(in: value, or: $0.value(in: defaults))) }
    }
}
