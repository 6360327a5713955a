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

// MARK: - To parts

extension ListRecipe {
    /// - Complexity: O(*k*) in the number of runs; O(*k* log *k*) where items move.
    var parts: ListDelta.Parts {
        guard let gone = goneInOrder else { return partsWithMoves }
        var parts = ListDelta.Parts()
        parts.removes = gone
        var position = 0
        for run in runs { parts.append(run, at: &position) }
        return parts
    }

    private var partsWithMoves: ListDelta.Parts {
        let isStationary = stationaryRuns
        var parts = ListDelta.Parts()
        var moves: [ListDelta.Move] = []
        var position = 0
        for (index, run) in runs.enumerated() {
            if let base = run.base, !isStationary[index] {
                moves.append(
                    ListDelta.Move(source: base.lowerBound, target: position, count: base.count)
                )
            }
            parts.append(run, at: &position)
        }
        moves.sort { $0.source < $1.source }
        for move in moves { parts.append(move) }
        parts.removes = removes
        parts.edits.sort { $0.position < $1.position }
        return parts
    }

    /// The base positions before the tail that occur in no run; nil when an item moves.
    private var goneInOrder: [Range<Int>]? {
        var gone: [Range<Int>] = []
        var next = 0
        for run in runs {
            guard let base = run.base else { continue }
            guard base.lowerBound >= next else { return nil }
            if next < base.lowerBound { gone.append(next..<base.lowerBound) }
            next = base.upperBound
        }
        if next < tail { gone.append(next..<tail) }
        return gone
    }

    /// The base positions before the tail that occur in no run.
    var removes: [Range<Int>] {
        if let gone = goneInOrder { return gone }
        var removes: [Range<Int>] = []
        var next = 0
        var bases = runs.compactMap(\.base)
        bases.sort { $0.lowerBound < $1.lowerBound }
        for base in bases {
            if next < base.lowerBound { removes.append(next..<base.lowerBound) }
            next = base.upperBound
        }
        if next < tail { removes.append(next..<tail) }
        return removes
    }

    /// Whether each run stays in place: see invariant (4).
    private var stationaryRuns: [Bool] {
        var indices: [Int] = []
        var sequence: [WeightedElement] = []
        indices.reserveCapacity(runs.count)
        sequence.reserveCapacity(runs.count)
        for (index, run) in runs.enumerated() {
            guard let base = run.base else { continue }
            indices.append(index)
            sequence.append(WeightedElement(value: base.lowerBound, weight: base.count))
        }
        var isStationary = [Bool](repeating: false, count: runs.count)
        for element in heaviestIncreasingSubsequence(of: sequence) {
            isStationary[indices[element]] = true
        }
        return isStationary
    }
}

extension ListDelta.Parts {
    /// Adds what happens in a run that begins at a position of the result.
    fileprivate mutating func append(_ run: ListRecipe.Run, at position: inout Int) {
        switch run {
        case .kept: break
        case .edited(let base, let delta):
            edits.append(ListDelta.Edit(position: base, delta: delta))
        case .new(let value):
            inserts.append(ListDelta.Insert(position: position, value: value))
        }
        position += run.count
    }

    /// Adds a move behind all others, and to the last where they are one run.
    fileprivate mutating func append(_ move: ListDelta.Move) {
        guard let last = moves.last, last.sources.upperBound == move.source,
            last.targets.upperBound == move.target
        else { return moves.append(move) }
        moves[moves.count - 1] = ListDelta.Move(
            source: last.source,
            target: last.target,
            count: last.count + move.count
        )
    }
}

// MARK: - From parts

extension ListRecipe {
    /// - Complexity: O(*k* log *k*) in the number of parts.
    /// - Throws: ``TreeError/invalidDelta(reason:)`` when the parts contradict each other.
    init(_ parts: ListDelta.Parts) throws(TreeError) {
        try parts.check()
        var expansion = RecipeExpansion(parts)
        self = expansion.recipe()
    }
}

extension ListDelta.Parts {
    /// What leaves its place in the base, ascending.
    fileprivate var gone: [Range<Int>] {
        (removes + moves.map(\.sources)).sorted { $0.lowerBound < $1.lowerBound }
    }

