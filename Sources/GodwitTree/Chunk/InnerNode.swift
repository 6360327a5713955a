/// The children of an inner node.
///
/// Unchecked for exclusive access, because only the holder of the one reference to a node changes it, and
/// it has taken the root out of its tree meanwhile: no other code can reach the node. The checks took a
/// twentieth of an edit.
final class InnerNode<Element: ChunkElement> {
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

    init(copying other: InnerNode) {
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

extension InnerNode {
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
