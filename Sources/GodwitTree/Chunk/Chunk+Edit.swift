// Changes that move no boundary, as most do not, or only boundaries between leaves.
//
// Where the rule decides after an edit as it did before, new nodes stand in the places of the old
// ones along one path. Where only leaves of one node begin and end elsewhere, these are cut again.
// Where other boundaries may move, the tree goes through a `ChunkBuilder`.

extension Chunk {
    /// Lends the element at a position to `body`, whatever that does to the shape.
    ///
    /// - Returns: Whether it did; it does not lend an element of a run, which stands for many.
    static func lend(
        _ node: inout Chunk,
        at position: Int,
        _ body: (inout Element) -> Void
    ) -> Bool {
        if node.isRun { return false }
        if !isKnownUniquelyReferenced(&node) { node = node.copy }
        node.forgetDigest()
        guard case .inner(let inner) = node.part else {
            node.withUnsafeMutablePointerToElements { body(&$0[position]) }
            return true
        }
        let child = inner.child(at: position)
        let start = inner.start(of: child)
        return inner.lendChild(child) { lend(&$0, at: position - start, body) }
    }

    /// Brings the boundaries up to date after an element was lent.
    ///
    /// - Precondition: The path to the element is held by no other tree, as lending leaves it.
    /// - Returns: Whether the shape is still that of the content.
    func rebalance(_ position: Int) -> Bool {
        switch part {
        case .short, .run: return true
        case .leaf(let boundary):
            return rebalanceElement(position, boundary)
        case .inner(let inner):
            let child = inner.child(at: position)
            let (old, start) = (inner.chunks[child].mark, inner.start(of: child))
            guard !inner.isBehindRun(child, from: position) else { return false }
            guard inner.chunks[child].rebalance(position - start) else {
                let element = element(under: position)
                guard let cut = inner.cutAgain(position..<(position + 1), with: [element]) else {
                    return false
                }
                withUnsafeMutablePointerToHeader { $0.pointee.part = .inner(cut) }
                return true
            }
            let new = inner.chunks[child].mark
            guard new != old else { return true }
            if child == inner.chunks.count - 1 { inner.mark = new }
            return inner.isCut(behind: child, by: old, as: new)
        }
    }

    /// Whether all boundaries are where they were before this element was another.
    private func rebalanceElement(_ position: Int, _ old: LeafBoundary) -> Bool {
        if old.hasRepetition { return false }
        let byte = withUnsafeMutablePointerToElements { $0[position].boundaryByte }
        guard byte != old.bytes[position] else { return true }
        var bytes = old.bytes
        bytes[position] = byte
        let new = LeafBoundary(
            bytes: bytes,
            count: count,
            isComplete: old.isComplete,
            hasRepetition: false
        )
        guard count < ChunkBoundary.countMax, new.endsOnlyAtEnd(near: position..<(position + 1))
        else { return false }
        withUnsafeMutablePointerToHeader { $0.pointee.part = .leaf(new) }
        return true
    }
}

extension Chunk {
    /// Puts other elements in the place of a range, if that moves no boundary.
    ///
    /// - Returns: Whether it did; the node is else as it was.
    static func replace(_ node: inout Chunk, _ range: Range<Int>, with new: [Element]) -> Bool {
        switch node.part {
        case .short, .run: return false
        case .leaf(let boundary):
            guard let leaf = node.replacing(range, with: new, boundary) else { return false }
            node = leaf
            return true
        case .inner(let inner):
            let child = min(inner.child(at: range.lowerBound), inner.chunks.count - 1)
            let (old, start) = (inner.chunks[child], inner.start(of: child))
            var chunk = old
            guard !inner.isBehindRun(child, from: range.lowerBound) else { return false }
            guard range.upperBound <= start + old.count,
                replace(&chunk, range.shifted(by: -start), with: new),
                inner.isCut(behind: child, by: old.mark, as: chunk.mark)
            else {
                guard let cut = inner.cutAgain(range, with: new) else { return false }
                node = .inner(cut)
                return true
            }
            replace(&node, child, with: chunk)
            return true
        }
    }

    /// Puts a child in the place of another, that ended in the same way.
    private static func replace(_ node: inout Chunk, _ child: Int, with chunk: Chunk) {
        if !isKnownUniquelyReferenced(&node) { node = node.copy }
        node.forgetDigest()
        guard case .inner(let inner) = node.part else { return }
        inner.replace(child, with: chunk)
        node.withUnsafeMutablePointerToHeader { $0.pointee.count = inner.count }
    }

