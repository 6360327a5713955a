/// A node of a chunk tree: a leaf with elements, or an inner node with chunks.
///
/// A chunk never changes once a second reference to it exists; only the holder of the one reference to it
/// may change it in place.
///
/// The elements stand in the same allocation, behind the header: a small map is one object.
final class Chunk<Element: ChunkElement>: ManagedBuffer<Chunk<Element>.Header, Element> {
    struct Header {
        /// The first property, so that its address is that of the header.
        private var memo = DigestMemo()
        /// The elements in and under this node.
        var count: Int
        var part: Part

        init(count: Int, part: Part) { (self.count, self.part) = (count, part) }
    }

    enum Part {
        /// A leaf that is too short to be cut, or to be part of anything that could be taken over.
        case short
        case leaf(LeafBoundary)
        /// A leaf of elements that repeat each other: it holds the pattern once.
        case run(LeafBoundary)
        case inner(InnerNode<Element>)
    }

    deinit { Element.destroyElements(of: self) }
}

extension UnsafeMutablePointer {
    /// Copies elements one by one: cheaper than the runtime's loop, that asks for each how.
    func initialize(copying source: Slice<UnsafeBufferPointer<Pointee>>) {
        var target = self
        for index in source.startIndex..<source.endIndex {
            target.initialize(to: source.base[index])
            target += 1
        }
    }
}

// MARK: - Making

extension Chunk {
    /// A leaf that is too short to be cut.
    static func short(_ elements: [Element]) -> Chunk {
        make(count: elements.count, stored: elements.count, .short) { target in
            elements.withUnsafeBufferPointer { target.initialize(copying: $0[...]) }
        }
    }

    /// A leaf; `fill` initializes as many elements as there are boundary bytes.
    static func leaf(
        _ boundary: LeafBoundary,
        _ fill: (UnsafeMutablePointer<Element>) -> Void
    ) -> Chunk {
        let count = boundary.bytes.count
        return make(count: count, stored: count, .leaf(boundary), fill)
    }

    /// A leaf of `count` elements that repeat a pattern; `fill` initializes the pattern.
    static func run(
        of count: Int,
        _ boundary: LeafBoundary,
        _ fill: (UnsafeMutablePointer<Element>) -> Void
    ) -> Chunk {
        make(count: count, stored: boundary.bytes.count, .run(boundary), fill)
    }

    private static func make(
        count: Int,
        stored: Int,
        _ part: Part,
        _ fill: (UnsafeMutablePointer<Element>) -> Void
    ) -> Chunk {
        let buffer = create(minimumCapacity: stored) { _ in Header(count: count, part: part) }
        buffer.withUnsafeMutablePointerToElements(fill)
        return unsafeDowncast(buffer, to: Chunk.self)
    }

    static func inner(_ part: InnerNode<Element>) -> Chunk {
        make(count: part.count, stored: 0, .inner(part)) { _ in }
    }

    var copy: Chunk {
        let part = self.part
        if case .inner(let inner) = part { return .inner(inner.copy) }
        return withStoredElements { stored in
            Self.make(count: count, stored: stored.count, part) {
                $0.initialize(copying: stored[...])
            }
        }
    }
}

// MARK: - What there is

extension Chunk {
    var count: Int { withUnsafeMutablePointerToHeader { $0.pointee.count } }

    var part: Part { withUnsafeMutablePointerToHeader { $0.pointee.part } }

    /// 0 for a leaf.
    var level: Int {
        if case .inner(let inner) = part { inner.level } else { 0 }
    }

    /// The children of an inner node.
    var chunks: [Chunk] {
        if case .inner(let inner) = part { Array(inner.chunks) } else { [] }
    }

    /// How many elements stand in this object: those of a leaf, the pattern of a run.
    var storedCount: Int {
        withUnsafeMutablePointerToHeader { header in
            switch header.pointee.part {
            case .short, .leaf: header.pointee.count
            case .run(let boundary): boundary.bytes.count
            case .inner: 0
            }
        }
    }

    /// The boundary data of the elements above the leaves; unknown in a short, single leaf.
    var mark: UInt64 {
        switch part {
        case .short: 0
        case .leaf(let boundary), .run(let boundary): boundary.mark
        case .inner(let inner): inner.mark
        }
    }

    /// Whether the chunk, and the last one on each level below it, ends where the rule says so,
    /// and not because there is nothing more, or because a repetition ends.
    var isComplete: Bool {
        switch part {
        case .short, .run: false
        case .leaf(let boundary): boundary.isComplete
        case .inner(let inner): inner.isComplete
        }
    }

    var isRun: Bool {
        withUnsafeMutablePointerToHeader { header in
            if case .run = header.pointee.part { true } else { false }
        }
    }

    /// The element of a leaf.
    func element(at position: Int) -> Element {
        withUnsafeMutablePointerToElements { elements in
            guard case .run(let boundary) = part else { return elements[position] }
            return elements[position % boundary.bytes.count]
        }
    }

    /// The element at a position in or under this node.
    func element(under position: Int) -> Element {
        let (leaf, position) = leaf(at: position)
        return leaf.element(at: position)
    }

    /// The stored elements of a leaf: all elements, or the pattern of a run.
    func withStoredElements<Result>(_ body: (UnsafeBufferPointer<Element>) -> Result) -> Result {
        withUnsafeMutablePointerToElements {
            body(UnsafeBufferPointer(start: $0, count: storedCount))
        }
    }

    /// Whether all stored elements in and under this node are as wanted.
    func allSatisfy(_ isWanted: (Element) -> Bool) -> Bool {
        guard case .inner(let inner) = part else {
            return withStoredElements { $0.allSatisfy(isWanted) }
        }
        return inner.chunks.allSatisfy { $0.allSatisfy(isWanted) }
    }

    func boundaryByte(at position: Int) -> UInt8 {
        switch part {
        case .leaf(let boundary): boundary.bytes[position]
        case .run(let boundary): boundary.bytes[position % boundary.bytes.count]
        case .short, .inner: element(at: position).boundaryByte
        }
    }

    /// The leaf that an element is in, and where it is there.
    func leaf(at position: Int) -> (leaf: Chunk, position: Int) {
        var (node, position) = (self, position)
        while case .inner(let inner) = node.part {
            let child = inner.child(at: position)
            position -= inner.start(of: child)
            node = inner.chunks[child]
        }
        return (node, position)
    }
}
