// How a chunk tree is built, and rebuilt after a change.
//
// Elements come from left to right. On each level the builder holds one open chunk; where the
// rule ends it, it becomes an element of the level above. A change to a tree is a walk along the
// old tree with something left out or put in, and costs no more than the change because
//
//   (1) a complete chunk of an old tree is taken over whole when the open chunks below its level
//       are empty, for then the walk through it would cut it in the same places;
//   (2) the first boundary after a change that falls where an old one was brings the walk back
//       into step with the old tree: an expected 32 elements later on each level;
//   (3) nothing that stood inside an old chunk ends a new one, but for its first seven and its
//       last, as long as what decides about it is the same: it is taken over without a look.

/// Builds a chunk tree from left to right, out of elements and parts of other trees.
struct ChunkBuilder<Element: ChunkElement> {
    private var elements: [Element] = []
    private var boundaryBytes: [UInt8] = []
    private var mark: UInt64 = 0
    /// The open chunks above the leaves: their children are of level 0, 1, 2, ….
    private var levels: [[Chunk<Element>]] = []

    init() {}

    mutating func append(_ element: Element) { append(element, element.boundaryByte) }

    private mutating func append(_ element: Element, _ boundaryByte: UInt8) {
        elements.append(element)
        boundaryBytes.append(boundaryByte)
        mark = ChunkBoundary.mark(mark, with: boundaryByte)
        if ChunkBoundary.isEnd(count: elements.count, mark: mark, level: 0) { closeLeaf() }
    }

    /// Appends some elements of a tree.
    ///
    /// - Complexity: O(log *n*) expected.
    mutating func append(_ range: Range<Int>, of node: Chunk<Element>) {
        guard !range.isEmpty else { return }
        if range.count == node.count, node.isComplete, isAligned(below: node.level) {
            append(node)
        } else if node.level == 0 {
            append(range, ofLeaf: node)
        } else {
            var index = node.child(at: range.lowerBound)
            while index < node.chunks.count, node.start(of: index) < range.upperBound {
                let start = node.start(of: index)
                let wanted = range.clamped(to: start..<(start + node.chunks[index].count))
                append(
                    (wanted.lowerBound - start)..<(wanted.upperBound - start),
                    of: node.chunks[index]
                )
                index += 1
                if isAligned(below: node.level - 1) {
                    index = appendInner(index, of: node, before: range.upperBound)
                }
            }
        }
    }

    /// Appends elements of a leaf; see (3).
    private mutating func append(_ range: Range<Int>, ofLeaf leaf: Chunk<Element>) {
        elements.reserveCapacity(min(elements.count + range.count + 1, ChunkBoundary.countMax))
        var index = range.lowerBound
        // At first the window reaches back to what stood elsewhere, if anything is there.
        let look = elements.isEmpty ? 0 : min(range.count, ChunkBoundary.windowCount - 1)
        for _ in 0..<look { appendElement(&index, of: leaf) }
        while index < range.upperBound {
            let rest = min(range.upperBound, leaf.count - 1) - index
            let count = max(0, min(rest, ChunkBoundary.countMax - 1 - elements.count))
            elements.append(contentsOf: leaf.elements[index..<(index + count)])
            for index in index..<(index + count) {
                let byte = leaf.boundaryByte(at: index)
                boundaryBytes.append(byte)
                mark = ChunkBoundary.mark(mark, with: byte)
            }
            index += count
            if index < range.upperBound { appendElement(&index, of: leaf) }
        }
    }

    private mutating func appendElement(_ index: inout Int, of leaf: Chunk<Element>) {
        append(leaf.elements[index], leaf.boundaryByte(at: index))
        index += 1
    }

    /// Appends whole children of a node, from one on; see (3).
    ///
    /// - Returns: The first child that is left.
    private mutating func appendInner(
        _ first: Int,
        of node: Chunk<Element>,
        before end: Int
    ) -> Int {
        let level = node.level - 1
        let open = levels[level].count
        // The first ones of a node may be marked, and end no chunk only where they are early.
        guard first >= ChunkBoundary.countMin - 1 || open <= first else { return first }
        let room = ChunkBoundary.countMax - 1 - open
        let last = min(node.chunks.count - 1, first + room, node.child(at: end))
        guard last > first else { return first }
        levels[level].reserveCapacity(open + node.chunks.count - first + 1)
        levels[level].append(contentsOf: node.chunks[first..<last])
        return last
    }

    /// The root of the tree; nil when nothing was appended.
    consuming func finish() -> Chunk<Element>? {
        if levels.isEmpty, elements.isEmpty { return nil }
        if !elements.isEmpty { closeLeaf() }
        var level = 0
        while level < levels.count - 1 || levels[level].count > 1 {
            if !levels[level].isEmpty { close(level) }
            level += 1
        }
        return levels[level][0]
    }

    private func isAligned(below level: Int) -> Bool {
        guard elements.isEmpty else { return false }
        for open in levels.prefix(level) where !open.isEmpty { return false }
        return true
    }

    private mutating func closeLeaf() {
        // A leaf has no room to spare; where a copy is made, the buffer is used again.
        if elements.capacity <= elements.count + ChunkBoundary.countMin {
            append(Chunk(elements: elements, boundaryBytes: boundaryBytes, mark: mark))
            (elements, boundaryBytes) = ([], [])
        } else {
            let copies = (Array(elements[...]), Array(boundaryBytes[...]))
            append(Chunk(elements: copies.0, boundaryBytes: copies.1, mark: mark))
            elements.removeAll(keepingCapacity: true)
            boundaryBytes.removeAll(keepingCapacity: true)
        }
        mark = 0
    }

    private mutating func close(_ level: Int) {
        let chunk = Chunk(chunks: levels[level])
        levels[level] = []
        append(chunk)
    }

    private mutating func append(_ chunk: Chunk<Element>) {
        while levels.count <= chunk.level { levels.append([]) }
        levels[chunk.level].append(chunk)
        let count = levels[chunk.level].count
        if ChunkBoundary.isEnd(count: count, mark: chunk.mark, level: chunk.level + 1) {
            close(chunk.level)
        }
    }
}
