/// The children of an inner node, in one allocation with what is known of them.
///
/// Only the holder of the one reference to a node changes it, and it has taken the root out of its tree
/// meanwhile: no other code can reach the node.
final class InnerNode<Element: ChunkElement>: ManagedBuffer<InnerHeader, InnerChild<Element>> {
    deinit { Element.destroyChildren(of: self) }
}

struct InnerHeader {
    let childCount: Int
    /// That of the last child.
    var mark: UInt64
    /// Whether the node, and the last one on each level below it, ends where the rule says so.
    let isComplete: Bool
    /// 1 above the leaves.
    let level: Int
}

struct InnerChild<Element: ChunkElement> {
    var chunk: Chunk<Element>
    /// Where the child ends, in elements from the beginning of the node.
    var end: Int
}

// MARK: - Making

extension InnerNode {
    static func make(_ chunks: [Chunk<Element>]) -> InnerNode {
        make(count: chunks.count) { chunks[$0] }
    }

    /// The node with other children in the place of some; it has one child at least.
    func replacing(_ range: Range<Int>, with new: [Chunk<Element>]) -> InnerNode {
        let end = range.lowerBound + new.count
        return Self.make(count: end + childCount - range.upperBound) { child in
            if child < range.lowerBound { return chunks[child] }
            if child < end { return new[child - range.lowerBound] }
            return chunks[child - end + range.upperBound]
        }
    }

    private static func make(count: Int, _ chunk: (Int) -> Chunk<Element>) -> InnerNode {
        let last = chunk(count - 1)
        let (mark, level) = (last.mark, last.level + 1)
        let isEnd = ChunkBoundary.isEnd(count: count, mark: mark, level: level)
        let header = InnerHeader(
            childCount: count,
            mark: mark,
            isComplete: last.isComplete && isEnd,
            level: level
        )
        return make(header) { children in
            var end = 0
            for child in 0..<count {
                let chunk = chunk(child)
                end += chunk.count
                (children + child).initialize(to: InnerChild(chunk: chunk, end: end))
            }
        }
    }

    var copy: InnerNode {
        withUnsafeMutablePointers { header, children in
            let children = UnsafeBufferPointer(start: children, count: header.pointee.childCount)
            return Self.make(header.pointee) { $0.initialize(copying: children[...]) }
        }
    }

    private static func make(
        _ header: InnerHeader,
        _ fill: (UnsafeMutablePointer<InnerChild<Element>>) -> Void
    ) -> InnerNode {
        let buffer = create(minimumCapacity: header.childCount) { _ in header }
        buffer.withUnsafeMutablePointerToElements(fill)
        return unsafeDowncast(buffer, to: InnerNode.self)
    }
}

// MARK: - What there is

extension InnerNode {
    var childCount: Int { withUnsafeMutablePointerToHeader { $0.pointee.childCount } }
    var isComplete: Bool { withUnsafeMutablePointerToHeader { $0.pointee.isComplete } }
    var level: Int { withUnsafeMutablePointerToHeader { $0.pointee.level } }

    /// The boundary data of the last child.
    var mark: UInt64 {
        get { withUnsafeMutablePointerToHeader { $0.pointee.mark } }
        set { withUnsafeMutablePointerToHeader { $0.pointee.mark = newValue } }
    }

    /// The elements under this node.
    var count: Int { end(of: childCount - 1) }

    var chunks: Chunks { Chunks(node: self) }

    /// Where a child begins, in elements from the beginning of this node.
    func start(of child: Int) -> Int { child == 0 ? 0 : end(of: child - 1) }

    private func end(of child: Int) -> Int {
        withUnsafeMutablePointerToElements { $0[child].end }
    }

    /// The child that an element is in.
    func child(at position: Int) -> Int {
        withUnsafeMutablePointers { header, children in
            var (low, high) = (0, header.pointee.childCount)
            while low < high {
                let middle = (low + high) / 2
                if children[middle].end <= position { low = middle + 1 } else { high = middle }
            }
            return low
        }
    }

    /// The chunks of a node, without a copy of them.
    struct Chunks: RandomAccessCollection {
        fileprivate let node: InnerNode

        var startIndex: Int { 0 }
        var endIndex: Int { node.childCount }

        subscript(child: Int) -> Chunk<Element> {
            node.withUnsafeMutablePointerToElements { $0[child].chunk }
        }
    }
}

// MARK: - Changing

extension InnerNode {
    /// Lends a child for a change that leaves its end where it is.
    func lendChild<Result>(_ child: Int, _ body: (inout Chunk<Element>) -> Result) -> Result {
        withUnsafeMutablePointerToElements { body(&$0[child].chunk) }
    }

    /// Puts another child in the place of an old one, that ends as that did.
    func replace(_ child: Int, with chunk: Chunk<Element>) {
        withUnsafeMutablePointers { header, children in
            let growth = chunk.count - children[child].chunk.count
            children[child].chunk = chunk
            if child == header.pointee.childCount - 1 { header.pointee.mark = chunk.mark }
            guard growth != 0 else { return }
            for index in child..<header.pointee.childCount { children[index].end += growth }
        }
    }
}
