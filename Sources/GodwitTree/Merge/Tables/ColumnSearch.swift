/// The search for the columns of an old table in a new one.
///
/// Columns are those with the most cells in common, in their order (the heaviest common subsequence);
/// where they have names, an equal name counts for more than all cells. Then columns that moved are found
/// by name, and others by place where as many went as came.
struct ColumnSearch {
    /// The column of the old table for each one of the new; nil for a new one.
    private(set) var sources: [Int?]
    /// The old and the new versions of some rows.
    private let rows: [TableRow]
    private let width: Int
    private let names: Names?

    private typealias Names = (old: [Value: Int], new: [Value: Int])

    private static let rowsMax = 128
    private static let columnsMax = 256

    /// - Returns: nil if the rows do not say which columns are which.
    /// - Complexity: O(*w*²) for *w* columns.
    init?(_ rows: [TableRow], _ header: TableHeader, of side: Side, width: Int, newWidth: Int) {
        guard max(width, newWidth) <= Self.columnsMax, rows.count > 1 else { return nil }
        self.width = width
        let step = (rows.count + Self.rowsMax - 1) / Self.rowsMax
        self.rows = stride(from: 0, to: rows.count, by: step).map { rows[$0] }
        sources = Array(repeating: nil, count: newWidth)
        names = header.base.positions(width).flatMap { old in
            header.sides[side].positions(newWidth).map { (old, $0) }
        }
        matchInOrder()
        guard isConvincing else { return nil }
        matchMoved()
        matchPlaces()
    }

    var newColumns: [Int] { sources.indices.filter { sources[$0] == nil } }

    /// How many cells two columns have in common.
    private func score(_ old: Int, _ new: Int) -> Int {
        let equal = rows.count { $0.old[old] == $0.new[new] }
        guard let names, names.old.contains(where: { $0.value == old && names.new[$0.key] == new })
        else { return equal }
        return equal + rows.count
    }

    private mutating func matchInOrder() {
        let scores = (0..<width).map { old in sources.indices.map { score(old, $0) } }
        // The best sums of what is left from a pair of columns on.
        var best = Array(repeating: Array(repeating: 0, count: sources.count + 1), count: width + 1)
        for old in (0..<width).reversed() {
            for new in sources.indices.reversed() {
                let both = scores[old][new] + best[old + 1][new + 1]
                best[old][new] = max(both, best[old + 1][new], best[old][new + 1])
            }
        }
        var (old, new) = (0, 0)
        while old < width, new < sources.count {
            let score = scores[old][new]
            if score > 0, best[old][new] == score + best[old + 1][new + 1] {
                sources[new] = old
                (old, new) = (old + 1, new + 1)
            } else if best[old][new] == best[old][new + 1] {
                new += 1
            } else {
                old += 1
            }
        }
    }

    /// Whether half of the cells are equal in the columns that were found.
    private var isConvincing: Bool {
        let pairs = sources.enumerated().compactMap { new, old in old.map { (old: $0, new: new) } }
        let equal = pairs.reduce(0) { sum, pair in
            sum + rows.count { $0.old[pair.old] == $0.new[pair.new] }
        }
        return !pairs.isEmpty && 2 * equal >= pairs.count * rows.count
    }

    private mutating func matchMoved() {
        guard let names else { return }
        let taken = Set(sources.compactMap { $0 })
        for (name, new) in names.new where sources[new] == nil {
            if let old = names.old[name], !taken.contains(old) { sources[new] = old }
        }
    }

    /// Matches columns between the same two neighbours, where as many went as came.
    private mutating func matchPlaces() {
        var (start, next) = (0, 0)
        let taken = Set(sources.compactMap { $0 })
        for end in 0...sources.count where end == sources.count || sources[end] != nil {
            let stop = end < sources.count ? sources[end] ?? width : width
            let gap = next..<max(next, stop)
            if start < end, gap.count == end - start, taken.isDisjoint(with: gap) {
                for new in start..<end { sources[new] = next + new - start }
            }
            (start, next) = (end + 1, stop + 1)
        }
    }
}
