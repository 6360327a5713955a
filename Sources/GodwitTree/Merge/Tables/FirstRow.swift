// Whether the first row of a table has the names of its columns.
//
//   (1) It has if another row has numbers, blank cells or one text twice, if a text is in several rows and
//       none of the first one's is, or if a column has no words below one.
//   (2) It has if its cells, and those of most other rows, are in another order, which is the same one.
//   (3) It has none if a row is in the way in which a side has put the cells of the first one in another
//       order: cells that were there once, and are there once, must be where that order tells. Of rows below
//       a word that have no words in that column, most decide, and seven in eight of rows that have words
//       in common, but none with the first one. Nor has it names if each row, the first one too, has got
//       its cells in their order.

extension [TableRow] {
    private static var rowsMax: Int { 16 }

    /// Whether no row says that the order of the first one's cells is its own alone (3).
    var mayHaveHeader: Bool {
        guard let order = first?.order, let old = first?.old else { return true }
        guard !areSorted(by: order) else { return false }
        let others = dropFirst()
        let strayCount = others.count { !$0.mayHaveMoved(to: order) }
        let rows = others.map(\.old)
        return strayCount == 0
            || 2 * strayCount < others.count && rows.areNoWords(below: old)
            || 8 * strayCount <= others.count && rows.repeatWords(below: old)
    }

    /// Whether a side has made cells without words ascend, in each row: start and end, say.
    func areSorted(by order: [Int?]) -> Bool {
        let cells = map { $0.old.cells(movedTo: order) }
        guard !cells.joined().contains(where: \.hasWord) else { return false }
        let pairs = cells.flatMap { zip($0, $0.dropFirst()) }
        return !pairs.isEmpty && pairs.allSatisfy { $1.isLess(than: $0) == false }
    }

    /// Whether the cells of the first row are in another order, those of most others are, and of none in a
    /// different one (2).
    ///
    /// Where an edit has made two cells equal, they do not tell; then the first row must be of another
    /// kind than the others.
    var haveMovedAlike: Bool {
        guard let order = first?.order, let old = first?.old else { return false }
        let others = dropFirst().prefix(Self.rowsMax)
        let movedCount = others.count { $0.columns == order }
        guard others.count > 1, 2 * movedCount > others.count,
            dropFirst().allSatisfy({ $0.mayHaveMoved(to: order) })
        else { return false }
        return dropFirst().allSatisfy { !$0.new.isDoubled }
            || dropFirst().map(\.old).areNoWords(below: old)
    }
}

extension TableRow {
    init?(_ row: Value, changedBy delta: Delta) {
        guard let old = row.list, let new = row.changed(by: delta).list else { return nil }
        self.init(position: 0, old: old, new: new)
    }

    /// The columns in which the cells were, nil for a new cell, if they are in another order.
    var order: [Int?]? {
        guard let columns else { return nil }
        let kept = columns.compactMap(\.self)
        return kept != kept.sorted() ? columns : nil
    }

    /// The column in which each cell was; nil where two cells were equal, or are.
    fileprivate var columns: [Int?]? {
        let positions = Dictionary(zip(old, old.indices)) { first, _ in first }
        // An empty cell may have come beside one that was there: which one is it?
        let blanks = Dictionary(new.filter(\.isBlank).map { ($0, 1) }, uniquingKeysWith: +)
        let columns = new.map { blanks[$0, default: 1] > 1 ? nil : positions[$0] }
        let kept = columns.compactMap(\.self)
        return positions.count == old.count && Set(kept).count == kept.count ? columns : nil
    }

    /// Whether each cell that says something, and that was there once and is, is in the column that the
    /// order tells.
    ///
    /// A column that the order does not have may be any of those that it calls new.
    func mayHaveMoved(to order: [Int?]) -> Bool {
        guard new.count == order.count else { return true }
        let moved = Set(order.compactMap(\.self))
        let oldPlaces = ListMatching.uniquePositions(of: old.map(ItemContent.init))
        let newPlaces = ListMatching.uniquePositions(of: new.map(ItemContent.init))
        return newPlaces.allSatisfy { cell, column in
            guard !new[column].isBlank, let old = oldPlaces[cell] else { return true }
            return order[column].map { $0 == old } ?? !moved.contains(old)
        }
    }
}

extension [[Int?]] {
    /// What these orders of columns tell together, nil if two do not agree.
    var combined: [Int?]? {
        guard let first, allSatisfy({ $0.count == first.count }) else { return nil }
        let columns = first.indices.map { column in Set(compactMap { $0[column] }) }
        let kept = columns.flatMap(\.self)
        guard columns.allSatisfy({ $0.count < 2 }), Set(kept).count == kept.count else {
            return nil
        }
        return columns.map(\.first)
    }
}

extension Value {
    /// Whether this is a text of letters, and not one alone, which is a mark.
    var hasWord: Bool {
        text.map { $0.count > 1 && $0.contains(where: \.isLetter) } ?? false
    }
}

extension Value.List {
    /// Whether cells in this order are the same row.
    func isSame(in order: [Int?]) -> Bool {
        order.count == count
            && zip(self, order).allSatisfy { cell, column in
                column.map { $0 < count && self[$0] == cell } ?? false
            }
    }

    /// Whether cells in this order are the same row, those that are moved no words, and one that stays is.
    func hasMarks(where order: [Int?]) -> Bool {
        isSame(in: order) && !cells(movedTo: order).contains(where: \.hasWord)
            && zip(self, order).enumerated().contains { $1.1 == $0 && $1.0.hasWord }
    }

    /// The cells that are in another place in this order.
    func cells(movedTo order: [Int?]) -> [Value] {
        order.enumerated().compactMap { place, old in old.flatMap { $0 == place ? nil : self[$0] } }
    }

    /// Whether there are a number, an empty cell, or one text twice.
    fileprivate func isNoHeader(_ width: Int) -> Bool {
        contains { $0.text == nil || $0.isBlank } || Set(self).count < width
    }

    /// Whether a cell that is not empty is there twice.
    fileprivate var isDoubled: Bool {
        let cells = filter { !$0.isBlank }
        return Set(cells).count < cells.count
    }
}

extension [Value.List] {
    /// Whether these rows have values, and that one names (1).
    func areBelow(header: Value.List) -> Bool {
        contains { $0.isNoHeader(header.count) } || repeatWords(below: header)
            || areNoWords(below: header)
    }

    /// Whether some cells are in several of these rows, and none of that one.
    fileprivate func repeatWords(below header: Value.List) -> Bool {
        let cells = flatMap { row in row.filter { !$0.isBlank } }
        return Set(cells).count < cells.count && Set(header).isDisjoint(with: cells)
    }

    /// Whether there is a column below a word that has cells, and no words.
    fileprivate func areNoWords(below header: Value.List) -> Bool {
        header.indices.contains { column in
            let cells = compactMap { $0.count > column ? $0[column] : nil }.filter { !$0.isBlank }
            return header[column].hasWord && !cells.isEmpty && !cells.contains(where: \.hasWord)
        }
    }
}
