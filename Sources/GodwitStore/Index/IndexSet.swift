internal import GRDB
internal import GodwitTree
internal import Synchronization

/// The indexes of a store, and the rules by which older objects are upgraded for them.
final class IndexSet: Sendable {
    private struct State {
        var entries: [Key: [IndexTable.Entry]] = [:]
        var rules: [Key: CollectionRules] = [:]
    }

    private let state = Mutex(State())

    func entries(of collection: Key) -> [IndexTable.Entry] {
        state.withLock { $0.entries[collection] ?? [] }
    }

    func entry(of index: Index, in collection: Key) throws(StoreError) -> IndexTable.Entry {
        guard let entry = entries(of: collection).first(where: { $0.index == index }) else {
            throw .noIndex(index.name, collection: collection)
        }
        return entry
    }

    var all: [IndexTable.Entry] { state.withLock { $0.entries.values.flatMap { $0 } } }

    /// Learns which indexes there are, for those who only read.
    func load(from database: Database) throws {
        let entries = try IndexTable.all(in: database)
        state.withLock { $0.entries = Dictionary(grouping: entries, by: \.collection) }
    }

    /// Makes the indexes in the database those that the rules declare.
    ///
    /// Collections without rules keep the indexes that they have. An index over another version
    /// of the app's type is built anew.
    func match(_ rules: [CollectionRules], in database: Database) throws {
        let byName = Dictionary(rules.map { ($0.name, $0) }) { _, last in last }
        state.withLock { $0.rules = byName }
        var entries: [IndexTable.Entry] = []
        for entry in try IndexTable.all(in: database) {
            guard let declared = byName[entry.collection],
                !declared.indexes.contains(entry.index) || declared.version != entry.version
            else {
                entries.append(entry)
                continue
            }
            try IndexTable.drop(entry, in: database)
        }
        for rule in rules {
            let missing = rule.indexes.filter { index in
                !entries.contains { $0.collection == rule.name && $0.index == index }
            }
            guard !missing.isEmpty else { continue }
            let new = try missing.map {
                try IndexTable.create($0, in: rule.name, version: rule.version, database)
            }
            try fill(new, of: rule.name, in: database)
            entries += new
        }
        state.withLock { [entries] in $0.entries = Dictionary(grouping: entries, by: \.collection) }
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
    /// Moves an object's entries from where its old value had them to where its new one has.
    func update(
        _ key: ObjectKey,
        from old: StoredObject?,
        to new: StoredObject?,
        in database: Database
    ) throws {
        for entry in entries(of: key.collection) {
            let before = try old.map { try values(of: $0, at: key, for: entry) }
            let after = try new.map { try values(of: $0, at: key, for: entry) }
            guard before != after else { continue }
            if let before { try entry.remove(before, key.key, in: database) }
            if let after { try entry.insert(after, key.key, in: database) }
        }
    }

    func values(
        of object: StoredObject,
        at key: ObjectKey,
        for entry: IndexTable.Entry
    ) throws -> [IndexedValue] {
        var value = try object.value(at: key)
        let rule = state.withLock { $0.rules[key.collection] }
        if let rule { value = try rule.upgraded(value, at: key, from: object.version) }
        return entry.index.fields.map { IndexedValue($0.value(in: value)) }
    }

    func version(of collection: Key) -> Int? {
        state.withLock { $0.rules[collection]?.version }
    }
}
