/// What a chunk tree is made of.
protocol ChunkElement: Equatable, Sendable {
    /// Decides where chunks end: equal for equal elements, the same everywhere.
    var boundaryHash: UInt64 { get }

    /// Decides where chunks end among elements whose hashes repeat each other.
    var contentByte: UInt8 { get }

    /// Adds what stands for this element in the digest of its chunk.
    func writeReference(to writer: inout CanonicalWriter)

    /// Adds what stands for each of some elements, one behind the other.
    static func writeReferences(
        to elements: UnsafeBufferPointer<Self>,
        _ writer: inout CanonicalWriter
    )

    /// What keeps the digests of different trees apart.
    static var digestPurpose: String { get }

    /// Destroys what a chunk stores, when the chunk goes.
    ///
    /// A requirement, because the runtime calls the `deinit` of a generic class as generic code: the
    /// conformance is the way back to code that the compiler made for this element.
    static func destroyElements(of chunk: Chunk<Self>)
}

extension ChunkElement {
    static func writeReferences(
        to elements: UnsafeBufferPointer<Self>,
        _ writer: inout CanonicalWriter
    ) {
        for index in elements.indices { elements[index].writeReference(to: &writer) }
    }

    static func destroyElements(of chunk: Chunk<Self>) {
        let count = chunk.storedCount
        chunk.withUnsafeMutablePointerToElements { elements in
            for index in 0..<count { _ = (elements + index).move() }
        }
    }
}

extension ChunkElement {
    /// The part of the hash that counts.
    var boundaryByte: UInt8 { UInt8(BoundaryHash.finished(boundaryHash) >> 56) }
}

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
        case inner(InnerPart<Element>)
    }

    deinit { Element.destroyElements(of: self) }
}

/// What the elements of a leaf say about the boundary after it.
///
/// It never changes, so that copies of a leaf share it.
final class LeafBoundary {
    let bytes: [UInt8]
    /// Decides about the boundaries above the leaves.
    let mark: UInt64
    /// Whether the leaf ends where the rule says so, and not because of what follows.
    let isComplete: Bool
    /// Whether elements look like those before them: then more than the bytes decides.
    let hasRepetition: Bool

    /// - Parameter count: How many elements there are, of which a run has only the pattern's bytes.
    init(bytes: [UInt8], count: Int, isComplete: Bool, hasRepetition: Bool) {
        self.bytes = bytes
        self.isComplete = isComplete
        self.hasRepetition = hasRepetition
        var hash = BoundaryHash(kind: 11, UInt64(count))
        bytes.withUnsafeBytes { hash.mixWords($0[...]) }
        mark = hash.bits
    }
}

/// The children of an inner node.
///
/// Unchecked for exclusive access, because only the holder of the one reference to a node changes it, and
/// it has taken the root out of its tree meanwhile: no other code can reach the node. The checks took a
/// twentieth of an edit.
final class InnerPart<Element: ChunkElement> {
    @exclusivity(unchecked) var chunks: [Chunk<Element>]
    /// Where each child ends, in elements from the beginning of this node.
    @exclusivity(unchecked) fileprivate private(set) var ends: [Int]
    /// That of the last child.
    @exclusivity(unchecked) var mark: UInt64
    /// Whether the node, and the last one on each level below it, ends where the rule says so.
    let isComplete: Bool
    /// 1 above the leaves.
    let level: Int

    init(_ chunks: [Chunk<Element>]) {
        self.chunks = chunks
        var ends: [Int] = []
        ends.reserveCapacity(chunks.count)
        var count = 0
        for index in chunks.indices {
            count += chunks[index].count
            ends.append(count)
        }
        self.ends = ends
        let last = chunks[chunks.count - 1]
        mark = last.mark
        level = last.level + 1
        isComplete =
            last.isComplete
            && ChunkBoundary.isEnd(count: chunks.count, mark: last.mark, level: level)
    }

    init(copying other: InnerPart) {
        (chunks, ends, mark) = (other.chunks, other.ends, other.mark)
        (isComplete, level) = (other.isComplete, other.level)
    }

    /// Puts another child in the place of an old one, that ends as that did.
    func replace(_ child: Int, with chunk: Chunk<Element>) {
        let growth = chunk.count - chunks[child].count
        chunks[child] = chunk
        if child == chunks.count - 1 { mark = chunk.mark }
        guard growth != 0 else { return }
        // One access for all: each of its own to a property of a class would be checked.
        ends.withUnsafeMutableBufferPointer { ends in
            for index in child..<ends.count { ends[index] += growth }
        }
    }
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

    static func inner(_ part: InnerPart<Element>) -> Chunk {
        make(count: part.count, stored: 0, .inner(part)) { _ in }
    }

    var copy: Chunk {
        let part = self.part
        if case .inner(let inner) = part { return .inner(InnerPart(copying: inner)) }
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
        if case .inner(let inner) = part { inner.chunks } else { [] }
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

    /// What the elements say about the boundary above the leaves; unknown in a short, single leaf.
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

    /// What a leaf stores: all elements, or the pattern of a run.
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

extension InnerPart {
    var count: Int { ends[ends.count - 1] }

    /// Where a child begins, in elements from the beginning of this node.
    func start(of child: Int) -> Int { child == 0 ? 0 : ends[child - 1] }

    /// The child that an element is in.
    func child(at position: Int) -> Int {
        var (low, high) = (0, ends.count)
        while low < high {
            let middle = (low + high) / 2
            if ends[middle] <= position { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
