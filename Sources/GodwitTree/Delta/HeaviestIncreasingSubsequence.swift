// The heaviest strictly increasing subsequence, in O(n log n).
//
// A Fenwick tree over the ranks of the values answers "the heaviest chain that ends in a value
// below this one" (P. M. Fenwick, A new data structure for cumulative frequency tables, 1994;
// here with maximum in the place of sum). For a few elements, as the move of one item has, a look
// at all chains so far is cheaper. Of equally heavy chains the one that ends first wins, which makes
// the answer a function of the sequence alone.

struct WeightedElement {
    let value: Int
    let weight: Int
}

/// The indices of the elements of the heaviest increasing subsequence, ascending.
///
/// - Precondition: Every weight is positive.
func heaviestIncreasingSubsequence(of sequence: [WeightedElement]) -> [Int] {
    if zip(sequence, sequence.dropFirst()).allSatisfy({ $0.value < $1.value }) {
        return Array(sequence.indices)
    }
    var tree = sequence.count > ChainTree.scannedMax ? ChainTree(sequence) : nil
    var chains: [Chain] = []
    chains.reserveCapacity(sequence.count)
    for (index, element) in sequence.enumerated() {
        let before =
            tree == nil
            ? chains.heaviest(below: element.value, in: sequence) : tree?.heaviest(before: index)
        let chain = Chain(
            weight: (before?.weight ?? 0) + element.weight,
            end: index,
            previous: before?.end
        )
        tree?.insert(chain)
        chains.append(chain)
    }

    var result: [Int] = []
    var next = chains.reduce(nil, Chain.better)?.end
    while let index = next {
        result.append(index)
        next = chains[index].previous
    }
    return result.reversed()
}

/// The heaviest chain that ends in some element.
private struct Chain {
    let weight: Int
    let end: Int
    /// The element before the last one.
    let previous: Int?

    static func better(_ left: Chain?, _ right: Chain?) -> Chain? {
        guard let left else { return right }
        guard let right else { return left }
        if left.weight != right.weight { return left.weight > right.weight ? left : right }
        return left.end < right.end ? left : right
    }
}

extension [Chain] {
    fileprivate func heaviest(below value: Int, in sequence: [WeightedElement]) -> Chain? {
        var best: Chain?
        for chain in self where sequence[chain.end].value < value {
            best = Chain.better(best, chain)
        }
        return best
    }
}

/// A Fenwick tree: the heaviest chains by the rank of their last value.
private struct ChainTree {
    static let scannedMax = 16

    private let ranks: [Int]
    private var nodes: [Chain?]

    init(_ sequence: [WeightedElement]) {
        let order = sequence.indices.sorted { sequence[$0].value < sequence[$1].value }
        var ranks = [Int](repeating: 0, count: sequence.count)
        for (position, index) in order.enumerated() { ranks[index] = position + 1 }
        self.ranks = ranks
        nodes = Array(repeating: nil, count: sequence.count + 1)
    }

    /// The heaviest chain so far that ends in a value below that of an element.
    func heaviest(before index: Int) -> Chain? {
        var best: Chain?
        var node = ranks[index] - 1
        while node > 0 {
            best = Chain.better(best, nodes[node])
            node -= node & -node
        }
        return best
    }

    mutating func insert(_ chain: Chain) {
        var node = ranks[chain.end]
        while node < nodes.count {
            nodes[node] = Chain.better(nodes[node], chain)
            node += node & -node
        }
    }
}
