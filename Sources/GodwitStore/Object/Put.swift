internal import GodwitTree

/// What is to be put under a key.
struct Put {
    enum Metadata {
        case keep
        case replace([UInt8])
    }

    let value: Value
    let version: Int
    let metadata: Metadata
    /// What becomes of the old value's fields that the app's type does not know.
    private let carryOver: ((StoredObject, ObjectKey) throws -> Value)?

    init(_ value: Value, version: Int) {
        self.value = value
        self.version = version
        metadata = .keep
        carryOver = nil
    }

    init<Object>(
        _ object: Object,
        in collection: StoreCollection<Object>,
        metadata: Metadata
    ) throws {
        let value = try ValueEncoder().encode(object)
        self.value = value
        self.metadata = metadata
        version = collection.version
        carryOver = { old, key in
            let oldValue = try collection.upgraded(
                old.value(at: key),
                at: key,
                from: old.version
            )
            guard let oldMap = oldValue.map, let newMap = value.map,
                oldMap.hasMore(than: newMap)
            else { return value }
            let asked = AskedFields()
            let known = try? ValueDecoder().decode(Object.self, from: oldValue, noting: asked)
            return known == nil ? value : .map(asked.carryOver(from: oldMap, to: newMap))
        }
    }

    /// The object to store where none was.
    func object(at key: ObjectKey, commit: CommitNumber) -> StoredObject {
        object(value, metadata: nil, at: key, commit: commit)
    }

    /// The value to store in the place of an object, with the fields of that one that the type does
    /// not know.
    func value(replacing old: StoredObject?, at key: ObjectKey) throws -> Value {
        guard let old, let carryOver else { return value }
        return try carryOver(old, key)
    }

    /// The object to store in the place of another.
    func object(
        replacing old: StoredObject,
        at key: ObjectKey,
        commit: CommitNumber
    ) throws -> StoredObject {
        let value = try value(replacing: old, at: key)
        return object(value, metadata: old.metadata, at: key, commit: commit)
    }

    private func object(
        _ value: Value,
        metadata oldMetadata: [UInt8]?,
        at key: ObjectKey,
        commit: CommitNumber
    ) -> StoredObject {
        var metadata = oldMetadata
        if case .replace(let bytes) = self.metadata { metadata = bytes }
        return StoredObject(
            at: key,
            bytes: value.canonicalBytes,
            metadata: metadata,
            version: version,
            commit: commit,
            value: value
        )
    }
}