    fileprivate func check() throws(TreeError) {
        guard isInRange else { throw .invalidDelta(reason: "a position is out of range") }
        let inserted = inserts.map { $0.position..<($0.position + 1) }
        let arriving = (inserted + moves.map(\.targets)).sorted { $0.lowerBound < $1.lowerBound }
        let edited = edits.map { $0.position..<($0.position + 1) }
        for ranges in [gone, arriving, edited] {
            guard zip(ranges, ranges.dropFirst()).allSatisfy({ $0.upperBound <= $1.lowerBound })
            else { throw .invalidDelta(reason: "two parts claim one position of a list") }
        }
        let claimed = (removes + edited).sorted { $0.lowerBound < $1.lowerBound }
        guard zip(claimed, claimed.dropFirst()).allSatisfy({ $0.upperBound <= $1.lowerBound })
        else { throw .invalidDelta(reason: "an item is both removed and edited") }
    }

    private var isInRange: Bool {
        let valid = 0...ListDelta.positionMax
        func isValid(_ position: Int, _ count: Int = 1) -> Bool {
            valid.contains(position) && valid.contains(count) && valid.contains(position + count)
        }
        return removes.allSatisfy { valid.contains($0.lowerBound) && valid.contains($0.upperBound) }
            && moves.allSatisfy { isValid($0.source, $0.count) && isValid($0.target, $0.count) }
            && inserts.allSatisfy { isValid($0.position) }
            && edits.allSatisfy { isValid($0.position) }
    }
}

/// The walk along base and result that turns parts into their recipe.
private struct RecipeExpansion {
    private enum Arrival {
        case moved(Range<Int>)
        case new(Value)
    }

    private var gone: ArraySlice<Range<Int>>
    /// Ascending, for what stays in place; moved items look theirs up.
    private let edits: [ListDelta.Edit]
    private let arrivals: [(position: Int, arrival: Arrival)]
    private let touched: Int
    private var base = 0
    private var result = ListRecipe()

    init(_ parts: ListDelta.Parts) {
        gone = parts.gone[...]
        edits = parts.edits
        touched = max(gone.last?.upperBound ?? 0, (edits.last?.position ?? -1) + 1)
        let moved = parts.moves.map { ($0.target, Arrival.moved($0.sources)) }
        let inserted = parts.inserts.map { ($0.position, Arrival.new($0.value)) }
        arrivals = (moved + inserted).sorted { $0.0 < $1.0 }
    }

    mutating func recipe() -> ListRecipe {
        var position = 0
        for (place, arrival) in arrivals {
            takeStationary(place - position, below: .max)
            switch arrival {
            case .moved(let source):
                take(source)
                position = place + source.count
            case .new(let value):
                result.append(.new(value))
                position = place + 1
            }
        }
        takeStationary(.max, below: touched)
        result.finish(tail: max(base, touched))
        return result
    }

    /// Takes the next `count` base items that stay in place, but none from `limit` on.
    private mutating func takeStationary(_ count: Int, below limit: Int) {
        var left = count
        while left > 0, base < limit {
            if let next = gone.first, next.lowerBound == base {
                base = next.upperBound
                gone.removeFirst()
                continue
            }
            let end = min(
                gone.first?.lowerBound ?? .max,
                limit,
                left > .max - base ? .max : base + left
            )
            take(base..<end)
            left -= end - base
            base = end
        }
    }

    /// Takes base items next to each other, with the edits of them.
    private mutating func take(_ range: Range<Int>) {
        var next = range.lowerBound
        for edit in edits[firstEdit(from: next)...] {
            guard edit.position < range.upperBound else { break }
            result.append(.kept(next..<edit.position))
            result.append(.edited(edit.position, edit.delta))
            next = edit.position + 1
        }
        result.append(.kept(next..<range.upperBound))
    }

    private func firstEdit(from position: Int) -> Int {
        var (low, high) = (0, edits.count)
        while low < high {
            let middle = (low + high) / 2
            if edits[middle].position < position { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
