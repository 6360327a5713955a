// A list delta seen from its result: which base items, in which order, with what between them.
//
// The delta's parts name positions; the recipe is the list those positions describe, read from
// left to right, in runs. Composing, inverting and merging are easy on recipes. The two forms
// stand for each other exactly:
//
//   (1) Every base item occurs at most once. What does not occur is removed.
//   (2) From `tail` on, the base items follow unchanged, without end: a recipe does not know how
//       long the list is, and works for every list that is long enough.
//   (3) No run can be joined to the next, and no run ends where the tail begins. So there is one
//       recipe for one change.
//   (4) The items that stay in place are the heaviest increasing sequence of runs, and of several
//       the one found first. That makes the parts' moves few, and their form unique.

struct ListRecipe: Hashable {
    enum Run: Hashable {
        /// Base items, unchanged and next to each other.
        case kept(Range<Int>)
        /// A base item with a delta.
        case edited(Int, Delta)
        /// An item that the base does not have.
        case new(Value)
    }

    private(set) var runs: [Run] = []
    private(set) var tail = 0

    init() {}

    /// A recipe that edits one item.
    init(editing position: Int, _ delta: Delta) {
        guard !delta.isKeep else { return }
        let edit = Run.edited(position, delta)
        runs = position > 0 ? [.kept(0..<position), edit] : [edit]
        tail = position + 1
    }

    /// Whether nothing happens to any item.
    var isEmpty: Bool { runs.isEmpty && tail == 0 }

    /// Whether items are edited and nothing else.
    var staysInPlace: Bool {
        var next = 0
        for run in runs {
            guard let base = run.base, base.lowerBound == next else { return false }
            next = base.upperBound
        }
        return next == tail
    }

    /// How many items come before the tail.
    var count: Int { runs.reduce(0) { $0 + $1.count } }

    mutating func append(_ run: Run) {
        switch run {
        case .kept(let range): keep(range)
        case .edited(let position, let delta) where delta.isKeep: keep(position..<(position + 1))
        default: runs.append(run)
        }
    }

    /// Adds kept items, and to the last run where they are one.
    private mutating func keep(_ range: Range<Int>) {
        guard !range.isEmpty else { return }
        if case .kept(let last) = runs.last, last.upperBound == range.lowerBound {
            runs[runs.count - 1] = .kept(last.lowerBound..<range.upperBound)
        } else {
            runs.append(.kept(range))
        }
    }

    mutating func reserveCapacity(_ count: Int) { runs.reserveCapacity(count) }

    mutating func finish(tail: Int) {
        self.tail = tail
        if case .kept(let range) = runs.last, range.upperBound == tail {
            runs.removeLast()
            self.tail = range.lowerBound
        }
    }
}

extension ListRecipe {
    /// The deltas of the edited items, by their positions.
    var edits: [Int: Delta] {
        var edits: [Int: Delta] = [:]
        for case .edited(let position, let delta) in runs { edits[position] = delta }
        return edits
    }

    /// This recipe, with another run in the place of each edit.
    func replacingEdits(_ body: (Int, Delta) -> Run) -> ListRecipe {
        var result = ListRecipe()
        for run in runs {
            if case .edited(let position, let delta) = run {
                result.append(body(position, delta))
            } else {
                result.append(run)
            }
        }
        result.finish(tail: tail)
        return result
    }
}

extension ListRecipe.Run {
    var count: Int {
        if case .kept(let range) = self { range.count } else { 1 }
    }

    /// The base items of this run.
    var base: Range<Int>? {
        switch self {
        case .kept(let range): range
        case .edited(let position, _): position..<(position + 1)
        case .new: nil
        }
    }
}
