extension Value {
    /// The entries of a map value, each key at most once, in canonical order.
    ///
    /// ```swift
    /// var item: Value.Map = ["name": "Wine"]
    /// item["crossed"] = true
    /// item["name"] = nil
    /// ```
    ///
    /// Copies share what they have in common. Lookup, insertion and removal are O(log *n*).
    public struct Map: Sendable {
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
        var tree: ChunkTree<Entry>

        public init() { tree = ChunkTree() }

        init(tree: ChunkTree<Entry>) { self.tree = tree }
    }
}

extension Value.Map.Entry: ChunkElement {
    static var digestPurpose: String { "godwit map 3" }

    /// Of the key alone, so that a value that changes moves no boundary.
    var boundaryHash: UInt64 { key.boundaryHash }

    /// Of the key too: keys never repeat each other.
    var contentByte: UInt8 { boundaryByte }

    func writeReference(to writer: inout CanonicalWriter) {
        writer.writeReference(to: .string(key))
        writer.writeReference(to: value)
    }
}

extension Value.Map {
    /// Builds a map from pairs in any order; of equal keys, the last one stays.
    ///
    /// - Complexity: O(*n* log *n*).
    public init(_ pairs: some Sequence<(Key, Value)>) {
        self.init(pairs.lazy.map { Entry(key: $0, value: $1) })
    }

    /// Builds a map from entries in any order; of equal keys, the last one stays.
    ///
    /// - Complexity: O(*n* log *n*), O(*n*) when they are in order.
    public init(_ unordered: some Sequence<Entry>) {
        var entries = Array(unordered)
        if !Self.isAscending(entries) { Self.sort(&entries) }
        tree = ChunkTree(entries)
    }

    /// Takes entries whose keys ascend strictly.
    init(ascending entries: [Entry]) { tree = ChunkTree(entries) }

    /// Builds a map from entries, or returns a key that occurs twice.
    ///
    /// - Complexity: O(*n* log *n*), O(*n*) when they are in order.
    static func build(_ entries: [Entry]) -> Result<Self, DuplicateKey> {
        var sorted = entries
        if !isAscending(entries) { sorted.sort { $0.key < $1.key } }
        let twice = zip(sorted, sorted.dropFirst()).first { $0.key == $1.key }
        if let twice { return .failure(DuplicateKey(key: twice.0.key)) }
        return .success(Self(ascending: sorted))
    }

    struct DuplicateKey: Error {
        let key: Key
    }

    private static func isAscending(_ entries: [Entry]) -> Bool {
        var index = 1
        while index < entries.count {
            guard entries[index - 1].key < entries[index].key else { return false }
            index += 1
        }
        return true
    }

    /// Sorts by key, and keeps the last entry of each.
    private static func sort(_ entries: inout [Entry]) {
        guard entries.count > insertionMax else { return insertionSort(&entries) }
        let sorted = entries.enumerated().sorted {
            $0.element.key == $1.element.key
                ? $0.offset < $1.offset : $0.element.key < $1.element.key
        }
        entries = []
        for (_, entry) in sorted {
            if entries.last?.key == entry.key { entries.removeLast() }
            entries.append(entry)
        }
    }

    /// Few entries, mostly in order already: cheaper than a sort that must be stable.
    private static func insertionSort(_ entries: inout [Entry]) {
        var sorted: [Entry] = []
        sorted.reserveCapacity(entries.count)
        for entry in entries {
            var place = sorted.count
            while place > 0, entry.key < sorted[place - 1].key { place -= 1 }
            if place > 0, sorted[place - 1].key == entry.key {
                sorted[place - 1] = entry
            } else {
                sorted.insert(entry, at: place)
            }
        }
        entries = sorted
    }

    private static let insertionMax = 32
}

extension Value.Map {
    /// The value under a key; assigning nil removes the entry.
    public subscript(key: Key) -> Value? {
        get {
            let (position, isPresent) = find(key)
            return isPresent ? tree[position].value : nil
        }
        set {
            let (position, isPresent) = find(key)
            switch (isPresent, newValue) {
            case (true, let value?): tree.modify(at: position) { $0.value = value }
            case (true, nil): tree.replaceSubrange(position..<(position + 1), with: [])
            case (false, let value?):
                let entry = Entry(key: key, value: value)
                tree.replaceSubrange(position..<position, with: [entry])
            case (false, nil): break
            }
        }
    }

    /// Lends the value under a key to `body`, so that it can change in place; nil when there is
    /// none.
    public mutating func modify<Result>(_ key: Key, _ body: (inout Value) -> Result) -> Result? {
        let (position, isPresent) = find(key)
        guard isPresent else { return nil }
        var result: Result?
        tree.modify(at: position) { result = body(&$0.value) }
        return result
    }

    /// All keys, in canonical order.
    public var keys: some Sequence<Key> { lazy.map(\.key) }

    /// The entries as people expect them in text: by key, byte by byte.
    var alphabetical: [Entry] { sorted { Key.isBefore($0.key, $1.key) } }

    /// Lends all entries; copies them only where they stand in several chunks.
    func withEntries<Result>(_ body: (UnsafeBufferPointer<Entry>) -> Result) -> Result {
        guard let root = tree.root, root.level == 0, !root.isRun else {
            return Array(self).withUnsafeBufferPointer(body)
        }
        return root.withStoredElements(body)
    }

    /// Where a key is, or where it would be inserted.
    func find(_ key: Key) -> (position: Int, isPresent: Bool) {
        let (leaf, start) = tree.leaf { key < $0.key }
        guard let leaf else { return (0, false) }
        return leaf.withStoredElements { entries in
            var (low, high) = (0, entries.count)
            while low < high {
                let middle = (low + high) / 2
                let order = entries[middle].key.order(to: key)
                if order == 0 { return (start + middle, true) }
                if order > 0 { high = middle } else { low = middle + 1 }
            }
            return (start + low, false)
        }
    }
}

extension Value.Map: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { tree.count }

    /// The entry at a position in canonical order.
    public subscript(position: Int) -> Entry { tree[position] }

    public struct Iterator: IteratorProtocol {
        fileprivate var entries: ChunkTree<Entry>.Iterator

        public mutating func next() -> Entry? { entries.next() }
    }

    public func makeIterator() -> Iterator { Iterator(entries: tree.makeIterator()) }
}

extension Value.Map: Hashable {
    public static func == (left: Self, right: Self) -> Bool { left.tree == right.tree }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(count)
        for entry in prefix(Self.hashedMax) { hasher.combine(entry) }
        if count > Self.hashedMax { hasher.combine(tree.digest) }
    }

    private static let hashedMax = 8
}

extension Value.Map: ExpressibleByDictionaryLiteral, CustomStringConvertible {
    public init(dictionaryLiteral elements: (Key, Value)...) { self.init(elements) }

    public var description: String { Value.map(self).description }
}
