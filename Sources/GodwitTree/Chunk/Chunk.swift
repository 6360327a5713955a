/// What a chunk tree is made of.
protocol ChunkElement: Equatable, Sendable {
    /// Decides where chunks end: equal for equal elements, the same everywhere.
    var boundaryHash: UInt64 { get }

    /// Adds what stands for this element in the digest of its chunk.
    func writeReference(to writer: inout CanonicalWriter)

    /// What keeps the digests of different trees apart.
    static var digestPurpose: String { get }
}

extension ChunkElement {
    /// The part of the hash that counts.
    var boundaryByte: UInt8 { UInt8(truncatingIfNeeded: boundaryHash >> 56) }
}

/// A node of a chunk tree: a leaf with elements, or an inner node with chunks.
///
/// A chunk never changes once anyone else can see it; only whoever holds the one reference to it
/// may change it in place.
final class Chunk<Element: ChunkElement>: @unchecked Sendable {
    // Unchecked because the compiler cannot see that variables are only set while the reference
    // to the chunk is unique; the digest has a lock of its own.

    /// The elements of a leaf.
    private(set) var elements: [Element]
    /// The boundary bytes of the elements; empty in a leaf that is too short to be cut.
    private var boundaryBytes: [UInt8]
    /// The children of an inner node.
    private(set) var chunks: [Chunk]
    /// Where each child ends, in elements from the beginning of this node.
    private let ends: [Int]
    /// The elements in and under this node.
    let count: Int
    /// What the last elements say about the boundary after them; unknown in a short, single leaf.
    private(set) var mark: UInt64
    /// Whether the chunk, and the last one on each level below it, ends where the rule says so,
    /// and not just because there is nothing more.
    let isComplete: Bool
    /// 0 for a leaf.
    let level: Int
    private let memo = DigestMemo()

    /// A leaf.
    init(elements: [Element], boundaryBytes: [UInt8], mark: UInt64) {
        self.elements = elements
        self.boundaryBytes = boundaryBytes
        chunks = []
        ends = []
        count = elements.count
        self.mark = mark
        level = 0
        isComplete = ChunkBoundary.isEnd(count: elements.count, mark: mark, level: 0)
    }

    /// A leaf that is too short to be cut, or to be part of anything that could be taken over.
    convenience init(short elements: [Element]) {
        self.init(elements: elements, boundaryBytes: [], mark: 0)
    }

    /// An inner node.
    init(chunks: [Chunk]) {
        elements = []
        boundaryBytes = []
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
        boundaryBytes = other.boundaryBytes
        (count, mark, isComplete, level) =
            (other.count, other.mark, other.isComplete, other.level)
    }

    var first: Element {
        var node = self
        while node.level > 0 { node = node.chunks[0] }
        return node.elements[0]
    }

    func boundaryByte(at index: Int) -> UInt8 {
        boundaryBytes.isEmpty ? elements[index].boundaryByte : boundaryBytes[index]
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
        writer.bytes.reserveCapacity(32 + 24 * (elements.count + chunks.count))
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

    /// Whether two nodes hold the same elements; equal content has equal shape.
    static func isEqual(_ left: Chunk, _ right: Chunk) -> Bool {
        if left === right { return true }
        guard left.count == right.count, left.level == right.level else { return false }
        if let leftDigest = left.memo.known, let rightDigest = right.memo.known {
            return leftDigest == rightDigest
        }
        guard left.level > 0 else { return left.elements == right.elements }
        return left.chunks.count == right.chunks.count
            && zip(left.chunks, right.chunks).allSatisfy { isEqual($0, $1) }
    }
}

// MARK: - Changes in place

extension Chunk {
    /// Lends the element at a position to `body`, whatever that does to the shape.
    static func lend<Result>(
        _ node: inout Chunk,
        at position: Int,
        _ body: (inout Element) -> Result
    ) -> Result {
        if !isKnownUniquelyReferenced(&node) { node = Chunk(copying: node) }
        node.memo.forget()
        guard node.level > 0 else { return body(&node.elements[position]) }
        let child = node.child(at: position)
        return lend(&node.chunks[child], at: position - node.start(of: child), body)
    }

    /// Takes note of what was done to the boundaries while an element was lent.
    ///
    /// - Precondition: The path to the element is held by nobody else, as lending leaves it.
    /// - Returns: Whether the shape is still that of the content.
    func settle(_ position: Int) -> Bool {
        guard level > 0 else { return settleElement(position) }
        let child = child(at: position)
        let old = chunks[child].mark
        let isSound = chunks[child].settle(position - start(of: child))
        let new = chunks[child].mark
        guard new != old else { return isSound }
        if child == chunks.count - 1 { mark = new }
        let isFree = child + 1 < ChunkBoundary.countMin || child + 1 == ChunkBoundary.countMax
        return isSound
            && (isFree
                || ChunkBoundary.isMarked(old, level: level)
                    == ChunkBoundary.isMarked(new, level: level))
    }

    /// Whether all boundaries are where they were before this element was another.
    private func settleElement(_ position: Int) -> Bool {
        guard !boundaryBytes.isEmpty else { return true }
        let (oldByte, newByte) = (boundaryBytes[position], elements[position].boundaryByte)
        guard oldByte != newByte else { return true }
        var (old, new): (UInt64, UInt64) = (0, 0)
        let first = max(0, position - ChunkBoundary.windowCount + 1)
        let end = min(count, position + ChunkBoundary.windowCount)
        var isSound = true
        for index in first..<end {
            let byte = boundaryBytes[index]
            old = ChunkBoundary.mark(old, with: byte)
            new = ChunkBoundary.mark(new, with: index == position ? newByte : byte)
            let isFree = index + 1 < ChunkBoundary.countMin || index + 1 == ChunkBoundary.countMax
            if index < position || isFree { continue }
            let wasMarked = ChunkBoundary.isMarked(old, level: 0)
            if wasMarked != ChunkBoundary.isMarked(new, level: 0) { isSound = false }
        }
        boundaryBytes[position] = newByte
        if end == count { mark = new }
        return isSound
    }
}
