/// What a chunk tree is made of.
protocol ChunkElement: Equatable, Sendable {
    /// Decides where chunks end: equal for equal elements, the same everywhere.
    var boundaryHash: UInt64 { get }

    /// Adds what stands for this element in the digest of its chunk.
    func writeReference(to writer: inout CanonicalWriter)

    /// What keeps the digests of different trees apart.
    static var digestPurpose: String { get }
}

/// A node of a chunk tree: a leaf with elements, or an inner node with chunks.
///
/// A chunk never changes once anyone else can see it; only whoever holds the one reference to it
/// may change it in place.
final class Chunk<Element: ChunkElement>: @unchecked Sendable {
    // Unchecked because the compiler cannot see that variables are only set while the reference
    // to the chunk is unique; the digest has a lock of its own.

    /// The elements of a leaf.
    fileprivate(set) var elements: [Element]
    /// The children of an inner node.
    fileprivate(set) var chunks: [Chunk]
    /// Where each child ends, in elements from the beginning of this node.
    private var ends: [Int]
    /// The elements in and under this node.
    private(set) var count: Int
    /// What the last elements say about the boundary after them; unknown in a short, single leaf.
    fileprivate(set) var mark: UInt64
    /// Whether the chunk, and the last one on each level below it, ends where the rule says so,
    /// and not just because there is nothing more.
    fileprivate(set) var isComplete: Bool
    /// 0 for a leaf.
    let level: Int
    private let memo = DigestMemo()

    init(elements: [Element], mark: UInt64) {
        self.elements = elements
        chunks = []
        ends = []
        count = elements.count
        self.mark = mark
        level = 0
        isComplete = ChunkBoundary.isEnd(count: elements.count, mark: mark, level: 0)
    }

    init(chunks: [Chunk]) {
        elements = []
        self.chunks = chunks
        var ends: [Int] = []
        ends.reserveCapacity(chunks.count)
        var count = 0
        for chunk in chunks {
            count += chunk.count
            ends.append(count)
        }
        self.ends = ends
        self.count = count
        let last = chunks[chunks.count - 1]
        mark = last.mark
        level = last.level + 1
        isComplete =
            last.isComplete
            && ChunkBoundary.isEnd(count: chunks.count, mark: last.mark, level: level)
    }

    private init(copying other: Chunk) {
        (elements, chunks, ends) = (other.elements, other.chunks, other.ends)
        (count, mark, isComplete, level) =
            (other.count, other.mark, other.isComplete, other.level)
    }

    func copy() -> Chunk { Chunk(copying: self) }

    var first: Element {
        var node = self
        while node.level > 0 { node = node.chunks[0] }
        return node.elements[0]
    }

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

// MARK: - Digests

extension Chunk {
    /// The Merkle digest, computed once.
    var digest: Digest {
        if let digest = memo.known { return digest }
        var writer = CanonicalWriter()
        writer.beginDigest(of: Element.digestPurpose, level: level, count: count)
        if level == 0 {
            for element in elements { element.writeReference(to: &writer) }
        } else {
            for chunk in chunks { writer.writeReference(to: chunk.digest) }
        }
        let digest = Digest(ofBytes: writer.bytes)
        memo.note(digest)
        return digest
    }

    /// The digest, where it is known already.
    var knownDigest: Digest? { memo.known }

    /// Whether two nodes hold the same elements; equal content has equal shape.
    static func isEqual(_ left: Chunk, _ right: Chunk) -> Bool {
        if left === right { return true }
        guard left.count == right.count, left.level == right.level else { return false }
        if let leftDigest = left.knownDigest, let rightDigest = right.knownDigest {
            return leftDigest == rightDigest
        }
        guard left.level > 0 else { return left.elements == right.elements }
        return left.chunks.count == right.chunks.count
            && zip(left.chunks, right.chunks).allSatisfy { isEqual($0, $1) }
    }
}

// MARK: - Changes in place

extension Chunk {
    /// Lends the element at a position to `body`; the tree keeps its shape, right or not.
    ///
    /// - Returns: Whether the shape is still that of the content.
    static func modify<Result>(
        _ node: inout Chunk,
        at position: Int,
        _ body: (inout Element) -> Result
    ) -> (result: Result, isSound: Bool) {
        if !isKnownUniquelyReferenced(&node) { node = node.copy() }
        node.memo.forget()
        guard node.level > 0 else { return node.modifyElement(position, body) }
        let child = node.child(at: position)
        let old = node.chunks[child].mark
        let inner = modify(&node.chunks[child], at: position - node.start(of: child), body)
        let new = node.chunks[child].mark
        guard new != old else { return inner }
        let isSound =
            child + 1 < ChunkBoundary.countMin || child + 1 == ChunkBoundary.countMax
            || ChunkBoundary.isMarked(old, level: node.level)
                == ChunkBoundary.isMarked(new, level: node.level)
        if child == node.chunks.count - 1 { node.mark = new }
        return (inner.result, inner.isSound && isSound)
    }

    private func modifyElement<Result>(
        _ position: Int,
        _ body: (inout Element) -> Result
    ) -> (result: Result, isSound: Bool) {
        let oldHash = elements[position].boundaryHash
        let result = body(&elements[position])
        let newHash = elements[position].boundaryHash
        guard oldHash >> 56 != newHash >> 56 else { return (result, true) }
        return (result, updateMarks(from: position, oldHash))
    }

    /// Whether all boundaries are where they were before an element had another hash.
    private func updateMarks(from position: Int, _ oldHash: UInt64) -> Bool {
        var (old, new): (UInt64, UInt64) = (0, 0)
        let first = max(0, position - ChunkBoundary.windowCount + 1)
        var isSound = true
        for index in first..<min(count, position + ChunkBoundary.windowCount) {
            let hash = elements[index].boundaryHash
            old = ChunkBoundary.mark(old, with: index == position ? oldHash : hash)
            new = ChunkBoundary.mark(new, with: hash)
            if index < position || index + 1 < ChunkBoundary.countMin { continue }
            let wasMarked = ChunkBoundary.isMarked(old, level: 0)
            let isForced = index + 1 == ChunkBoundary.countMax
            if !isForced, wasMarked != ChunkBoundary.isMarked(new, level: 0) { isSound = false }
        }
        if position + ChunkBoundary.windowCount >= count { mark = new }
        return isSound
    }
}
