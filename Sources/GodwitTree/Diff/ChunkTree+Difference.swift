extension ChunkTree {
    /// Whether two trees are the same, by their digests.
    func isSame(as other: Self) -> Bool { root === other.root || digest == other.digest }

    /// The ranges without the longest common beginning, and the longest common end.
    ///
    /// - Complexity: O(log *n* + *m*), for *m* elements in the chunks that differ.
    func differingRanges(from other: Self) -> (Range<Int>, Range<Int>) {
        guard let root, let otherRoot = other.root else { return (0..<count, 0..<other.count) }
        let most = Swift.min(count, other.count)
        let start = commonCount(root, otherRoot, from: .start, most: most)
        let end = commonCount(root, otherRoot, from: .end, most: most - start)
        return (start..<(count - end), start..<(other.count - end))
    }
}

private enum End {
    case start, end
}

/// How many elements two trees have in common at one end, but no more than `most`.
///
/// Both are walked at once, in steps as large as what is aligned and equal.
private func commonCount<Element>(
    _ left: Chunk<Element>,
    _ right: Chunk<Element>,
    from end: End,
    most: Int
) -> Int {
    var (left, right) = (Cursor(left, from: end), Cursor(right, from: end))
    var count = 0
    while count < most {
        if let (leftChunk, rightChunk) = Cursor.open(&left, &right) {
            guard leftChunk === rightChunk || leftChunk.digest == rightChunk.digest else {
                left.descend()
                right.descend()
                continue
            }
            count += leftChunk.count
            left.skipChunk()
            right.skipChunk()
        } else {
            guard let element = left.nextElement(), element == right.nextElement() else { break }
            count += 1
        }
    }
    return min(count, most)
}

/// A walk through a tree from one end, in chunks or elements.
private struct Cursor<Element: ChunkElement> {
    /// The nodes that come next, the nearest last.
    private var chunks: [Chunk<Element>]
    /// The leaf that the walk is within, and what is left of it.
    private var leaf: Chunk<Element>?
    private var rest = 0..<0
    private let end: End

    init(_ root: Chunk<Element>, from end: End) {
        chunks = [root]
        self.end = end
    }

    /// The next chunks of two walks, brought to one level; nil where one of them is within a leaf.
    static func open(
        _ left: inout Cursor,
        _ right: inout Cursor
    ) -> (Chunk<Element>, Chunk<Element>)? {
        while left.rest.isEmpty, right.rest.isEmpty,
            let leftChunk = left.chunks.last, let rightChunk = right.chunks.last
        {
            if leftChunk.level == rightChunk.level { return (leftChunk, rightChunk) }
            if leftChunk.level > rightChunk.level { left.descend() } else { right.descend() }
        }
        return nil
    }

    mutating func skipChunk() { chunks.removeLast() }

    mutating func descend() {
        guard let chunk = chunks.popLast() else { return }
        if chunk.level == 0 {
            (leaf, rest) = (chunk, 0..<chunk.count)
        } else {
            chunks += end == .start ? chunk.chunks.reversed() : chunk.chunks
        }
    }

    mutating func nextElement() -> Element? {
        while rest.isEmpty, !chunks.isEmpty { descend() }
        guard let position = end == .start ? rest.first : rest.last else { return nil }
        if end == .start { rest.removeFirst() } else { rest.removeLast() }
        return leaf?.element(at: position)
    }
}
