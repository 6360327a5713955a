/// How many things stand before each of many places, while they come and go.
///
/// A binary indexed tree (P. M. Fenwick, A new data structure for cumulative frequency tables,
/// 1994): node *i* has the sum of the places that end with *i* and are as many as its lowest set
/// bit says.
struct CountedPlaces {
    private var sums: [Int]

    /// - Complexity: O(*n*).
    init(_ counts: [Int]) {
        sums = [0] + counts
        for node in sums.indices.dropFirst() {
            let parent = node + node & -node
            if parent < sums.count { sums[parent] += sums[node] }
        }
    }

    /// - Complexity: O(log *n*).
    mutating func add(_ number: Int, at place: Int) {
        var node = place + 1
        while node < sums.count {
            sums[node] += number
            node += node & -node
        }
    }

    /// - Complexity: O(log *n*).
    func count(before place: Int) -> Int {
        var sum = 0
        var node = place
        while node > 0 {
            sum += sums[node]
            node &= node - 1
        }
        return sum
    }
}
