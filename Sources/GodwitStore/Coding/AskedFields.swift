internal import GodwitTree

/// Which fields of a value a type has asked for while it was decoded.
///
/// What it has not asked for, it does not know: a newer app has put it there. Such fields are
/// carried over when an object of this type takes the value's place. Items of lists have no
/// identity here; fields that only they hold are not carried over.
final class AskedFields {
    private var asked: Set<[String]> = []
    private var whole: Set<[String]> = []

    func note(_ key: some CodingKey, at path: [any CodingKey]) {
        asked.insert(path.map(\.stringValue) + [key.stringValue])
    }

    /// The type takes a map with all of its keys, whatever they are.
    func noteAll(at path: [any CodingKey]) { whole.insert(path.map(\.stringValue)) }

    /// The new value, with the fields of the old one that were not asked for.
    func carryOver(from old: Value.Map, to new: Value.Map, at path: [String] = []) -> Value.Map {
        guard !whole.contains(path) else { return new }
        var result = new
        for entry in old {
            let field = path + [entry.key.text]
            if !asked.contains(field) {
                result[entry.key] = result[entry.key] ?? entry.value
            } else if let oldMap = entry.value.map, let newMap = new[entry.key]?.map {
                result[entry.key] = .map(carryOver(from: oldMap, to: newMap, at: field))
            }
        }
        return result
    }
}

extension Value.Map {
    /// Whether this map, or one within it, has a key that its counterpart has not.
    func hasMore(than other: Value.Map) -> Bool {
        contains { entry in
            guard let counterpart = other[entry.key] else { return true }
            guard let map = entry.value.map, let otherMap = counterpart.map else { return false }
            return map.hasMore(than: otherMap)
        }
    }
}
