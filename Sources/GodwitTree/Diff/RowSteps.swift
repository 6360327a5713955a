// Rows that one edit has changed alike: a shape that was moved, times that were put off. A row often
// has the numbers then that another row had before, and content and resemblance would pair these two.
//
//   (1) Each row has changed in the same cells: in numbers, and in texts without letters, such as times.
//       Names that change their rows are moves.
//   (2) The cells that stayed tell the rows apart: there are as many texts among them as cells that
//       changed, or at most half of the rows have what another row had. Else the numbers of a column have
//       changed by one and the same amount; this tells nothing where the items of a list have an
//       identity.
//   (3) At most a quarter of the rows are as another one was: else rows came and went at the ends of a
//       series.

/// What an edit has changed in row after row.
struct RowSteps {
    private typealias Cells = [Value]

    private var rows: [(old: Cells, new: Cells)] = []
    /// The columns that have changed, and the others.
    private var (changed, kept): ([Int], [Int]) = ([], [])

    private static let columnsMax = 64

    init() {}

    /// Notes what has become of a row.
    ///
    /// - Returns: Whether it has changed in the cells in which the rows before it have.
    mutating func take(_ old: Value, _ new: Value) -> Bool {
        var cells: (old: Cells, new: Cells) = ([], [])
        guard old.isContainer, Self.read(old, new, into: &cells) else { return false }
        let own = cells.old.indices.filter { cells.old[$0] != cells.new[$0] }
        if rows.isEmpty {
            (changed, kept) = (own, cells.old.indices.filter { !own.contains($0) })
        }
        guard !own.isEmpty, own == changed, cells.old.count == changed.count + kept.count,
            own.allSatisfy({ cells.old[$0].isMeasure && cells.new[$0].isMeasure })
        else { return false }
        rows.append(cells)
        return true
    }

    /// Whether one edit has changed all rows alike.
    ///
    /// - Parameter hasIdentity: Whether the rows have an identity.
    func areOneEdit(hasIdentity: Bool) -> Bool {
        guard rows.count > 1 else { return false }
        let equalCount = countOfOthers(among: Array(rows[0].old.indices))
        guard 4 * equalCount <= rows.count else { return false }
        let texts = kept.filter { rows[0].old[$0].text != nil }
        if texts.count >= changed.count, areTold(by: texts) { return true }
        if 2 * countOfOthers(among: changed) <= rows.count, areTold(by: kept) { return true }
        return !hasIdentity && areEven && (equalCount == 0 || !areSeries)
    }

    /// How many rows have in these columns what some row had before.
    private func countOfOthers(among columns: [Int]) -> Int {
        let before = Set(rows.map { row in columns.map { row.old[$0] } })
        return rows.count { row in before.contains(columns.map { row.new[$0] }) }
    }

    private func areTold(by columns: [Int]) -> Bool {
        let count = Set(rows.map { row in columns.map { row.old[$0] } }).count
        return count > 1 && 2 * count >= rows.count
    }

    /// Whether the numbers of each column that changed have changed by one amount.
    private var areEven: Bool {
        changed.allSatisfy { column in
            let steps = rows.map { ($0.old[column].double, $0.new[column].double) }
            guard case let (before?, after?)? = steps.first else { return false }
            let amount = after - before
            return steps.allSatisfy { old, new in
                guard let old, let new else { return false }
                return abs(new - old - amount) <= max(abs(amount) / 100, abs(old) * 1e-9)
            }
        }
    }

    /// Whether the numbers that changed grow evenly from row to row.
    private var areSeries: Bool {
        changed.allSatisfy { column in
            let numbers = rows.compactMap { $0.old[column].double }
            let steps = zip(numbers.dropFirst(), numbers).map { $0 - $1 }
            return steps.allSatisfy { abs($0 - steps[0]) <= abs(steps[0]) / 100 }
        }
    }

    /// Reads the scalars of a row before and after.
    ///
    /// - Returns: Whether it has the same ones.
    private static func read(
        _ old: Value,
        _ new: Value,
        into cells: inout (old: Cells, new: Cells)
    ) -> Bool {
        switch (old, new) {
        case (.map(let before), .map(let after)):
            guard before.count == after.count else { return false }
            for (old, new) in zip(before, after) {
                guard old.key == new.key, read(old.value, new.value, into: &cells) else {
                    return false
                }
            }
        case (.list(let before), .list(let after)):
            guard before.count == after.count else { return false }
            for (old, new) in zip(before, after) {
                guard read(old, new, into: &cells) else { return false }
            }
        default:
            cells.old.append(old)
            cells.new.append(new)
            return cells.old.count <= columnsMax && old.isLike(new)
        }
        return true
    }
}

extension Value {
    /// Whether this is a number, or a text without letters.
    var isMeasure: Bool {
        switch self {
        case .int, .double: true
        case .string(let key): !key.text.contains(where: \.isLetter)
        default: false
        }
    }
}

extension ListMatching {
    /// Matches rows by position where one edit has changed all of them alike.
    ///
    /// - Returns: Whether it did.
    mutating func matchInStep() -> Bool {
        // A declared or a usual identity, such as `id`, tells all by itself.
        guard rules?.identity == nil, identity?.isUsual != true, rules?.isUnion != true else {
            return false
        }
        let positions = old.indices.filter { !isTaken[$0] }
        let indices = new.indices.filter { sources[$0] == nil }
        guard positions.count == indices.count else { return false }
        var steps = RowSteps()
        for (position, index) in zip(positions, indices) {
            guard steps.take(old[position], new[index]) else { return false }
        }
        guard steps.areOneEdit(hasIdentity: identity != nil) else { return false }
        for (position, index) in zip(positions, indices) { match(index, position) }
        return true
    }
}
