import GodwitReplication
import GodwitStore
import GodwitTree

/// The objects of a replica as `export` prints them, and `import` reads them.
///
/// They are in a map by collection and key; versions of types other than 1 are in another one.
struct ExportedObjects {
    private static let versions: Key = "godwit.versions"

    let all: [(key: ObjectKey, object: VersionedValue)]

    init(_ objects: [ObjectKey: VersionedValue]) {
        all = objects.sorted { $0.key < $1.key }.map { ($0, $1) }
    }

    /// - Throws: ``ToolError``.
    init(_ value: Value) throws {
        guard let collections = value.map else { throw ToolError("this is no exported replica") }
        var all: [(ObjectKey, VersionedValue)] = []
        for collection in collections where !collection.key.text.hasPrefix("godwit.") {
            guard let objects = collection.value.map else {
                throw ToolError("the collection \"\(collection.key.text)\" is no map")
            }
            for object in objects {
                let version = value[Self.versions]?[collection.key]?[object.key]?.integer ?? 1
                guard let version = Int(exactly: version), version > 0 else {
                    throw ToolError("the version of \"\(object.key.text)\" is no version")
                }
                let key = ObjectKey(collection: collection.key, key: object.key)
                all.append((key, VersionedValue(object.value.untaggingBytes, version: version)))
            }
        }
        self.all = all
    }

    var encoded: Value {
        var collections = Self.map(all.map { ($0.key, $0.object.value.taggingBytes) })
        let versions = all.filter { $0.object.version != 1 }.map { key, object in
            (key, Value.int(Int64(object.version)))
        }
        if !versions.isEmpty { collections[Self.versions] = .map(Self.map(versions)) }
        return .map(collections)
    }

    private static func map(_ values: [(ObjectKey, Value)]) -> Value.Map {
        let collections = Dictionary(grouping: values, by: \.0.collection)
        return Value.Map(
            collections.map { name, values in
                (name, .map(Value.Map(values.map { ($0.0.key, $0.1) })))
            }
        )
    }

    func write(in store: Store) async throws {
        let all = all
        try await store.write { transaction in
            for (key, object) in all {
                try transaction.setValue(object.value, version: object.version, of: key)
            }
        }
    }
}
