extension ChunkTree: Sequence {
    /// A walk from leaf to leaf.
    struct Iterator: IteratorProtocol {
        /// Kept, so that an edit of the tree meanwhile makes new nodes and leaves these as they are.
        private let root: Chunk<Element>?
        private var leaf: Chunk<Element>?
        private var rest = 0..<0
        /// The inner nodes above the leaf, and the child of each that comes next.
        private var path: [(node: InnerNode<Element>, next: Int)] = []
        /// How many elements come after this leaf.
        private var left: Int

        fileprivate init(_ root: Chunk<Element>?, from start: Int, count: Int) {
            left = count
            self.root = root
            guard let root, count > 0 else { return }
            descend(from: root, to: start)
        }

        mutating func next() -> Element? {
            if rest.isEmpty {
                guard left > 0, advance() else { return nil }
            }
            let position = rest.lowerBound
            rest = (position + 1)..<rest.upperBound
            return leaf?.element(at: position)
        }

        /// Goes to the next leaf.
        private mutating func advance() -> Bool {
            while let (node, child) = path.popLast() {
                guard child < node.chunks.count else { continue }
                path.append((node, child + 1))
                descend(from: node.chunks[child], to: 0)
                return true
            }
            return false
        }

        private mutating func descend(from node: Chunk<Element>, to position: Int) {
            var (node, position) = (node, position)
            while case .inner(let inner) = node.part {
                let child = inner.child(at: position)
                path.append((inner, child + 1))
                position -= inner.start(of: child)
                node = inner.chunks[child]
            }
            leaf = node
            rest = position..<Swift.min(node.count, position + left)
            left -= rest.count
        }
    }

    func makeIterator() -> Iterator { Iterator(root, from: 0, count: count) }

    var underestimatedCount: Int { count }

    /// Some of the elements, without a search for each.
    ///
    /// - Complexity: O(log *n* + *m*), for *m* elements.
    func elements(in range: Range<Int>) -> some Sequence<Element> {
        precondition(range.lowerBound >= 0 && range.upperBound <= count, "Out of bounds")
        return IteratorSequence(Iterator(root, from: range.lowerBound, count: range.count))
    }
}
