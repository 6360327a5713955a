extension Value {
    /// The items of a list value: a persistent sequence with the API of an array.
    ///
    /// ```swift
    /// var items: Value.List = ["Bread", "Wine"]
    /// items.insert("Milk", at: 1)
    /// ```
    ///
    /// Copies share what they have in common. Access and replacement at any position are
    /// O(log *n*), and so are insertion and removal; a walk through all items is O(*n*).
    public struct List: Sendable {
        var tree: ChunkTree<Value>

        public init() { tree = ChunkTree() }

        init(tree: ChunkTree<Value>) { self.tree = tree }
    }

    /// A list of these items.
    public static func list(_ items: [Value]) -> Value { .list(List(items)) }
}

extension Value: ChunkElement {
    static var digestPurpose: String { "godwit list 3" }

    var contentByte: UInt8 {
        switch self {
        case .list, .map: digest.firstByte
        default: boundaryByte
        }
    }

    func writeReference(to writer: inout CanonicalWriter) { writer.writeReference(to: self) }
}

extension Value.List: RandomAccessCollection, MutableCollection, RangeReplaceableCollection {
    public init(_ items: some Sequence<Value>) { tree = ChunkTree(Array(items)) }

    public var startIndex: Int { 0 }
    public var endIndex: Int { tree.count }

    public subscript(position: Int) -> Value {
        get { tree[position] }
        set { tree.modify(at: position) { $0 = newValue } }
    }

    public mutating func replaceSubrange(
        _ range: Range<Int>,
        with items: some Collection<Value>
    ) {
        tree.replaceSubrange(range, with: Array(items))
    }

    public struct Iterator: IteratorProtocol {
        fileprivate var items: ChunkTree<Value>.Iterator

        public mutating func next() -> Value? { items.next() }
    }

    public func makeIterator() -> Iterator { Iterator(items: tree.makeIterator()) }

    /// Lends the item at a position to `body`, so that it can change in place.
    public mutating func modify<Result>(at position: Int, _ body: (inout Value) -> Result) -> Result
    {
        var result: Result?
        tree.modify(at: position) { result = body(&$0) }
        guard let result else { preconditionFailure("An item is lent once") }
        return result
    }

    /// Takes the item at one position out and puts it in again so that it stands at another.
    public mutating func move(from source: Int, to target: Int) {
        tree.move(from: source, to: target)
    }
}

extension Value.List: Hashable {
    public static func == (left: Self, right: Self) -> Bool { left.tree == right.tree }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(count)
        for item in prefix(Self.hashedMax) { hasher.combine(item) }
        if count > Self.hashedMax { hasher.combine(tree.digest) }
    }

    private static let hashedMax = 8
}

extension Value.List: ExpressibleByArrayLiteral, CustomStringConvertible {
    public init(arrayLiteral elements: Value...) { self.init(elements) }

    public var description: String { Value.list(self).description }
}
