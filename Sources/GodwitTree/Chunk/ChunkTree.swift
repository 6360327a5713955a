// A persistent sequence whose nodes are Merkle nodes.
//
//   (1) The shape is a function of the content: two trees are equal exactly when their roots have
//       the same digest, whatever edits led to them.
//   (2) Trees share chunks. An edit copies one path; it changes a uniquely referenced path in
//       place.
//   (3) A digest is computed when it is asked for, and once for each chunk.
//
// No function here is generic but in its element: the compiler specialises none for a public
// function that is generic itself.

/// A persistent sequence in chunks, with cached digests.
///
/// Unchecked, because the compiler cannot see that a chunk is changed only while the reference to
/// it is unique; its digest is published by an atomic number.
struct ChunkTree<Element: ChunkElement>: @unchecked Sendable {
    private(set) var root: Chunk<Element>?

    init() {}

    /// Builds a tree.
    ///
    /// - Complexity: O(*n*).
    init(_ elements: [Element]) {
        guard elements.count >= ChunkBoundary.countMin else {
            if !elements.isEmpty { root = .short(elements) }
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
        guard let root else { preconditionFailure("The tree is empty") }
        return root.element(under: position)
    }

    /// The last leaf whose first element does not come behind what is looked for, and where the
    /// leaf begins; the first leaf if there is none.
    ///
    /// - Complexity: O(log *n*).
    func leaf(before isBehind: (Element) -> Bool) -> (leaf: Chunk<Element>?, start: Int) {
        guard var node = root else { return (nil, 0) }
        var start = 0
        while case .inner(let inner) = node.part {
            var (low, high) = (0, inner.chunks.count - 1)
            while low < high {
                let middle = (low + high + 1) / 2
                let isAfter = isBehind(inner.chunks[middle].element(under: 0))
                if isAfter { high = middle - 1 } else { low = middle }
            }
            start += inner.start(of: low)
            node = inner.chunks[low]
        }
        return (node, start)
    }

    /// Whether all elements are as wanted; equal ones of a run are asked once.
    func allSatisfy(_ isWanted: (Element) -> Bool) -> Bool { root?.allSatisfy(isWanted) ?? true }

    /// The digest of the root; nil for an empty tree.
    var digest: ContentDigest? { root?.digest }
}

// MARK: - Changes

extension ChunkTree {
    /// Lends the element at a position to `body`.
    ///
    /// - Complexity: O(log *n*) expected, without a copy where no other tree holds the path.
    mutating func modify(at position: Int, _ body: (inout Element) -> Void) {
        lend(at: position, body)
        rebalance(at: position)
    }

    /// Lends the element at a position to `body`, and leaves the shape as it is; the tree must be
    /// rebalanced there before anything but the same element is asked of it.
    mutating func lend(at position: Int, _ body: (inout Element) -> Void) {
        if lendOutsideRun(at: position, body) { return }
        let old = self[position]
        var element = old
        body(&element)
        guard element != old else { return }
        replaceSubrange(position..<(position + 1), with: [element])
    }

    /// Lends the element at a position in the same way, but none of a run, which stands for many.
    ///
    /// - Returns: Whether it did.
    mutating func lendOutsideRun(at position: Int, _ body: (inout Element) -> Void) -> Bool {
        precondition(position >= 0 && position < count, "The position is out of bounds")
        guard var node = root else { preconditionFailure("The tree is empty") }
        root = nil
        defer { root = node }
        return Chunk.lend(&node, at: position, body)
    }

    /// Gives the tree its shape again after an element was lent.
    mutating func rebalance(at position: Int) {
        guard let root, !root.rebalance(position) else { return }
        rebuild(position..<(position + 1), with: [self[position]])
    }

    /// - Complexity: O(log *n* + *m*) expected, for *m* new elements.
    mutating func replaceSubrange(_ range: Range<Int>, with new: [Element]) {
        precondition(range.lowerBound >= 0 && range.upperBound <= count, "Out of bounds")
        let newCount = count - range.count + new.count
        guard newCount >= ChunkBoundary.countMin || count >= ChunkBoundary.countMin else {
            var elements = root?.withStoredElements { Array($0) } ?? []
            elements.replaceSubrange(range, with: new)
            root = elements.isEmpty ? nil : .short(elements)
            return
        }
        if new.count > ChunkBoundary.countMin || !replace(range, with: new) {
            rebuild(range, with: new)
        }
    }

    /// Replaces elements along one path; see ``Chunk/replace(_:_:with:)``.
    private mutating func replace(_ range: Range<Int>, with new: [Element]) -> Bool {
        guard var node = root else { return false }
        root = nil
        defer { root = node }
        return Chunk.replace(&node, range, with: new)
    }

    private mutating func rebuild(_ range: Range<Int>, with new: [Element]) {
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
        precondition(target >= 0 && target < count, "The position is out of bounds")
        let element = self[source]
        replaceSubrange(source..<(source + 1), with: [])
        replaceSubrange(target..<target, with: [element])
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
