// A persistent sequence whose nodes are Merkle nodes.
//
//   (1) The shape is a function of the content: two trees are equal exactly when their roots have
//       the same digest, whatever edits led to them.
//   (2) Trees share chunks. An edit makes new ones only along one path, and where nobody else
//       holds the path, none.
//   (3) A digest is computed when it is asked for, and once for each chunk.

/// A persistent sequence in chunks, with cached digests.
struct ChunkTree<Element: ChunkElement>: Sendable {
    private(set) var root: Chunk<Element>?

    init() {}

    /// Builds a tree.
    ///
    /// - Complexity: O(*n*).
    init(_ elements: some Sequence<Element>) {
        let elements = Array(elements)
        guard elements.count >= ChunkBoundary.countMin else {
            if !elements.isEmpty { root = Chunk(short: elements) }
            return
        }
        var builder = ChunkBuilder<Element>()
        for element in elements { builder.append(element) }
        root = builder.finish()
    }

    init(root: Chunk<Element>?) { self.root = root }

    var count: Int { root?.count ?? 0 }

    /// - Complexity: O(log *n*).
    subscript(position: Int) -> Element {
        precondition(position >= 0 && position < count, "The position is out of bounds")
        guard var node = root else { preconditionFailure("The tree is empty") }
        var position = position
        while node.level > 0 {
            let child = node.child(at: position)
            position -= node.start(of: child)
            node = node.chunks[child]
        }
        return node.elements[position]
    }

    /// Where the first element is that satisfies a predicate, or the end; the elements that do
    /// come after all that do not.
    ///
    /// - Complexity: O(log *n*).
    func firstPosition(where isWanted: (Element) -> Bool) -> Int {
        guard var node = root else { return 0 }
        var start = 0
        while node.level > 0 {
            var (low, high) = (0, node.chunks.count - 1)
            while low < high {
                let middle = (low + high + 1) / 2
                if isWanted(node.chunks[middle].first) { high = middle - 1 } else { low = middle }
            }
            start += node.start(of: low)
            node = node.chunks[low]
        }
        var (low, high) = (0, node.elements.count)
        while low < high {
            let middle = (low + high) / 2
            if isWanted(node.elements[middle]) { high = middle } else { low = middle + 1 }
        }
        return start + low
    }

    /// The digest of the root; nil for an empty tree.
    var digest: Digest? { root?.digest }

    /// Lends the element at a position to `body`.
    ///
    /// - Complexity: O(log *n*) expected, without a copy where nobody else holds the path.
    mutating func modify<Result>(at position: Int, _ body: (inout Element) -> Result) -> Result {
        let result = lend(at: position, body)
        settle(at: position)
        return result
    }

    /// Lends the element at a position to `body`, and leaves the shape as it is; the tree must be
    /// settled there before anything but the same element is asked of it.
    mutating func lend<Result>(at position: Int, _ body: (inout Element) -> Result) -> Result {
        precondition(position >= 0 && position < count, "The position is out of bounds")
        guard var node = root else { preconditionFailure("The tree is empty") }
        root = nil
        defer { root = node }
        return Chunk.lend(&node, at: position, body)
    }

    /// Gives the tree its shape again after an element was lent.
    mutating func settle(at position: Int) {
        guard let root, !root.settle(position) else { return }
        replaceSubrange(position..<(position + 1), with: CollectionOfOne(self[position]))
    }

    /// - Complexity: O(log *n* + *m*) expected, for *m* new elements.
    mutating func replaceSubrange(_ range: Range<Int>, with new: some Collection<Element>) {
        precondition(range.lowerBound >= 0 && range.upperBound <= count, "Out of bounds")
        let newCount = count - range.count + new.count
        guard newCount >= ChunkBoundary.countMin || count >= ChunkBoundary.countMin else {
            var elements = root?.elements ?? []
            root = nil
            elements.replaceSubrange(range, with: new)
            if !elements.isEmpty { root = Chunk(short: elements) }
            return
        }
        var builder = ChunkBuilder<Element>()
        if let root { builder.append(0..<range.lowerBound, of: root) }
        for element in new { builder.append(element) }
        if let root { builder.append(range.upperBound..<root.count, of: root) }
        root = builder.finish()
    }

    /// Takes the element at one position out and puts it in again so that it stands at another.
    ///
    /// - Complexity: O(log *n*) expected.
    mutating func move(from source: Int, to target: Int) {
        let element = self[source]
        guard let root, count >= ChunkBoundary.countMin else {
            replaceSubrange(source..<(source + 1), with: EmptyCollection())
            return replaceSubrange(target..<target, with: CollectionOfOne(element))
        }
        precondition(target >= 0 && target < count, "The position is out of bounds")
        var builder = ChunkBuilder<Element>()
        if target < source {
            builder.append(0..<target, of: root)
            builder.append(element)
            builder.append(target..<source, of: root)
            builder.append((source + 1)..<count, of: root)
        } else {
            builder.append(0..<source, of: root)
            builder.append((source + 1)..<(target + 1), of: root)
            builder.append(element)
            builder.append((target + 1)..<count, of: root)
        }
        self.root = builder.finish()
    }
}

extension ChunkTree: Equatable {
    static func == (left: Self, right: Self) -> Bool {
        guard let leftRoot = left.root, let rightRoot = right.root else {
            return left.root == nil && right.root == nil
        }
        return Chunk.isEqual(leftRoot, rightRoot)
    }
}

extension ChunkTree: Sequence {
    struct Iterator: IteratorProtocol {
        private var leaf: [Element]
        private var position = 0
        /// The inner nodes above the leaf, and the child of each that comes next.
        private var path: [(node: Chunk<Element>, next: Int)] = []

        fileprivate init(_ root: Chunk<Element>?) {
            leaf = []
            if let root { descend(to: root) }
        }

        mutating func next() -> Element? {
            while position == leaf.count {
                guard let (node, child) = path.popLast() else { return nil }
                if child < node.chunks.count {
                    path.append((node, child + 1))
                    descend(to: node.chunks[child])
                }
            }
            defer { position += 1 }
            return leaf[position]
        }

        private mutating func descend(to node: Chunk<Element>) {
            var node = node
            while node.level > 0 {
                path.append((node, 1))
                node = node.chunks[0]
            }
            leaf = node.elements
            position = 0
        }
    }

    func makeIterator() -> Iterator { Iterator(root) }

    var underestimatedCount: Int { count }
}
