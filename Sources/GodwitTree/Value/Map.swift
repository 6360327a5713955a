/// The entries of a map value, each key at most once, in canonical order.
///
/// ```swift
/// var item: Map = ["name": "Wine"]
/// item["crossed"] = true
/// item["name"] = nil
/// ```
///
/// Lookup is O(log *n*); insertion and removal are O(*n*).
public struct Map: Hashable, Sendable {
    /// A key and its value.
    public struct Entry: Hashable, Sendable {
        public let key: Key
        public var value: Value

        public init(key: Key, value: Value) {
            self.key = key
            self.value = value
        }
    }

    /// All entries; their keys ascend strictly.
    public private(set) var entries: [Entry]

    public init() { entries = [] }

    /// Builds a map from pairs in any order; of equal keys, the last one stays.
    ///
    /// - Complexity: O(*n* log *n*).
    public init(_ pairs: some Sequence<(Key, Value)>) {
        self.init(pairs.map { Entry(key: $0, value: $1) })
    }

    /// Builds a map from entries in any order; of equal keys, the last one stays.
    ///
    /// - Complexity: O(*n* log *n*).
    public init(_ unordered: [Entry]) {
        entries = []
        entries.reserveCapacity(unordered.count)
        guard unordered.count > Self.insertionMax else {
            // Few entries, mostly in order already: cheaper than a sort that must be stable.
            for entry in unordered { self[entry.key] = entry.value }
            return
        }
        let sorted = unordered.enumerated().sorted {
            $0.element.key == $1.element.key
                ? $0.offset < $1.offset : $0.element.key < $1.element.key
        }
        for (_, entry) in sorted {
            if entries.last?.key == entry.key { entries.removeLast() }
            entries.append(entry)
        }
    }

    private static let insertionMax = 32

    /// Takes entries whose keys ascend strictly.
    init(ascending entries: [Entry]) { self.entries = entries }

    /// Builds a map from entries, or returns the first key that occurs twice.
    ///
    /// - Complexity: O(*n* log *n*), O(*n*) when they are in order.
    static func build(_ entries: [Entry]) -> Result<Map, DuplicateKey> {
        var sorted = entries
        let isSorted = zip(entries, entries.dropFirst()).allSatisfy { $0.key < $1.key }
        if !isSorted { sorted.sort { $0.key < $1.key } }
        let twice = zip(sorted, sorted.dropFirst()).first { $0.key == $1.key }
        if let twice { return .failure(DuplicateKey(key: twice.0.key)) }
        var map = Map()
        map.entries = sorted
        return .success(map)
    }

    struct DuplicateKey: Error {
        let key: Key
    }

    /// The value under a key; assigning nil removes the entry.
    public subscript(key: Key) -> Value? {
        get {
            let (position, isPresent) = find(key)
            return isPresent ? entries[position].value : nil
        }
        set {
            let (position, isPresent) = find(key)
            switch (isPresent, newValue) {
            case (true, let value?): entries[position].value = value
            case (true, nil): entries.remove(at: position)
            case (false, let value?):
                entries.insert(Entry(key: key, value: value), at: position)
            case (false, nil): break
            }
        }
    }

    public var count: Int { entries.count }
    public var isEmpty: Bool { entries.isEmpty }

    /// The entries as people expect them in text: by key, byte by byte.
    var alphabetical: [Entry] {
        entries.sorted { Key.isBefore($0.key, $1.key) }
    }

    /// Where a key is, or where it would be inserted.
    private func find(_ key: Key) -> (position: Int, isPresent: Bool) {
        if let last = entries.last, last.key < key { return (entries.count, false) }
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].key < key { low = middle + 1 } else { high = middle }
        }
        return (low, low < entries.count && entries[low].key == key)
    }
}

extension Map: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (Key, Value)...) { self.init(elements) }
}
