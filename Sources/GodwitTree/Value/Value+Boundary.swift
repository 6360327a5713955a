extension Key {
    var boundaryHash: UInt64 {
        var hash = BoundaryHash(kind: 6)
        withBytes { hash.mix(UnsafeRawBufferPointer($0)) }
        return hash.bits
    }
}

extension Value {
    /// A hash of what identifies a value.
    ///
    /// Of a map with a field that tells items apart (``Map/identity``) it is that of the field: an
    /// edit of any other field moves no boundary. Of other containers it covers the first eight
    /// scalars, however deep they are.
    ///
    /// - Complexity: O(1): it looks at 8 scalars and 16 values at most.
    var boundaryHash: UInt64 {
        switch self {
        case .map(let map):
            if let identity = map.identity {
                return BoundaryHash(kind: 9, identity.scalarHash).bits
            }
            return summaryHash
        case .list: return summaryHash
        default: return scalarHash
        }
    }

    private var summaryHash: UInt64 {
        var summary = BoundarySummary()
        summary.take(self)
        return summary.hash.bits
    }

    fileprivate var scalarHash: UInt64 {
        switch self {
        case .null: return BoundaryHash(kind: 1).bits
        case .bool(let bool): return BoundaryHash(kind: 2, bool ? 1 : 0).bits
        case .int(let int): return BoundaryHash(kind: 4, UInt64(bitPattern: int)).bits
        case .double(let double): return BoundaryHash(kind: 5, double.double.bitPattern).bits
        case .string(let key): return key.boundaryHash
        case .bytes(let bytes):
            var hash = BoundaryHash(kind: 7)
            bytes.withUnsafeBytes { hash.mix($0) }
            return hash.bits
        case .list(let items): return BoundaryHash(kind: 8, UInt64(items.count)).bits
        case .map(let map): return BoundaryHash(kind: 9, UInt64(map.count)).bits
        }
    }
}

/// A hash of the first scalars of a container, depth first, with the keys that lead to them.
private struct BoundarySummary {
    private(set) var hash = BoundaryHash(kind: 10)
    private var scalarsLeft = 8
    private var stepsLeft = 16

    private var isFull: Bool { scalarsLeft == 0 || stepsLeft == 0 }

    mutating func take(_ value: Value) {
        stepsLeft -= 1
        hash.mix(value.scalarHash)
        switch value {
        case .list(let items):
            for item in items {
                if isFull { return }
                take(item)
            }
        case .map(let map):
            for entry in map {
                if isFull { return }
                hash.mix(entry.key.boundaryHash)
                take(entry.value)
            }
        default: scalarsLeft -= 1
        }
    }
}

extension Value.Map {
    /// The field that tells this map from others in a list: the first of ``identityKeys`` that
    /// holds a number, a string or bytes.
    package var identity: Value? {
        guard count <= Self.walkedMax, let leaf = tree.root else { return identityByLookup }
        let words = Self.identityWords
        return leaf.withStoredElements { entries in
            var (first, found) = (words.count, Int?.none)
            for index in entries.indices {
                // Shorter keys come first.
                guard entries[index].key.sizeInBytes <= Self.identityKeyMaxInBytes else { break }
                guard let rank = words.firstIndex(of: entries[index].key.word), rank < first,
                    entries[index].value.isIdentity
                else { continue }
                (first, found) = (rank, index)
            }
            return found.map { entries[$0].value }
        }
    }

    private var identityByLookup: Value? {
        for key in Self.identityKeys {
            if let value = self[key], value.isIdentity { return value }
        }
        return nil
    }

    private static let identityKeys: [Key] = [
        "id", "_id", "uuid", "guid", "key", "slug", "name", "title",
    ]
    /// The same as numbers, that are compared sooner.
    private static let identityWords = identityKeys.map(\.word)
    private static let identityKeyMaxInBytes = 5
    /// A map of so many entries is one leaf.
    private static let walkedMax = 7
}

extension Key {
    /// A short key as a number: its bytes behind a 1, so that no two keys have the same.
    fileprivate var word: UInt64 { withBytes { $0.reduce(1) { $0 << 8 | UInt64($1) } } }
}

extension Value {
    fileprivate var isIdentity: Bool {
        switch self {
        case .int, .double, .string, .bytes: true
        case .null, .bool, .list, .map: false
        }
    }
}
