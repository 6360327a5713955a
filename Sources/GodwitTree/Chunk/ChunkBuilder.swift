// How a chunk tree is built, and rebuilt after a change.
//
// Elements come from left to right. On each level the builder holds one open chunk; where the
// rule ends it, it becomes an element of the level above. A change to a tree is a walk along the
// old tree with something left out or put in, and costs no more than the change because
//
//   (1) a complete chunk of an old tree is taken over whole when the open chunks below its level
//       are empty, for then the walk through it would cut it in the same places;
//   (2) the first boundary after a change that falls where an old one was brings the walk back
//       into step with the old tree: an expected 32 elements later on each level.

/// Builds a chunk tree from left to right, out of elements and parts of other trees.
struct ChunkBuilder<Element: ChunkElement> {
    private var elements: [Element] = []
    private var mark: UInt64 = 0
    /// The open chunks above the leaves: their children are of level 0, 1, 2, ….
    private var levels: [[Chunk<Element>]] = []

    init() {}

    mutating func append(_ element: Element) {
        elements.append(element)
        mark = ChunkBoundary.mark(mark, with: element.boundaryHash)
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
            for element in node.elements[range] { append(element) }
        } else {
            for index in node.child(at: range.lowerBound)..<node.chunks.count {
                let start = node.start(of: index)
                guard start < range.upperBound else { break }
                let child = node.chunks[index]
                let wanted = range.clamped(to: start..<(start + child.count))
                append((wanted.lowerBound - start)..<(wanted.upperBound - start), of: child)
            }
        }
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
        let leaf = Chunk(elements: elements, mark: mark)
        elements = []
        mark = 0
        append(leaf)
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
