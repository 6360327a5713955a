// The heaviest strictly increasing subsequence, in O(n log n).
//
// A Fenwick tree over the ranks of the values answers "the heaviest chain that ends in a value
// below this one" (P. M. Fenwick, A new data structure for cumulative frequency tables, 1994;
// here with maximum in the place of sum). Of equally heavy chains the one that ends first wins,
// which makes the answer a function of the sequence alone.

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
    let order = sequence.indices.sorted { sequence[$0].value < sequence[$1].value }
    var rank = [Int](repeating: 0, count: sequence.count)
    for (position, index) in order.enumerated() { rank[index] = position + 1 }

    var tree = [Chain?](repeating: nil, count: sequence.count + 1)
    var previous = [Int?](repeating: nil, count: sequence.count)
    var best: Chain?
    for index in sequence.indices {
        var before: Chain?
        var node = rank[index] - 1
        while node > 0 {
            before = Chain.better(before, tree[node])
            node -= node & -node
        }
        previous[index] = before?.end
        let chain = Chain(weight: (before?.weight ?? 0) + sequence[index].weight, end: index)
        best = Chain.better(best, chain)
        node = rank[index]
        while node <= sequence.count {
            tree[node] = Chain.better(tree[node], chain)
            node += node & -node
        }
    }

    var result: [Int] = []
    var next = best?.end
    while let index = next {
        result.append(index)
        next = previous[index]
    }
    return result.reversed()
}

private struct Chain {
    let weight: Int
    let end: Int

    static func better(_ left: Chain?, _ right: Chain?) -> Chain? {
        guard let left else { return right }
        guard let right else { return left }
        if left.weight != right.weight { return left.weight > right.weight ? left : right }
        return left.end < right.end ? left : right
    }
}
