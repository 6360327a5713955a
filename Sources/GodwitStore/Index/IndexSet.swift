internal import GRDB
internal import GodwitTree
internal import Synchronization

/// The indexes that a database has, as one transaction sees them.
struct IndexCatalogue: Sendable {
    private let entries: [Key: [IndexTable.Entry]]
    /// SQLite counts it up with each change of any table's definition.
    fileprivate let schemaVersion: Int64

    fileprivate init(_ entries: [IndexTable.Entry] = [], schemaVersion: Int64 = 0) {
        self.entries = Dictionary(grouping: entries, by: \.collection)
        self.schemaVersion = schemaVersion
    }

    func entries(of collection: Key) -> [IndexTable.Entry] { entries[collection] ?? [] }

    /// The index that a query for objects of a version looks into.
    func entry(
        of index: StoreIndex,
        in collection: Key,
        version: Int
    ) throws(StoreError) -> IndexTable.Entry {
        let entry = entries(of: collection).first { $0.index == index }
        guard let entry, entry.version >= version else {
            throw .noIndex(index.name, collection: collection)
        }
        guard entry.version == version else { throw entry.isNewer(than: version) }
        return entry
    }
}

/// The indexes of a store, and the rules by which older objects are upgraded for them.
///
/// Another process may add indexes while the store is open: then each transaction looks whether
/// the catalogue is still the one that is known.
final class IndexSet: Sendable {
    private struct State {
        var catalogue = IndexCatalogue()
        var rules: [Key: CollectionRules] = [:]
    }

    private let state = Mutex(State())
    private let isShared: Bool

    init(isShared: Bool) { self.isShared = isShared }

    func catalogue(in database: Database) throws -> IndexCatalogue {
        let known = state.withLock { $0.catalogue }
        guard isShared, try Self.schemaVersion(in: database) != known.schemaVersion else {
            return known
        }
        return try load(from: database)
    }

    /// Learns which indexes there are.
    @discardableResult
    func load(from database: Database) throws -> IndexCatalogue {
        let catalogue = IndexCatalogue(
            try IndexTable.all(in: database),
            schemaVersion: try Self.schemaVersion(in: database)
        )
        state.withLock { $0.catalogue = catalogue }
        return catalogue
    }

    private static func schemaVersion(in database: Database) throws -> Int64 {
        let statement = try PreparedStatement("PRAGMA schema_version", in: database)
        defer { statement.reset() }
        return try statement.step() ? statement.integer(0) : 0
    }

    /// Makes the indexes in the database those that the rules declare.
    ///
    /// Collections without rules keep the indexes that they have. An index over an older version
    /// of the app's type is built anew. Where several processes share the store, an index that
    /// only another one declares stays, and so does one over a newer version of the type.
    func match(_ rules: [CollectionRules], in database: Database) throws {
        let byName = Dictionary(rules.map { ($0.name, $0) }) { _, last in last }
        state.withLock { $0.rules = byName }
        var entries: [IndexTable.Entry] = []
        for entry in try IndexTable.all(in: database) {
            if let rule = byName[entry.collection], isSuperseded(entry, by: rule) {
                try IndexTable.drop(entry, in: database)
            } else {
                entries.append(entry)
            }
        }
        for rule in rules {
            let missing = rule.indexes.filter { index in
                !entries.contains { $0.collection == rule.name && $0.index == index }
            }
            guard !missing.isEmpty else { continue }
            let new = try missing.map {
                try IndexTable.create($0, rule, in: database)
            }
            try fill(new, of: rule.name, in: database)
        }
        try load(from: database)
    }

    private func isSuperseded(_ entry: IndexTable.Entry, by rule: CollectionRules) -> Bool {
        let declared = rule.indexes.first { $0.name == entry.index.name }
        guard isShared else {
            return declared != entry.index || rule.version != entry.version
                || rule.defaults(of: entry.index) != entry.defaults
        }
        guard let declared else { return false }
        return declared != entry.index || rule.version > entry.version
    }

    private func fill(
        _ entries: [IndexTable.Entry],
        of collection: Key,
        in database: Database
    ) throws {
        try ObjectTable.forEachObject(of: collection, KeyWalk(), in: database) { key, object in
            let place = ObjectKey(collection: collection, key: Key(key))
            for entry in entries {
                try entry.insert(values(of: object, at: place, for: entry), place.key, in: database)
            }
            return true
        }
    }
}

extension IndexSet {
    /// Throws where another program has built an index over a version of the type that this one does
    /// not know: before an object is written that it could not index.
    ///
    /// - Parameter object: An object that has entries in the indexes, or is to have them.
    func refuseNewer(
        _ object: StoredObject,
        at key: ObjectKey,
        _ catalogue: IndexCatalogue
    ) throws(StoreError) {
        for entry in catalogue.entries(of: key.collection)
        where !knowsFields(of: object, for: entry) {
            throw entry.isNewer(than: version(of: key.collection) ?? object.version)
        }
    }

    /// Moves an object's entries from where its old value had them to where its new one has.
    func update(
        _ key: ObjectKey,
        from old: StoredObject?,
        to new: StoredObject?,
        _ catalogue: IndexCatalogue,
        in database: Database
    ) throws {
        for entry in catalogue.entries(of: key.collection) {
            let before = try old.map { try values(of: $0, at: key, for: entry) }
            let after = try new.map { try values(of: $0, at: key, for: entry) }
            guard before != after else { continue }
            if let before { try entry.remove(before, key.key, in: database) }
            if let after { try entry.insert(after, key.key, in: database) }
        }
    }

    /// The fields of an object as the index's version of the type has them.
    ///
    /// The entry does not depend on the process that writes the object. An object that is newer than the
    /// index, or cannot be upgraded, is found by the fields that it has.
    func values(
        of object: StoredObject,
        at key: ObjectKey,
        for entry: IndexTable.Entry
    ) throws -> [IndexedValue] {
        var value = try object.value(at: key)
        if object.version < entry.version, let rule = rule(of: key.collection) {
            let upgraded = try? rule.upgraded(
                value,
                at: key,
                from: object.version,
                to: entry.version
            )
            value = upgraded ?? value
        }
        return zip(entry.index.fields, entry.defaults).map { field, defaultValue in
            let value = field.value(in: value, or: defaultValue)
            return entry.isText ? .text(Key(value?.indexedText ?? "")) : IndexedValue(value)
        }
    }

    /// Whether this process can tell the fields that an index has of an object.
    func knowsFields(of object: StoredObject, for entry: IndexTable.Entry) -> Bool {
        object.version >= entry.version
            || (version(of: entry.collection) ?? 0) >= entry.version
    }

    func retyped(_ value: Value, at key: ObjectKey) throws -> Value {
        try rule(of: key.collection)?.retyped(value, at: key) ?? value
    }

    func mergePolicy(of collection: Key) -> MergePolicy? { rule(of: collection)?.mergePolicy }

    func version(of collection: Key) -> Int? { rule(of: collection)?.version }

    private func rule(of collection: Key) -> CollectionRules? {
        state.withLock { $0.rules[collection] }
    }
}

extension IndexTable.Entry {
    fileprivate func isNewer(than known: Int) -> StoreError {
        .newerIndex(index.name, collection: collection, found: version, known: known)
    }
}
