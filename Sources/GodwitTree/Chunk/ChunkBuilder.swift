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
//   (3) nothing that stood inside an old chunk ends a new one, but for its first elements and its
//       last, as long as what decides about it is the same: it is taken over without a look;
//   (4) a run is taken over as its pattern and a count. It is never complete, for the next element
//       may continue it.

/// Builds a chunk tree from left to right, out of elements and parts of other trees.
struct ChunkBuilder<Element: ChunkElement>: ~Copyable {
    private var leaf = OpenLeaf<Element>()
    /// The open chunks above the leaves: their children are of level 0, 1, 2, ….
    private var levels: [[Chunk<Element>]] = []
    /// The last node of a tree, level by level: it is used again if the same children come.
    private var sources: [Chunk<Element>?] = []

    init() {}

    mutating func append(_ element: Element) {
        if leaf.isContinued(by: element) { return leaf.extendRun(by: 1) }
        append(element, element.boundaryByte)
    }

    private mutating func append(_ element: consuming Element, _ byte: UInt8) {
        if leaf.isContinued(by: element) { return leaf.extendRun(by: 1) }
        if leaf.isRun { closeLeaf(isComplete: false) }
        if leaf.append(element, byte) { closeLeaf(isComplete: true) }
    }

    /// Appends some elements of a tree.
    ///
    /// - Complexity: O(log *n*) expected.
    mutating func append(_ range: Range<Int>, of node: Chunk<Element>) {
        guard !range.isEmpty else { return }
        if leaf.isRun, !leaf.isContinued(by: node.element(under: range.lowerBound)) {
            closeLeaf(isComplete: false)
        }
        if range.count == node.count, node.isComplete, isAligned(below: node.level) {
            append(node)
        } else if case .inner(let inner) = node.part {
            if range.count == node.count, isAligned(below: node.level) {
                while sources.count < node.level { sources.append(nil) }
                sources[node.level - 1] = node
            }
            append(range, ofInner: inner)
        } else if node.isRun {
            append(range, ofRun: node)
        } else {
            append(range, ofLeaf: node)
        }
    }

    private mutating func append(_ range: Range<Int>, ofInner node: InnerNode<Element>) {
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
                index = appendChildren(from: index, of: node, before: range.upperBound)
            }
        }
    }

    /// Appends elements of a leaf; see (3).
    private mutating func append(_ range: Range<Int>, ofLeaf node: Chunk<Element>) {
        if leaf.isEmpty, range.lowerBound == 0 {
            return leaf.append(unmarked: range, of: node)
        }
        var index = range.lowerBound
        // How many of the elements behind the last boundary come from this leaf.
        var lookedAt = 0
        while index < range.upperBound {
            if lookedAt >= ChunkBoundary.windowCount, !leaf.isRepeating, !leaf.isRun {
                let room = ChunkBoundary.countMax - 1 - leaf.count
                let count = min(range.upperBound - index, node.count - 1 - index, room)
                if count > 0 {
                    leaf.append(unmarked: index..<(index + count), of: node)
                    index += count
                    continue
                }
            }
            append(node.element(at: index), node.boundaryByte(at: index))
            index += 1
            // The element that ends a run begins a leaf: those that only extended the run say
            // nothing about this one.
            lookedAt = min(lookedAt + 1, leaf.count)
        }
    }

    /// Appends elements of a run; see (4).
    private mutating func append(_ range: Range<Int>, ofRun node: Chunk<Element>) {
        var rest = range
        while let position = rest.first {
            if leaf.isRun, leaf.isContinued(by: node, from: position) {
                return leaf.extendRun(by: rest.count)
            }
            if leaf.isEmpty, rest.count >= ChunkBoundary.runMin(period: node.storedCount) {
                return leaf.beginRun(rest, of: node)
            }
            append(node.element(at: position), node.boundaryByte(at: position))
            rest.removeFirst()
        }
    }

    /// Appends whole children of a node, from one on; see (3).
    ///
    /// - Returns: The first child that is left.
    private mutating func appendChildren(
        from first: Int,
        of node: InnerNode<Element>,
        before end: Int
    ) -> Int {
        let level = node.level - 1
        let open = levels[level].count
        // The first ones of a node may be marked, and end no chunk only where they are early.
        guard first >= ChunkBoundary.countMin - 1 || open <= first else { return first }
        let room = ChunkBoundary.countMax - 1 - open
        var last = min(node.chunks.count - 1, first + room, node.child(at: end))
        // A run may go on behind the range.
        if last > first, !node.chunks[last - 1].isComplete { last -= 1 }
        guard last > first else { return first }
        levels[level].reserveCapacity(open + node.chunks.count - first + 1)
        for child in first..<last { levels[level].append(node.chunks[child]) }
        return last
    }

    /// The root of the tree; nil when nothing was appended.
    consuming func finish() -> Chunk<Element>? {
        if levels.isEmpty, leaf.isEmpty { return nil }
        if !leaf.isEmpty { closeLeaf(isComplete: false) }
        var level = 0
        while level < levels.count - 1 || levels[level].count > 1 {
            if !levels[level].isEmpty { close(level) }
            level += 1
        }
        return levels[level][0]
    }

    /// Whether the last element ended a leaf, or there is none.
    var isAtBoundary: Bool { leaf.isEmpty }

    /// The leaves, if the last element ended one, none is a run, and no node ended above them.
    var leaves: [Chunk<Element>]? {
        guard isAtBoundary, levels.count <= 1 else { return nil }
        let leaves = levels.first ?? []
        return leaves.allSatisfy(\.isComplete) ? leaves : nil
    }

    private func isAligned(below level: Int) -> Bool {
        guard leaf.isEmpty else { return false }
        for open in levels.prefix(level) where !open.isEmpty { return false }
        return true
    }

    private mutating func closeLeaf(isComplete: Bool) {
        append(leaf.close(isComplete: isComplete))
    }

    private mutating func close(_ level: Int) {
        let chunk = source(of: level) ?? .inner(.make(levels[level]))
        levels[level] = []
        append(chunk)
    }

    /// An old node with the children that are open on a level.
    private func source(of level: Int) -> Chunk<Element>? {
        guard level < sources.count, let source = sources[level],
            case .inner(let inner) = source.part,
            inner.chunks.elementsEqual(levels[level], by: ===)
        else { return nil }
        return source
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
