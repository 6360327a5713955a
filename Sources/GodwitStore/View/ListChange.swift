/// Where a row of a list is: its section, and its place in there.
public struct RowPosition: Hashable, Comparable, Sendable {
    public let section: Int
    public let row: Int

    public init(section: Int, row: Int) {
        self.section = section
        self.row = row
    }

    public static func < (left: RowPosition, right: RowPosition) -> Bool {
        (left.section, left.row) < (right.section, right.row)
    }
}

/// What became of a list when its view advanced: what a table view needs to animate it.
///
/// Positions of what was removed, and those from which rows were moved, are those before the
/// change; positions of what was inserted or updated, and those to which rows were moved, are
/// those after it. Apply removals, then insertions, in the order given here.
public struct ListChange: Hashable, Sendable {
    /// A row that has changed its place.
    public struct Move: Hashable, Sendable {
        public let from: RowPosition
        public let to: RowPosition
    }

    /// Sections that are gone, in descending order; their rows are not listed as removed.
    public internal(set) var removedSections: [Int] = []
    /// Sections that are new, in ascending order; their rows are not listed as inserted.
    public internal(set) var insertedSections: [Int] = []
    /// In descending order.
    public internal(set) var removed: [RowPosition] = []
    /// In ascending order.
    public internal(set) var inserted: [RowPosition] = []
    /// Rows whose object changed, but not their order.
    public internal(set) var updated: [RowPosition] = []
    /// Rows that moved; their objects have changed too.
    public internal(set) var moved: [Move] = []
    /// The list was made anew, or could not be read: look at all of it.
    public internal(set) var isReset = false

    public var isEmpty: Bool { self == ListChange() }

    static let reset = {
        var change = ListChange()
        change.isReset = true
        return change
    }()
}