    private func replacing(
        _ range: Range<Int>,
        with new: [Element],
        _ old: LeafBoundary
    ) -> Chunk? {
        let count = old.bytes.count - range.count + new.count
        guard !old.hasRepetition, old.bytes.count < ChunkBoundary.countMax,
            (ChunkBoundary.countMin..<ChunkBoundary.countMax).contains(count),
            // The end of a complete leaf is looked at only where a new element stands near it.
            !old.isComplete || range.upperBound < old.bytes.count
                || (!new.isEmpty && !range.isEmpty)
        else { return nil }
        var bytes = old.bytes
        bytes.replaceSubrange(range, with: new.lazy.map { $0.boundaryByte })
        let boundary = LeafBoundary(
            bytes: bytes,
            count: count,
            isComplete: old.isComplete,
            hasRepetition: false
        )
        let end = range.lowerBound + new.count
        guard boundary.endsOnlyAtEnd(near: range.lowerBound..<end) else { return nil }
        return withStoredElements { stored in
            .leaf(boundary) { target in
                target.initialize(copying: stored[..<range.lowerBound])
                new.withUnsafeBufferPointer {
                    (target + range.lowerBound).initialize(copying: $0[...])
                }
                (target + end).initialize(copying: stored[range.upperBound...])
            }
        }
    }
}

extension Range<Int> {
    fileprivate func shifted(by offset: Int) -> Self {
        (lowerBound + offset)..<(upperBound + offset)
    }
}

extension InnerNode {
    /// Whether an edit from a position on may continue a run that ends before a child.
    fileprivate func isBehindRun(_ child: Int, from position: Int) -> Bool {
        guard child > 0, position == start(of: child) else { return false }
        var node = chunks[child - 1]
        while case .inner(let inner) = node.part { node = inner.chunks[inner.childCount - 1] }
        return node.isRun
    }

    /// Whether the node ends behind a child now if and only if it did before.
    fileprivate func isCut(behind child: Int, by old: UInt64, as new: UInt64) -> Bool {
        if child + 1 < ChunkBoundary.countMin || child + 1 == ChunkBoundary.countMax || old == new {
            return true
        }
        return ChunkBoundary.isMarked(old, level: level)
            == ChunkBoundary.isMarked(new, level: level)
    }
}

// MARK: - Boundaries of leaves

extension InnerNode {
    /// The node with other elements in the place of a range, if no boundaries move but those between its
    /// leaves; the node is right above them.
    fileprivate func cutAgain(_ range: Range<Int>, with new: [Element]) -> InnerNode? {
        let first = child(at: range.lowerBound)
        guard level == 1, first < childCount else { return nil }
        var builder = ChunkBuilder<Element>()
        builder.append(0..<(range.lowerBound - start(of: first)), of: chunks[first])
        for element in new { builder.append(element) }
        var next = first
        while next < childCount, start(of: next) < range.upperBound || !builder.isAtBoundary {
            let chunk = chunks[next]
            guard chunk.isComplete else { return nil }
            let rest = min(max(0, range.upperBound - start(of: next)), chunk.count)..<chunk.count
            builder.append(rest, of: chunk)
            next += 1
        }
        guard let leaves = builder.leaves, first + leaves.count + childCount - next > 1 else {
            return nil
        }
        let cut = replacing(first..<next, with: leaves)
        let endsAlike = cut.isEnd == isEnd && cut.isComplete == isComplete
        return endsAlike && !cut.endsEarly(from: first) ? cut : nil
    }

    /// Whether the rule ends the node behind its last child.
    private var isEnd: Bool { ChunkBoundary.isEnd(count: childCount, mark: mark, level: level) }

    /// Whether the rule ends the node behind a child that is not the last one.
    private func endsEarly(from first: Int) -> Bool {
        (first..<max(first, childCount - 1)).contains { child in
            ChunkBoundary.isEnd(count: child + 1, mark: chunks[child].mark, level: level)
        }
    }
}

extension LeafBoundary {
    /// Whether no window that reaches into a range marks a boundary, but for the end of a complete
    /// leaf, which must be marked.
    fileprivate func endsOnlyAtEnd(near range: Range<Int>) -> Bool {
        var window: UInt64 = 0
        let first = max(0, range.lowerBound - ChunkBoundary.windowCount + 1)
        for index in first..<min(bytes.count, range.upperBound + ChunkBoundary.windowCount - 1) {
            window = ChunkBoundary.window(window, with: bytes[index])
            if index < range.lowerBound || index + 1 < ChunkBoundary.countMin { continue }
            let isEnd = isComplete && index == bytes.count - 1
            guard ChunkBoundary.period(of: window) == 0,
                ChunkBoundary.isMarked(window: window) == isEnd
            else { return false }
        }
        return true
    }
}
