// A list delta seen from its result: which base items, in which order, with what between them.
//
// The delta names positions; the recipe is the list those positions describe, read from left to
// right, in runs. Composing, inverting and merging are easy on recipes. The two forms stand for
// each other exactly:
//
//   (1) Every base item occurs at most once. What does not occur is removed.
//   (2) From `tail` on, the base items follow unchanged, without end: a recipe does not know how
//       long the list is, and works for every list that is long enough.
//   (3) No run can be joined to the next, and no run ends where the tail begins. So there is one
//       recipe for one change.
//   (4) The items that stay in place are the heaviest increasing sequence of runs, and of several
//       the one found first. That makes the delta's moves few, and its form unique.

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

    /// How many items come before the tail.
    var count: Int { runs.reduce(0) { $0 + $1.count } }

    mutating func append(_ run: Run) {
        switch (runs.last, run) {
        case (_, .kept(let range)) where range.isEmpty:
            return
        case (.kept(let last), .kept(let range)) where last.upperBound == range.lowerBound:
            runs[runs.count - 1] = .kept(last.lowerBound..<range.upperBound)
        case (_, .edited(let position, .keep)):
            append(.kept(position..<(position + 1)))
        default:
            runs.append(run)
        }
    }

    mutating func finish(tail: Int) {
        self.tail = tail
        if case .kept(let range) = runs.last, range.upperBound == tail {
            runs.removeLast()
            self.tail = range.lowerBound
        }
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

// MARK: - From a delta

extension ListDelta {
    /// - Complexity: O(*k* log *k*) in the number of parts.
    var recipe: ListRecipe {
        var expansion = RecipeExpansion(self)
        return expansion.recipe()
    }
}

/// The walk along base and result that turns a delta into its recipe.
private struct RecipeExpansion {
    private let gone: [Int]
    private let edits: [ListDelta.Edit]
    private let editByPosition: [Int: Delta]
    private let arrivals: [(position: Int, run: ListRecipe.Run)]
    private var base = 0
    private var nextGone = 0
    private var nextEdit = 0
    private var result = ListRecipe()

    init(_ delta: ListDelta) {
        gone = (delta.removes + delta.moves.map(\.source)).sorted()
        edits = delta.edits
        let byPosition = Dictionary(uniqueKeysWithValues: edits.map { ($0.position, $0.delta) })
        editByPosition = byPosition
        let moved = delta.moves.map { move in
            (move.target, ListRecipe.Run.edited(move.source, byPosition[move.source] ?? .keep))
        }
        let inserted = delta.inserts.map { ($0.position, ListRecipe.Run.new($0.value)) }
        arrivals = (moved + inserted).sorted { $0.0 < $1.0 }
    }

    mutating func recipe() -> ListRecipe {
        var position = 0
        for arrival in arrivals {
            takeStationary(arrival.position - position, below: .max)
            result.append(arrival.run)
            position = arrival.position + 1
        }
        let touched = max(gone.last ?? -1, edits.last?.position ?? -1) + 1
        takeStationary(.max, below: touched)
        result.finish(tail: max(base, touched))
        return result
    }

    /// Takes the next `count` base items that stay in place, but none from `limit` on.
    private mutating func takeStationary(_ count: Int, below limit: Int) {
        var left = count
        while left > 0, base < limit {
            if nextGone < gone.count, gone[nextGone] == base {
                nextGone += 1
                base += 1
                continue
            }
            while nextEdit < edits.count, edits[nextEdit].position < base { nextEdit += 1 }
            if nextEdit < edits.count, edits[nextEdit].position == base {
                result.append(.edited(base, edits[nextEdit].delta))
                base += 1
                left -= 1
                continue
            }
            let nextTouched = min(
                nextGone < gone.count ? gone[nextGone] : .max,
                nextEdit < edits.count ? edits[nextEdit].position : .max
            )
            let end = min(nextTouched, limit, left > .max - base ? .max : base + left)
            result.append(.kept(base..<end))
            left -= end - base
            base = end
        }
    }
}

// MARK: - To a delta

extension ListRecipe {
    /// - Complexity: O(*k* log *k*) in the number of runs, and of items removed or moved.
    var delta: ListDelta {
        let stationary = stationaryRuns
        var moves: [ListDelta.Move] = []
        var inserts: [ListDelta.Insert] = []
        var edits: [ListDelta.Edit] = []
        var position = 0
        for (index, run) in runs.enumerated() {
            if let base = run.base, !stationary.contains(index) {
                moves += base.enumerated().map {
                    ListDelta.Move(source: $0.element, target: position + $0.offset)
                }
            }
            switch run {
            case .kept: break
            case .edited(let base, let delta):
                edits.append(ListDelta.Edit(position: base, delta: delta))
            case .new(let value):
                inserts.append(ListDelta.Insert(position: position, value: value))
            }
            position += run.count
        }
        return ListDelta(
            ordered: removes,
            moves.sorted { $0.source < $1.source },
            inserts,
            edits.sorted { $0.position < $1.position }
        )
    }

    /// The base positions before the tail that occur in no run.
    private var removes: [Int] {
        var removes: [Int] = []
        var next = 0
        for base in runs.compactMap(\.base).sorted(by: { $0.lowerBound < $1.lowerBound }) {
            removes += next..<base.lowerBound
            next = base.upperBound
        }
        removes += next..<tail
        return removes
    }

    /// The runs that stay in place: see invariant (4).
    private var stationaryRuns: Set<Int> {
        let indices = runs.indices.filter { runs[$0].base != nil }
        let sequence = indices.compactMap { index in
            runs[index].base.map { WeightedElement(value: $0.lowerBound, weight: $0.count) }
        }
        return Set(heaviestIncreasingSubsequence(of: sequence).map { indices[$0] })
    }
}
