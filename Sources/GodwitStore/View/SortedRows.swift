/// Distinct elements in ascending order, of which one may be found by its place.
///
/// An array of arrays of at most 512 elements: a change moves one of them, and the place of an
/// element is the sum of the counts before it. For 100,000 elements that is less work than a
/// balanced tree's pointers.
///
/// Invariants:
/// 1. No chunk is empty, and none has more than `chunkMax` elements.
/// 2. The elements of all chunks, one after the other, ascend strictly.
struct SortedRows<Element: Comparable>: Sendable where Element: Sendable {
    private var chunks: [[Element]] = []
    private(set) var count = 0

    private static var chunkMax: Int { 512 }

    init() {}

    /// - Complexity: O(*n* log *n*).
    init(_ elements: some Sequence<Element>) {
        let sorted = elements.sorted()
        count = sorted.count
        chunks = stride(from: 0, to: sorted.count, by: Self.chunkMax / 2).map { start in
            Array(sorted[start..<Swift.min(start + Self.chunkMax / 2, sorted.count)])
        }
    }
}

extension SortedRows {
    /// - Complexity: O(√*n*) for up to a million elements.
    mutating func insert(_ element: Element) {
        count += 1
        guard !chunks.isEmpty else {
            chunks = [[element]]
            return
        }
        let chunk = Swift.min(chunkIndex(for: element), chunks.count - 1)
        chunks[chunk].insert(element, at: Self.place(of: element, in: chunks[chunk]))
        guard chunks[chunk].count > Self.chunkMax else { return }
        let upper = Array(chunks[chunk][(Self.chunkMax / 2)...])
        chunks[chunk].removeSubrange((Self.chunkMax / 2)...)
        chunks.insert(upper, at: chunk + 1)
    }

    /// Removes an element, which must be there.
    mutating func remove(_ element: Element) {
        let chunk = chunkIndex(for: element)
        let place = Self.place(of: element, in: chunks[chunk])
        precondition(chunks[chunk][place] == element, "Only what is there is removed")
        chunks[chunk].remove(at: place)
        if chunks[chunk].isEmpty { chunks.remove(at: chunk) }
        count -= 1
    }

    /// How many elements are less than this one.
    func rank(of element: Element) -> Int {
        let chunk = chunkIndex(for: element)
        let before = chunks[..<chunk].reduce(0) { $0 + $1.count }
        guard chunk < chunks.count else { return before }
        return before + Self.place(of: element, in: chunks[chunk])
    }

    /// The first chunk whose last element is not less than `element`.
    private func chunkIndex(for element: Element) -> Int {
        Self.firstIndex(below: chunks.count) { index in
            chunks[index].last.map { $0 >= element } ?? true
        }
    }

    private static func place(of element: Element, in chunk: [Element]) -> Int {
        firstIndex(below: chunk.count) { chunk[$0] >= element }
    }

    /// The least index for which a condition holds that holds for all later ones too.
    private static func firstIndex(below end: Int, where holds: (Int) -> Bool) -> Int {
        var (low, high) = (0, end)
        while low < high {
            let middle = (low + high) / 2
            if holds(middle) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

extension SortedRows: RandomAccessCollection {
    var startIndex: Int { 0 }
    var endIndex: Int { count }

    subscript(position: Int) -> Element {
        var rest = position
        for chunk in chunks {
            if rest < chunk.count { return chunk[rest] }
            rest -= chunk.count
        }
        preconditionFailure("There is no row \(position) of \(count)")
    }
}
